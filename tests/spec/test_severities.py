"""`severity: {path: fail}` at the top of a suite or in a case."""

from __future__ import annotations

import jsonschema_rs
import pytest

from tests.helpers import run
from trialrun import EvalCase, SpecError, evaluate, load_suite
from trialrun.engine.plan import Planned, fingerprint
from trialrun.spec.case import plan_of
from trialrun.spec.schema import spec_schema

CASE = "  - {query: q, path: {max_steps: 1, forbidden_tools: [rm]}, cost: {max_llm_calls: 1}}\n"


def suite(tmp_path, text):
    file = tmp_path / "spec.yaml"
    file.write_text(text)
    return load_suite(file)


def severities(case):
    """The severity of each check of the case and of its turns, by name."""
    found = {}
    for part in (case, *case.turns):
        layers = plan_of(part).with_reference
        checks = [check for layer in layers for check in layer.checks]
        found |= {check.name: check.severity.value for check in (*checks, *plan_of(part).judges)}
    return found


def test_without_it_each_layer_keeps_its_default(tmp_path):
    (case,) = suite(tmp_path, f"queries:\n{CASE}").cases
    assert severities(case) == {
        "max_steps": "warn", "forbidden_tools": "fail", "match_mode": "warn",
        "max_llm_calls": "warn",
    }  # fmt: skip


def test_a_suite_sets_the_default_of_a_layer(tmp_path):
    (case,) = suite(tmp_path, f"severity: {{path: fail}}\nqueries:\n{CASE}").cases
    assert severities(case) == {
        "max_steps": "fail", "forbidden_tools": "fail", "match_mode": "fail",
        "max_llm_calls": "warn",
    }  # fmt: skip


def test_forbidden_tools_stays_fail_unless_it_is_set_on_the_check(tmp_path):
    (case,) = suite(tmp_path, f"severity: {{path: warn}}\nqueries:\n{CASE}").cases
    assert severities(case)["forbidden_tools"] == "fail"
    own = CASE.replace("[rm]", "{value: [rm], severity: warn}")
    (case,) = suite(tmp_path, f"severity: {{path: fail}}\nqueries:\n{own}").cases
    assert severities(case)["forbidden_tools"] == "warn"


def test_the_check_wins_over_the_case_and_the_case_over_the_suite(tmp_path):
    text = (
        "severity: {path: fail, cost: fail}\nqueries:\n"
        "  - {query: a, severity: {path: warn}, cost: {max_llm_calls: 1},\n"
        "     path: {max_steps: 1, max_loops: {value: 1, severity: fail}}}\n"
        "  - {query: b, path: {max_steps: 1}}\n"
    )
    first, second = suite(tmp_path, text).cases
    found = severities(first)
    assert (found["max_steps"], found["max_loops"], found["max_llm_calls"]) == (
        "warn", "fail", "fail",
    )  # fmt: skip
    assert severities(second)["max_steps"] == "fail"


def test_it_holds_for_combinations_turns_and_tables(tmp_path):
    (tmp_path / "rows.csv").write_text("q,how\none,warn\ntwo,fail\n")
    text = (
        "severity: {path: fail}\nqueries:\n"
        "  - {query: a, path: {any_of: [{max_steps: 1}, {max_loops: 1}]}}\n"
        "  - {turns: [{query: b, path: {max_steps: 2}}]}\n"
        '  - {query: "{{q}}", cases_from: rows.csv, path: {max_loops: 3}}\n'
        '  - {query: "{{q}}?", cases_from: rows.csv, severity: {path: "{{how}}"},'
        " path: {max_loops: 4}}\n"
    )
    found = [severities(case) for case in suite(tmp_path, text).cases]
    assert found[0]["any_of"] == "fail"
    assert found[1]["max_steps"] == "fail"
    assert [one["max_loops"] for one in found[2:]] == ["fail", "fail", "warn", "fail"]


def test_it_decides_the_verdict_and_is_kept_when_the_case_is_built_again():
    case = EvalCase.from_dict(
        {"query": "q", "severity": {"path": "fail"}, "path": {"max_steps": 0}}
    )
    assert evaluate(case, run("a")).status.value == "fail"
    case.path = {"max_steps": 0, "max_loops": 9}
    assert evaluate(case, run("a")).status.value == "fail"
    case.severity = None
    assert evaluate(case, run("a")).status.value == "warn"


def test_a_resumed_run_sees_that_it_changed(tmp_path):
    found = set()
    for top in ("", "severity: {path: fail}\n", "severity: {path: warn}\n"):
        made = suite(tmp_path, f"{top}queries:\n{CASE}")
        found.add(fingerprint(Planned(made, None, made.cases[0])))
    assert len(found) == 3


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("severity: {pth: fail}", "1:12", "severity.pth: unknown layer; did you mean `path`?"),
        ("severity: {path: fial}", "1:18", "severity.path: expected one of fail, warn, found the"),
        ("severity: {path: }", "1:18", "severity.path: expected one of fail, warn, found null"),
        ("severity: {}", "1:11", "severity: expected layers and their severities"),
        ("severity: fail", "1:11", "a single check has its own: {value: …, severity: fail}"),
        ("severity: [path]", "1:11", "severity: expected layers and their severities"),
        ("severity:", "1:10", "severity: expected layers and their severities"),
        ("severty: {path: fail}", "1:1", "unknown key; did you mean `severity`?"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path, text, place, message):
    with pytest.raises(SpecError) as refused:
        suite(tmp_path, f"{text}\nqueries:\n{CASE}")
    assert f"spec.yaml:{place}: " in str(refused.value)
    assert message in str(refused.value)


def test_a_turn_has_none_of_its_own(tmp_path):
    text = "queries:\n  - {turns: [{query: b, severity: {path: fail}, path: {max_steps: 2}}]}\n"
    with pytest.raises(SpecError, match=r"2:25: .*severity: belongs to the case, next to `turns`"):
        suite(tmp_path, text)


def test_the_schema_knows_it():
    is_valid = jsonschema_rs.validator_for(spec_schema()).is_valid
    good = {"severity": {"path": "fail"}, "queries": [{"query": "q", "severity": {"cost": "warn"}}]}
    assert is_valid(good)
    for bad in ({"pth": "fail"}, {"path": "no"}, {}, "fail"):
        assert not is_valid({"severity": bad, "queries": []})
