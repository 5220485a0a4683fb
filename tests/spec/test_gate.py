"""The gate is added to a spec as lines: comments and every other byte stay as they are."""

from __future__ import annotations

import pytest

from trialrun.spec.gate import GATE, CannotInsert, gate_lines, with_gate
from trialrun.spec.load import load_suite

REGRESSION = """\
  regression:
    same_calls: true
    same_arguments: true
    same_order: true
    same_errors: true
"""
COST = """\
  cost:
    max_cost_multiplier: {value: 3, severity: fail}
"""
CASES = "queries:\n  - {query: q, correctness: {exact_match: a}}\n"

LAYOUTS = {
    "no defaults": (
        f"version: 1\n\n# The cases.\n{CASES}",
        f"version: 1\n\ndefaults:\n{REGRESSION}{COST}\n# The cases.\n{CASES}",
    ),
    "a comment at the top": (
        f"# Header.\n{CASES}",
        f"# Header.\ndefaults:\n{REGRESSION}{COST}\n{CASES}",
    ),
    "cases first": (f"{CASES}", f"defaults:\n{REGRESSION}{COST}\n{CASES}"),
    "cases last, no line break": (
        "queries: []\nagent: x",
        f"defaults:\n{REGRESSION}{COST}\nqueries: []\nagent: x",
    ),
    "other defaults": (
        f"defaults:  # shared\n  # Paths.\n  path: {{max_steps: 9}}\n{CASES}",
        f"defaults:  # shared\n{REGRESSION}{COST}  # Paths.\n  path: {{max_steps: 9}}\n{CASES}",
    ),
    "a block of cost": (
        f"defaults:\n    cost:  # dollars\n      max_cost_usd: 1\n{CASES}",
        "defaults:\n"
        + REGRESSION.replace("  regr", "    regr").replace("    same", "      same")
        + "    cost:  # dollars\n      max_cost_multiplier: {value: 3, severity: fail}\n"
        f"      max_cost_usd: 1\n{CASES}",
    ),
    "cost in flow style": (
        f"defaults:\n  cost: {{max_cost_usd: 1}}  # dollars\n{CASES}",
        f"defaults:\n{REGRESSION}  cost: {{max_cost_usd: 1, max_cost_multiplier: "
        f"{{value: 3, severity: fail}}}}  # dollars\n{CASES}",
    ),
    "a multiplier already": (
        f"defaults:\n  cost: {{max_cost_multiplier: 9}}\n{CASES}",
        f"defaults:\n{REGRESSION}  cost: {{max_cost_multiplier: 9}}\n{CASES}",
    ),
    "empty defaults": (f"defaults:\n{CASES}", f"defaults:\n{REGRESSION}{COST}{CASES}"),
    "defaults at the end": (f"{CASES}defaults:", f"{CASES}defaults:\n{REGRESSION}{COST}"),
}


@pytest.mark.parametrize(("before", "after"), LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
def test_lines_are_added_and_nothing_else_changes(before, after, ending, mark):
    made = with_gate(mark + before.replace("\n", ending).encode())
    assert made is not None
    assert made[0] == mark + after.replace("\n", ending).encode()
    assert with_gate(made[0]) is None  # never twice


def test_the_new_lines_are_listed():
    before, after = LAYOUTS["cost in flow style"]
    made = with_gate(before.encode())
    assert made is not None
    new = [line for line in after.splitlines() if line not in before.splitlines()]
    assert made[1] == ["defaults:", *new]  # below the key that they are in
    made = with_gate(LAYOUTS["a block of cost"][0].encode())
    assert made is not None
    assert made[1][0] == "defaults:"
    assert made[1][-2:] == [
        "    cost:  # dollars",
        "      max_cost_multiplier: {value: 3, severity: fail}",
    ]
    made = with_gate(LAYOUTS["no defaults"][0].encode())
    assert made is not None
    assert made[1] == gate_lines()


def test_the_gate_is_a_valid_spec_with_these_severities(tmp_path):
    made = with_gate(CASES.encode())
    assert made is not None
    (tmp_path / "spec.yaml").write_bytes(made[0])
    (case,) = load_suite(tmp_path / "spec.yaml").cases
    assert case.plan is not None
    found = {
        check.name: (layer.name, check.severity.value)
        for layer in case.plan.free
        for check in layer.checks
    }
    del found["exact_match"]
    assert found == {
        "max_cost_multiplier": ("cost", "fail"),
        **{f"same_{what}": ("regression", "fail") for what in ("calls", "arguments")},
        **{f"same_{what}": ("regression", "fail") for what in ("order", "errors")},
    }


@pytest.mark.parametrize(
    "spec",
    [
        "defaults: {regression: {same_calls: true}}\nqueries: []\n",
        "queries:\n  - {query: q, regression: {same_calls: true}}\n",
    ],
)
def test_a_spec_with_a_regression_key_stays(spec):
    assert with_gate(spec.encode()) is None


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("{queries: [{query: q, path: {max_steps: 1}}]}", "flow style"),
        (f"defaults: {{path: {{max_steps: 1}}}}\n{CASES}", "`defaults` are written in flow style"),
        (f"defaults: {{}}\n{CASES}", "flow style"),
        (f"defaults:\n  cost: {{}}\n{CASES}", "no block to add to"),
        (f"defaults: ~\n{CASES}", "flow style"),
        ("queries:\n  - {cases_from: t.csv, query: '{q}'}\n", "come from a table"),
        (f"defaults:\n  path: &p {{max_steps: 1}}\n  cost: *p\n{CASES}", "unusual"),
        ("agent: x\n", "no cases"),
        ("- a\n", "not a mapping"),
        ("queries: [\n", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_what_would_take_more_than_adding_lines_is_refused(spec, why):
    with pytest.raises(CannotInsert, match=why):
        with_gate(spec.encode())


def test_an_anchor_that_a_case_shares_is_refused():
    spec = "defaults:\n  cost: &c\n    max_cost_usd: 1\nqueries:\n  - {query: q, cost: *c}\n"
    with pytest.raises(CannotInsert, match="unusual"):
        with_gate(spec.encode())


def test_checks_may_be_left_out():
    without = [name for name in GATE if name not in ("same_arguments", "max_cost_multiplier")]
    before, after = LAYOUTS["no defaults"]
    made = with_gate(before.encode(), without)
    assert made is not None
    wanted = after.replace(COST, "").replace("    same_arguments: true\n", "")
    assert made[0] == wanted.encode()
    before, after = LAYOUTS["a block of cost"]
    made = with_gate(before.encode(), without)
    assert made is not None and b"multiplier" not in made[0]
