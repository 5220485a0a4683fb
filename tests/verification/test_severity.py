"""A rule of severity warn is reported and decides nothing, whatever else it would have decided."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, read
from trialrun import EvalCase, Trace, evaluate
from trialrun.verification import audit
from trialrun.verification.settings import settings_of

STALE = [edit(), bash("pytest -q", GREEN), edit()]
RED = [edit(), bash("pytest -q", "1 failed, 11 passed in 0.3s", status="failure")]
CASES = {
    "TR101": ("Done.", [edit()]),
    "TR102": ("All tests pass.", [read()]),
    "TR103": ("All tests pass.", RED),
    "TR104": ("All tests pass.", [*STALE, bash("npx eslint src", "")]),
    "TR301": ("Committed.", [edit("notes.md")]),
}


def audited(message, steps, **severity):
    settings = settings_of(None, [], None, severity=severity)
    return audit(Trace(input="q", output=message, steps=steps), settings)


@pytest.mark.parametrize("code", CASES)
def test_a_warning_keeps_the_session_compliant(code):
    message, steps = CASES[code]
    red = audited(message, steps)
    assert (code, "fail") in [(one.code, one.severity) for one in red.findings]
    assert not red.compliant
    warned = audited(message, steps, **{code: "warn", "TR101": "warn"})
    assert (code, "warn") in [(one.code, one.severity) for one in warned.findings]
    assert warned.compliant
    assert not warned.open_obligations
    assert warned.score > red.score


def test_a_statement_that_a_rule_warns_of_is_neither_red_nor_green():
    message, steps = CASES["TR104"]
    (claim,) = audited(message, steps, TR104="warn", TR101="warn").claims
    assert claim.verdict.value == "not_checkable"
    assert claim.reason == "TR104 warns: app.py was changed after the last run of pytest"


def test_another_rule_that_fails_still_decides():
    message = "All 417 tests pass."
    assert audited(message, STALE).claims[0].rule == "TR104"
    assert audited(message, STALE, TR104="warn").claims[0].rule == "TR105"
    warned = audited(message, STALE, TR104="warn", TR105="warn").claims[0]
    assert (warned.rule, warned.verdict.value) == ("", "not_checkable")


def test_the_severity_of_a_spec_reaches_the_check():
    message, steps = CASES["TR103"]
    trace = Trace(input="q", output=message, steps=steps)
    for severity, passes in (("fail", False), ("warn", True)):
        block = {"min_compliance": 0.9, "severity": {"TR103": severity}}
        result = evaluate(EvalCase.from_dict({"query": "q", "verification": block}), trace)
        (check,) = [
            one for one in result.layers["verification"].checks if one.name == "min_compliance"
        ]
        assert (check.status.value == "pass") is passes, check.message
