"""`trialrun explain` of rules."""

from __future__ import annotations

import pytest

from trialrun.cli.main import main
from trialrun.verification.rules.base import all_rules


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule_is_explained_by_code_and_name(rule, capsys):
    assert main(["explain", rule.code]) == 0
    by_code = capsys.readouterr().out
    assert main(["explain", rule.name]) == 0
    assert capsys.readouterr().out == by_code
    for part in (rule.code, rule.name, rule.what, rule.why, rule.silent, "Fires on:"):
        assert part in by_code
    assert ("preview" in by_code.partition("\n")[0]) is not rule.stable
    assert f'"{rule.fires[0].says}"' in by_code


def test_codes_may_be_written_small(capsys):
    assert main(["explain", "tr104"]) == 0
    out = capsys.readouterr().out
    assert "  $ pytest -q  → 3 passed in 0.1s\n  Edit a.py\n" in out


def test_without_a_name_everything_is_listed(capsys):
    assert main(["explain"]) == 0
    out = capsys.readouterr().out
    assert "min_compliance" in out and "step_count" in out and "TR104  changed-after-run" in out


def test_a_misspelt_rule_gets_a_suggestion(capsys):
    assert main(["explain", "last-run-reed"]) == 2
    assert "did you mean `last-run-red`" in capsys.readouterr().err
