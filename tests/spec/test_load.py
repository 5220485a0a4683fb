"""Specs: what they may contain, and every mistake with its place."""

from __future__ import annotations

import re
import sys

import pytest

from trialrun import (
    EvalCase,
    LayerStatus,
    NothingSelected,
    SpecError,
    Step,
    Trace,
    UsageError,
    evaluate,
    load_suite,
    load_suites,
)
from trialrun.model.case import MODULE_AND_NAME, Action
from trialrun.model.results import Severity
from trialrun.spec import validation
from trialrun.spec.case import build

GOOD = """\
version: 1
agent: bot
defaults:
  path: {max_tool_calls: 5, forbidden_tools: [rm]}
  cost: {max_cost_usd: 0.5}
queries:
  - name: one
    query: What is it?
    tags: [smoke]
    correctness: {expected_in_answer: [it]}
  - query: And now?
    path: {max_tool_calls: 2, forbidden_tools: [dd]}
    cost: null
"""


@pytest.fixture
def spec(tmp_path):
    def write(text, name="spec.yaml"):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return write


def problems_of(file):
    with pytest.raises(SpecError) as refusal:
        load_suite(file)
    lines = str(refusal.value).splitlines()
    assert all(line.startswith(f"{file}:") for line in lines)
    return [line.removeprefix(f"{file}:") for line in lines]


def one_case(body):
    lines = ["queries:", "  - query: q", *(f"    {line}" for line in body.splitlines())]
    return "\n".join(lines) + "\n"


def settings(case, layer):
    return {
        check.name: check
        for planned in case.plan.free
        if planned.name == layer
        for check in planned.checks
    }


def test_defaults_merge_per_field(spec):
    suite = load_suite(spec(GOOD))
    one, two = suite.cases
    assert settings(one, "path")["max_tool_calls"].limit == 5
    assert settings(one, "path")["forbidden_tools"].tools == ["rm"]
    assert settings(one, "cost")["max_cost_usd"].limit == 0.5
    assert settings(two, "path")["max_tool_calls"].limit == 2
    assert settings(two, "path")["forbidden_tools"].tools == ["dd"]
    assert settings(two, "cost") == {}


def test_null_removes_one_default(spec):
    text = GOOD.replace("max_tool_calls: 2, forbidden_tools: [dd]", "max_tool_calls: null")
    case = load_suite(spec(text)).cases[1]
    assert set(settings(case, "path")) == {"forbidden_tools"}


def test_a_name_is_made_from_the_question_and_unique(spec):
    text = "queries:\n" + "  - {query: And now?, path: {max_steps: 1}}\n" * 3
    assert [case.name for case in load_suite(spec(text)).cases] == [
        "and-now",
        "and-now-2",
        "and-now-3",
    ]


def test_the_suite_is_named_like_its_file(spec):
    suite = load_suite(spec(GOOD, "checkout.yaml"))
    assert (suite.name, suite.agent) == ("checkout", "bot")


def test_cases_and_input_are_aliases(spec):
    suite = load_suite(spec("cases:\n  - {input: q, path: {max_steps: 1}}\n"))
    assert suite.cases[0].query == "q"


def test_any_value_may_have_a_severity(spec):
    body = "path:\n  max_tool_calls: {value: 3, severity: fail}\n  max_loops: 1"
    case = load_suite(spec(one_case(body))).cases[0]
    checks = settings(case, "path")
    assert checks["max_tool_calls"].severity is Severity.FAIL
    assert checks["max_loops"].severity is Severity.WARN


def test_a_severity_on_min_tool_recall_is_that_of_expected_tools(spec):
    body = "path:\n  expected_tools: [a]\n  min_tool_recall: {value: 0.5, severity: fail}"
    checks = settings(load_suite(spec(one_case(body))).cases[0], "path")
    assert checks["expected_tools"].severity is Severity.FAIL
    assert checks["expected_tools"].min_tool_recall == 0.5


def test_a_false_flag_switches_the_check_off(spec):
    body = "retrieval: {tool: search, forbid_empty: false, min_results: 1}"
    checks = settings(load_suite(spec(one_case(body))).cases[0], "retrieval")
    assert set(checks) == {"min_results"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "path: {max_tool_call: 3}",
            "3:12: queries[0].path.max_tool_call: unknown key; did you mean `max_tool_calls`?",
        ),
        (
            "correctnes: {exact_match: a}",
            "3:5: queries[0].correctnes: unknown key; did you mean `correctness`?",
        ),
        (
            "path: {max_cost_usd: 3}",
            "3:12: queries[0].path.max_cost_usd: belongs in the `cost` block, not in `path`",
        ),
        (
            "path: {max_tool_calls: many}",
            "3:28: queries[0].path.max_tool_calls: expected a whole number, 0 or more, "
            'found the text "many"',
        ),
        (
            "path: {max_tool_calls: 2.5}",
            "3:28: queries[0].path.max_tool_calls: expected a whole number, 0 or more, "
            "found the number 2.5",
        ),
        (
            "path: {max_tool_calls: true}",
            "3:28: queries[0].path.max_tool_calls: expected a whole number, 0 or more, found true",
        ),
        (
            "correctness: {expected_in_answer: [30]}",
            "3:40: queries[0].correctness.expected_in_answer[0]: expected text or a list, "
            'found the number 30; write "30" if the text is meant',
        ),
        (
            "correctness: {exact_match: 30}",
            "3:32: queries[0].correctness.exact_match: expected text, found the number 30; "
            'write "30" if the text is meant',
        ),
        (
            "correctness: {expected_in_answer: []}",
            "3:39: queries[0].correctness.expected_in_answer: expected a list that is not empty, "
            "found an empty list",
        ),
        (
            'correctness: {not_in_answer: [""]}',
            "3:35: queries[0].correctness.not_in_answer[0]: expected text that is not empty, "
            'found the text ""',
        ),
        (
            "correctness: {regex_match: '(a'}",
            '3:32: queries[0].correctness.regex_match: "(a" is not a regular expression: '
            "missing ), unterminated subpattern at position 0",
        ),
        (
            "path: {min_tool_recall: 0.5}",
            "3:12: queries[0].path.min_tool_recall: has no effect alone: "
            "give `expected_tools` next to it",
        ),
        (
            "path: {min_tool_precision: 0.5}",
            "3:12: queries[0].path.min_tool_precision: needs `expected_tools` next to it "
            "to compare with",
        ),
        (
            "path: {expected_tools: [a], min_tool_f1: 1.5}",
            "3:46: queries[0].path.min_tool_f1: expected a number above 0, at most 1, "
            "found the number 1.5",
        ),
        (
            "cost: {max_cost_usd: .nan}",
            "3:26: queries[0].cost.max_cost_usd: expected a number, 0 or more, "
            "found the number nan",
        ),
        (
            "cost: {max_cost_usd: -1}",
            "3:26: queries[0].cost.max_cost_usd: expected a number, 0 or more, found the number -1",
        ),
        (
            "path: {match_mode: sbset}",
            "3:24: queries[0].path.match_mode: expected one of strict, subset, superset, "
            'unordered, found the text "sbset"; did you mean `subset`?',
        ),
        (
            "path: {max_loops: {value: 1, severty: warn}}",
            "3:34: queries[0].path.max_loops.severty: unknown key; did you mean `severity`?",
        ),
        (
            "path: {max_loops: {severity: warn}}",
            "3:23: queries[0].path.max_loops: `value` is missing next to `severity`",
        ),
        (
            "path: {max_loops: {value: 1, severity: hard}}",
            "3:44: queries[0].path.max_loops.severity: expected one of fail, warn, "
            'found the text "hard"',
        ),
        ("path: 3", "3:11: queries[0].path: expected a mapping, found 3"),
        (
            "expected: {tool_called: [a]}",
            "3:16: queries[0].expected.tool_called: unknown key; did you mean `tools_called`?",
        ),
        (
            "correctness: {json_schema: {type: 3}}",
            "3:32: queries[0].correctness.json_schema: not a JSON schema: type: "
            "3 is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
        (
            "correctness: {llm_judge: [{threshold: 2}]}",
            "3:43: queries[0].correctness.llm_judge[0].threshold: expected a number from 0 to 1, "
            "found the number 2",
        ),
        (
            "verification: {min_complience: 1}",
            "3:20: queries[0].verification.min_complience: unknown key; "
            "did you mean `min_compliance`?",
        ),
        ("description: x", "2:5: queries[0]: the case `q` checks nothing; it could only pass"),
    ],
)
def test_a_mistake_is_named_with_its_place(spec, body, expected):
    assert expected in problems_of(spec(one_case(body)))


def test_all_mistakes_of_a_file_are_reported_together(spec):
    text = """\
versoin: 1
queries:
  - name: a
    query: 3
    path: {max_tool_calls: x, max_lops: 1}
  - name: a
    query: q
    cost: {max_cost_usd: -1}
"""
    found = problems_of(spec(text))
    assert [line.split(":")[0] for line in found] == ["1", "4", "5", "5", "8"]


def test_duplicate_case_names_are_refused(spec):
    text = "queries:\n" + "  - {name: a, query: q, path: {max_steps: 1}}\n" * 2
    assert problems_of(spec(text)) == [
        "3:12: queries[1].name: two cases are named `a`; first at 2:12"
    ]


def test_a_mistake_in_the_defaults_is_reported_once_at_its_place(spec):
    text = GOOD.replace("max_tool_calls: 5", "max_tool_calls: x").replace("max_tool_calls: 2, ", "")
    assert problems_of(spec(text)) == [
        '4:26: defaults.path.max_tool_calls: expected a whole number, 0 or more, found the text "x"'
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n", "a spec is a mapping with `queries`, found a list"),
        ("just text\n", 'found the text "just text"'),
        ("", "the file is empty"),
        ("queries: {}\n", "expected a list of cases"),
        ("queries: [3]\n", "a case is a mapping with `query`, found 3"),
        ("version: 2\nqueries: []\n", "this trialrun reads version 1, found 2"),
        ("runner: nowhere\nqueries: []\n", "expected module:function, such as"),
        ("runner: a:b\nurl: http://x\nqueries: []\n", "a suite has one agent"),
        ("metrics: [step_cuont]\nqueries: []\n", "did you mean `step_count`?"),
        ("metrics: [step_count, step_count]\nqueries: []\n", "is listed twice"),
        ("metrics: [{name: duration, min: 2, max: 1}]\nqueries: []\n", "nothing can pass"),
        ("metrics: [nowhere.at_all:Metric]\nqueries: []\n", "there is no module 'nowhere'"),
        ("metrics: [{name: duration, severity: fail}]\nqueries: []\n", "gates nothing"),
        ("judge: {modle: x}\nqueries: []\n", "did you mean `model`?"),
        ("defaults: {paht: {}}\nqueries: []\n", "did you mean `path`?"),
        ("prices: none.yaml\nqueries: []\n", "no such file"),
        ("queries: []\ncases: []\n", "are the same key"),
        ("queries:\n  - {query: a, input: b}\n", "are the same key"),
        ("queries:\n  - {path: {max_steps: 1}}\n", "`query` is missing"),
        ("queries:\n  - {query: a, turns: [{query: b}]}\n", "not both"),
        ("queries:\n  - {turns: []}\n", "expected a list of turns"),
    ],
)
def test_files_that_are_not_specs_are_refused(spec, text, expected):
    assert any(expected in line for line in problems_of(spec(text)))


def test_a_missing_file_is_an_error_of_usage(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        load_suite(tmp_path / "none.yaml")


def test_a_folder_is_a_set_of_suites(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name in ("a.yaml", "b/c.yml", ".hidden/d.yaml"):
        (tmp_path / name).write_text(GOOD)
    assert [suite.name for suite in load_suites(tmp_path)] == ["a", "c"]


def test_a_folder_without_specs_selects_nothing(tmp_path):
    with pytest.raises(NothingSelected, match="no spec here"):
        load_suites(tmp_path)


def test_mistakes_of_all_files_in_a_folder_are_reported_together(tmp_path):
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("queris: []\n")
    with pytest.raises(SpecError) as refusal:
        load_suites(tmp_path)
    assert len(refusal.value.problems) == 2


def test_a_metric_gate_counts_as_a_check(spec):
    suite = load_suite(spec("metrics: [{name: step_count, max: 3}]\nqueries:\n  - {query: q}\n"))
    assert suite.cases[0].metrics[0].gated


def test_evaldeck_expectations_become_checks_of_severity_fail(spec):
    body = "expected:\n  tools_called: [a]\n  max_llm_calls: 2\n  output_contains: [x]"
    case = load_suite(spec(one_case(body))).cases[0]
    found = {
        check.name: (planned.name, check.severity)
        for planned in case.plan.free
        for check in planned.checks
    }
    assert found == {
        "tools_called": ("path", Severity.FAIL),
        "max_llm_calls": ("cost", Severity.FAIL),
        "output_contains": ("correctness", Severity.FAIL),
    }


def test_a_case_in_code_is_read_by_the_same_rules():
    with pytest.raises(SpecError, match=r"path\.max_tool_call: unknown key; did you mean"):
        EvalCase.from_dict({"query": "q", "path": {"max_tool_call": 3}})
    with pytest.raises(SpecError, match="expected a whole number"):
        build(EvalCase(query="q", path={"max_tool_calls": "3"}))


def test_a_case_may_be_constructed_field_by_field():
    case = build(EvalCase(query="How much?", path={"max_tool_calls": 3}))
    assert case == EvalCase.from_dict({"query": "How much?", "path": {"max_tool_calls": 3}})
    assert case.name == "how-much"


def test_a_case_made_in_code_is_built_when_it_is_evaluated():
    """A mistake must not pass, and a changed field must replace the old checks."""
    trace = Trace(input="q", output="a", steps=[Step.tool_call("x")])
    with pytest.raises(SpecError, match="expected a whole number"):
        evaluate(EvalCase(query="q", path={"max_tool_calls": "3"}), trace)
    case = EvalCase(query="q", path={"max_tool_calls": 1})
    assert evaluate(case, trace).status is LayerStatus.PASS
    case.path = {"max_tool_calls": 0}
    assert evaluate(case, trace).status is LayerStatus.WARN
    talk = EvalCase(turns=[EvalCase(query="q", path={"max_tool_calls": 0})])
    assert evaluate(talk, trace).status is LayerStatus.WARN
    assert talk.number_of_checks() == 1


def test_checks_may_be_named_by_their_module(spec, tmp_path, monkeypatch):
    (tmp_path / "own_checks.py").write_text(
        "from trialrun.checks.base import Check, check\n"
        "@check(layer='path', needs={'tool_calls'})\n"
        "class EvenCalls(Check):\n"
        "    '''An even number of calls.'''\n"
        "    wanted: bool\n"
        "    def judge(self, trace, baseline):\n"
        "        even = len(trace.tool_calls) % 2 == 0\n"
        "        return self.passed('even') if even == self.wanted else self.failed('odd')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    case = load_suite(spec(one_case('path: {"own_checks:EvenCalls": true}'))).cases[0]
    from trialrun import Step, Trace, evaluate

    odd = evaluate(case, Trace(input="q", output="a", steps=[Step.tool_call("x")]))
    assert odd.layers["path"].checks[0].message == "odd"
    assert odd.layers["path"].checks[0].name == "own_checks:EvenCalls"


# Setup, teardown and state

AROUND = """\
defaults:
  setup: [bash, setup.sh]
  teardown: tools:clean
  state: [pytest, -q]
  correctness: {exact_match: a}
queries:
  - {name: inherits, query: q}
  - {name: own, query: q, setup: "tools:prepare", teardown: [rm, -r, x], state: "tools:look"}
  - {name: without, query: q, setup: null, teardown: null, state: null}
  - {name: in-block, query: q, correctness: {state: [make, check]}}
  - {name: no-block, query: q, correctness: null}
"""


def test_actions_may_be_in_the_defaults(spec):
    inherits, own, without, in_block, no_block = load_suite(spec(AROUND)).cases
    assert inherits.setup == Action(command=("bash", "setup.sh"), name="bash setup.sh")
    assert inherits.teardown == Action(function="tools:clean", name="tools:clean")
    assert [action.name for action in inherits.state] == ["pytest -q"]
    assert set(settings(inherits, "correctness")) == {"exact_match", "state"}
    assert (own.setup.name, own.teardown.name) == ("tools:prepare", "rm -r x")
    assert [action.name for action in own.state] == ["tools:look"]
    assert (without.setup, without.teardown, without.state) == (None, None, ())
    assert set(settings(without, "correctness")) == {"exact_match"}
    assert [action.name for action in in_block.state] == ["make check"]
    assert set(settings(in_block, "correctness")) == {"exact_match", "state"}
    # `correctness: null` removes that block of the defaults; `state` beside it stays.
    assert set(settings(no_block, "correctness")) == {"state"}


def test_null_in_the_block_removes_the_state_of_the_defaults(spec):
    text = (
        "defaults: {state: 'm:f'}\n"
        "queries: [{query: q, correctness: {exact_match: a, state: null}}]\n"
    )
    assert load_suite(spec(text)).cases[0].state == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "path: {max_steps: 1}\nsetup: setup.sh",
            "4:12: queries[0].setup: expected module:function, found the text "
            '"setup.sh"; a command is a list, such as [bash, setup.sh]',
        ),
        (
            "path: {max_steps: 1}\nteardown: []",
            "4:15: queries[0].teardown: expected a list of texts that is not empty, "
            "found an empty list",
        ),
        (
            "path: {max_steps: 1}\nsetup: [a, '']",
            '4:16: queries[0].setup[1]: expected text that is not empty, found the text ""',
        ),
        (
            "path: {max_steps: 1}\nsetup: {command: [a]}",
            "4:12: queries[0].setup: expected text or a list, found a mapping",
        ),
        (
            "timeout: -1\npath: {max_steps: 1}",
            "3:14: queries[0].timeout: expected a number above 0",
        ),
        (
            "state: look.sh",
            '3:12: queries[0].state: expected module:function, found the text "look.sh"; '
            "a command is a list, such as [bash, look.sh]",
        ),
        ("state: [{comand: [a]}]", "3:14: queries[0].state[0].comand: unknown key"),
        ("state: {value: 'm:f', severty: warn}", "3:27: queries[0].state.severty: unknown key"),
        (
            "state: 'm:f'\ncorrectness: {state: 'm:f'}",
            "3:5: queries[0].state: is given in `correctness` too: give it once",
        ),
        ("path: {state: 'm:f'}", "3:12: queries[0].path.state: belongs in the `correctness` block"),
    ],
)
def test_a_mistake_in_actions_is_named_with_its_place(spec, body, expected):
    found = problems_of(spec(one_case(body)))
    assert any(line.startswith(expected) for line in found), found


def test_a_mistake_in_the_actions_of_the_defaults_is_reported_once(spec):
    text = (
        "defaults: {setup: x, state: [5]}\nqueries:\n"
        + "  - {query: q, path: {max_steps: 1}}\n" * 3
    )
    assert [line.split(": ")[0:2] for line in problems_of(spec(text))] == [
        ["1:19", "defaults.setup"],
        ["1:30", "defaults.state[0]"],
    ]


@pytest.mark.parametrize("key", ["setup", "teardown", "state", "timeout", "cases_from"])
def test_a_turn_cannot_have_actions(spec, key):
    text = f"queries:\n  - turns: [{{query: q, {key}: 'm:f', path: {{max_steps: 1}}}}]\n"
    assert problems_of(spec(text)) == [
        f"2:24: queries[0].turns[0].{key}: belongs to the case, next to `turns`"
    ]


def test_the_correctness_block_of_a_turn_cannot_have_state(spec):
    text = "queries:\n  - turns: [{query: q, correctness: {state: 'm:f'}}]\n"
    assert problems_of(spec(text)) == [
        "2:38: queries[0].turns[0].correctness.state: belongs to the case, next to `turns`"
    ]


def test_a_conversation_may_have_state_as_a_whole(spec):
    case = load_suite(
        spec("queries:\n  - {turns: [{query: a}, {query: b}], state: 'm:f'}\n")
    ).cases[0]
    assert [action.name for action in case.state] == ["m:f"]
    assert case.number_of_checks() == 1


def test_a_case_in_code_takes_the_same_keys():
    case = EvalCase.from_dict(
        {"query": "q", "setup": ["a"], "teardown": "m:f", "timeout": 3, "path": {"max_steps": 1}}
    )
    assert (case.setup.name, case.teardown.name, case.timeout) == ("a", "m:f", 3.0)
    built = build(
        EvalCase(query="q", setup=["a"], teardown="m:f", timeout=3.0, path={"max_steps": 1})
    )
    assert built == case
    with pytest.raises(SpecError, match="a command is a list"):
        build(EvalCase(query="q", setup="setup.sh", path={"max_steps": 1}))
    with pytest.raises(SpecError, match="in a spec file only"):
        EvalCase.from_dict({"query": "{{a}}", "cases_from": "a.csv"})


def test_reading_does_not_free_a_pattern_twice():
    """msgspec frees the pattern of a text in a union twice: no spec type may contain one."""
    pattern = re.compile(MODULE_AND_NAME)
    validation._type_of.cache_clear()
    before = sys.getrefcount(pattern)
    EvalCase.from_dict({"query": "q", "setup": "m:f", "state": [{"function": "m:f"}, "m:g"]})
    assert sys.getrefcount(pattern) >= before


@pytest.mark.parametrize("given", ["name", "all"])
def test_a_suite_says_that_inputs_may_differ(spec, given):
    assert load_suite(spec(f"match: {given}\n{GOOD}")).match == given


def test_inputs_may_not_differ_by_default(spec):
    assert load_suite(spec(GOOD)).match is None


def test_an_unknown_way_to_match_is_refused(spec):
    assert problems_of(spec(f"match: nmae\n{GOOD}")) == [
        '1:8: match: expected one of all, name, found the text "nmae"; did you mean `name`?'
    ]
