"""The plan of a run: which cases, for which agents, in which order; fingerprints."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent_specs import agent as one
from tests.helpers import property_test
from trialrun.engine.plan import Planned, Selection, fingerprint, make_plan
from trialrun.errors import NothingSelected, UsageError
from trialrun.model.case import EvalCase, Suite
from trialrun.spec.load import load_suites

ONE, TWO = one(name="one", runner="m:one"), one(name="two", runner="m:two")


def case(name, *tags, **fields):
    given = {"name": name, "query": f"{name}?", "path": {"max_steps": 1}, **fields}
    return EvalCase.from_dict({**given, "tags": list(tags)})


SUITES = [
    Suite(name="s", cases=[case("a", "x"), case("b"), case("c", "x", "y")], agents=(ONE, TWO)),
    Suite(name="t", cases=[case("a", "y"), case("d")], agents=(ONE,)),
]


def labels(suites=SUITES, **selection):
    plan = make_plan(suites, Selection(**selection))
    found = ["/".join((suite, agent or "-", name)) for suite, agent, name, _ in plan.labels()]
    built = [plan[position] for position in range(len(plan))]
    assert found == [f"{one.suite.name}/{one.agent.name}/{one.case.name}" for one in built]
    return found


def test_every_case_for_every_agent():
    assert labels() == [
        "s/one/a", "s/one/b", "s/one/c", "s/two/a", "s/two/b", "s/two/c", "t/one/a", "t/one/d",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("selection", "wanted"),
    [
        ({"tags": ["y"]}, ["s/one/c", "s/two/c", "t/one/a"]),
        ({"names": ["[ab]"], "agents": ["two"]}, ["s/two/a", "s/two/b"]),
        ({"names": ["d"], "tags": []}, ["t/one/d"]),
        ({"names": ["a"], "tags": ["y"]}, ["t/one/a"]),
    ],
)
def test_selections(selection, wanted):
    assert labels(**selection) == wanted


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({"tags": ["z"]}, "none of the 5 cases has the tag 'z'; tags in use: x, y"),
        ({"names": ["z*"]}, "none of the 5 cases has the name 'z*'"),
    ],
)
def test_the_reason_is_given_if_nothing_is_selected(selection, said):
    with pytest.raises(NothingSelected) as nothing:
        labels(**selection)
    assert said in str(nothing.value)


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({"tags": ["y", "yy"]}, "--tag yy: no case has this tag; did you mean `y`?"),
        ({"names": ["a", "aa"]}, "--case aa: no case has this name; did you mean `a`?"),
        ({"names": ["a", "z*"]}, "--case z*: no case has this name; known: a, b, c, d"),
        ({"names": ["a"], "tags": ["x", "y", "q"]}, "--tag q: no case has this tag; known: x, y"),
    ],
)
def test_each_selection_must_match_a_case(selection, said):
    with pytest.raises(UsageError) as refusal:
        labels(**selection)
    assert str(refusal.value) == said


def test_an_unknown_agent():
    with pytest.raises(UsageError, match="no agent is named `tow`; did you mean `two`"):
        labels(agents=["tow"])


@property_test
@given(st.lists(st.integers(0, 7), max_size=12))
def test_chosen_positions_keep_their_cases(positions):
    plan = make_plan(SUITES, Selection())
    whole = list(plan.labels())
    chosen = plan.chosen(positions)
    assert list(chosen.labels()) == [whole[position] for position in positions]
    assert [chosen[at].case.name for at in range(len(chosen))] == [
        plan[position].case.name for position in positions
    ]


TABLE = """
runner: m:f
queries:
  - {name: "row {{id}}", query: "{{id}}?", tags: [t], path: {max_steps: 1}, cases_from: rows.csv}
  - {name: last, query: q, path: {max_steps: 1}}
"""


def test_table_cases_are_planned_like_others(tmp_path):
    (tmp_path / "spec.yaml").write_text(TABLE)
    (tmp_path / "rows.csv").write_text("id\n1\n2\n3\n")
    suites = load_suites(tmp_path / "spec.yaml")

    def names(**selection):
        return [label[2] for label in make_plan(suites, Selection(**selection)).labels()]

    assert names() == ["row 1", "row 2", "row 3", "last"]
    assert names(tags=["t"]) == ["row 1", "row 2", "row 3"]
    assert names(names=["*[3t]"]) == ["row 3", "last"]
    plan = make_plan(suites, Selection()).chosen([3, 1])
    assert [label[2] for label in plan.labels()] == ["last", "row 2"]
    assert plan[1].case.query == "2?"


# Fingerprints


def asked(agent=ONE, **fields):
    return fingerprint(Planned(SUITES[0], agent, case("a", **fields)))


@pytest.mark.parametrize(
    "fields",
    [
        {"query": "another"},
        {"path": {"max_steps": 2}},
        {"path": {"max_steps": {"value": 1, "severity": "fail"}}},
        {"correctness": {"exact_match": "x"}},
        {"cost": {"max_total_tokens": 3}},
        {"setup": ["make"]},
        {"teardown": "m:clean"},
        {"state": ["test", "-f", "x"]},
        {"agent": TWO},
        {"agent": one(name="one", runner="m:one", timeout=3)},
    ],
    ids=str,
)
def test_the_fingerprint_covers_whatever_may_change_a_verdict(fields):
    assert asked(**fields) != asked()


def test_the_fingerprint_ignores_what_changes_no_verdict():
    assert asked(description="new") == asked()
    assert fingerprint(Planned(SUITES[1], ONE, case("a", "x", "z"))) == asked()


def test_the_fingerprint_covers_turns():
    def talk(*turns):
        made = [{"query": text, "path": {"max_steps": 1}} for text in turns]
        asked = EvalCase.from_dict({"name": "a", "turns": made})
        return fingerprint(Planned(SUITES[0], ONE, asked))

    assert talk("a", "b") == talk("a", "b")
    assert len({talk("a", "b"), talk("b", "a"), talk("a")}) == 3


PRINT = """
import sys
from trialrun.spec.load import load_suites
from trialrun.engine.plan import Selection, fingerprint, make_plan
plan = make_plan(load_suites(sys.argv[1]), Selection())
sys.stdout.write(" ".join(fingerprint(plan[at]) for at in range(len(plan))))
"""

MANY = """
runner: m:f
defaults: {path: {forbidden_tools: [x, y, z]}}
metrics: [{name: step_count, max: 3}]
queries:
  - query: q
    correctness: {expected_in_answer: [a, [b, c]], regex_match: "a+", json_schema: {type: object}}
    path: {tool_args: [{tool: t, args: {a: {any: true}, b: 1.5}}], expected_tools: [t, u]}
    state: [{name: s, command: [test, -f, x]}]
    setup: [make]
"""


def test_another_process_finds_the_same_fingerprints(tmp_path):
    """A resumed run is always another process, with another hash seed."""
    (tmp_path / "spec.yaml").write_text(MANY)
    found = {
        subprocess.run(
            [sys.executable, "-c", PRINT, tmp_path / "spec.yaml"],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(found) == 1
    assert found != {""}
