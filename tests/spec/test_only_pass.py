"""A check that could only pass is an error with its place."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, SpecError, Trace, evaluate, load_suite
from trialrun.cli.main import main


def problems_of(tmp_path, text):
    file = tmp_path / "spec.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as refusal:
        load_suite(file)
    return [line.removeprefix(f"{file}:") for line in str(refusal.value).splitlines()]


def case_with(block):
    return f"queries:\n  - query: q\n    {block}\n"


@pytest.mark.parametrize("blank", ['" "', r'"\t"', r'"\n \n"', r'"\u00a0"'])
@pytest.mark.parametrize(
    "block",
    [
        "correctness: {expected_in_answer: [%s]}",
        "correctness: {expected_in_answer: [[a, %s]]}",
        "correctness: {any_expected_in_answer: [a, %s]}",
        "expected: {output_contains: [%s]}",
        "path: {forbidden_tools: [%s]}",
        "path: {expected_tools: [%s]}",
        "path: {span_assertions: [{select: {name: a}, field: output, contains: %s}]}",
        "retrieval: {tool: a, facts_in_context: [%s]}",
        "retrieval: {tool: a, expected_sources: [%s]}",
    ],
)
def test_a_term_of_white_space(tmp_path, block, blank):
    (problem,) = problems_of(tmp_path, case_with(block % blank))
    assert problem.startswith("3:")
    assert "expected text that is not blank" in problem


def test_a_term_of_white_space_from_a_table(tmp_path):
    (tmp_path / "rows.csv").write_text("q,term\nhello,  \nhi,there\n", encoding="utf-8")
    text = (
        "queries:\n  - cases_from: rows.csv\n    query: '{{q}}'\n"
        "    correctness: {expected_in_answer: ['{{term}}']}\n"
    )
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith("4:40: queries[0].correctness.expected_in_answer[0]: expected text ")
    assert problem.endswith("rows.csv:2)")


def test_white_space_can_be_forbidden():
    case = EvalCase.from_dict({"query": "q", "correctness": {"not_in_answer": ["\n"]}})
    assert evaluate(case, Trace(input="q", output="one\ntwo")).status.value == "fail"
    assert evaluate(case, Trace(input="q", output="one")).status.value == "pass"


@pytest.mark.parametrize(
    ("block", "column"),
    [
        ("correctness: {regex_match: '(30 days)?'}", 32),
        ("correctness: {regex_match: ['\\d', '.*']}", 32),
        ("expected: {output_matches: 'a*'}", 32),
        (
            "path: {span_assertions: [{select: {name: a}, field: output, regex: '.*'}]}",
            30,
        ),
        ("path: {tool_args: [{tool: a, args: {b: {c: {regex: '(x)?'}}}}]}", 23),
        (
            "verification: {min_compliance: 0.9, runners: [{name: h, kind: test, command: h, "
            "passed: '.*'}]}",
            51,
        ),
    ],
)
def test_a_pattern_that_finds_something_in_every_text(tmp_path, block, column):
    (problem,) = problems_of(tmp_path, case_with(block))
    assert problem.startswith(f"3:{column}:")
    assert "finds something in every text: it could only pass" in problem


@pytest.mark.parametrize(
    ("block", "place", "found"),
    [
        (
            "path: {expected_tools: [a], min_tool_recall: 0}",
            "3:50: queries[0].path.min_tool_recall",
            "0",
        ),
        (
            "path: {expected_tools: [a], min_tool_precision: 0.0}",
            "3:53: queries[0].path.min_tool_precision",
            "0.0",
        ),
        (
            "path: {expected_tools: [a], min_tool_f1: {value: 0, severity: fail}}",
            "3:54: queries[0].path.min_tool_f1.value",
            "0",
        ),
        (
            "path: {min_sequence_similarity: 0}",
            "3:37: queries[0].path.min_sequence_similarity",
            "0",
        ),
        ("verification: {min_compliance: 0}", "3:36: queries[0].verification.min_compliance", "0"),
    ],
)
def test_a_minimum_of_0(tmp_path, block, place, found):
    (problem,) = problems_of(tmp_path, case_with(block))
    wanted = f"{place}: expected a number above 0, at most 1, found the number {found}"
    assert problem.startswith(wanted)


@pytest.mark.parametrize(
    "block",
    [
        "path: {min_steps: 0}",
        "expected: {min_steps: 0}",
        "retrieval: {tool: a, min_results: 0}",
    ],
)
def test_a_minimum_number_of_0(tmp_path, block):
    (problem,) = problems_of(tmp_path, case_with(block))
    assert "expected a whole number, 1 or more, found the number 0" in problem
    assert problem.startswith("3:")


@pytest.mark.parametrize("threshold", ["0", "0.1", "0.29"])
def test_a_threshold_that_every_score_reaches(tmp_path, threshold):
    block = f"correctness: {{safety_check: {{rule: be kind, threshold: {threshold}}}}}"
    (problem,) = problems_of(tmp_path, case_with(block))
    assert problem == (
        f"3:33: queries[0].correctness.safety_check: a threshold of {threshold} asks for a score "
        "of 1, which is the lowest: it could only pass; give at least 0.3"
    )


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("{name: step_count, min: 0}", "`step_count` is never below 0: min 0 could only pass"),
        ("{name: duration, min: -1}", "`duration` is never below 0: min -1 could only pass"),
        ("{name: token_cost, min: 0, max: 9}",
         "`token_cost` is never below 0: min 0 could only pass"),
        ("{name: error_rate, max: 1}", "`error_rate` is never above 1: max 1 could only pass"),
        ("{name: retry_rate, max: 1.5}", "`retry_rate` is never above 1: max 1.5 could only pass"),
        ("{name: tool_recall, max: 1}", "`tool_recall` is never above 1: max 1 could only pass"),
    ],
)  # fmt: skip
def test_a_gate_that_no_value_breaks(tmp_path, metric, message):
    text = f"metrics: [{metric}]\n" + case_with("path: {max_steps: 1}")
    assert problems_of(tmp_path, text) == [f"1:11: metrics[0]: {message}"]


def test_every_built_in_metric_has_a_range():
    from trialrun import registry

    for kind in registry.all_metrics():
        assert kind.lowest == 0, kind.name
        assert (kind.highest == 1) == (kind.unit == "ratio" or kind.name == "retry_rate")


def test_a_pass_rate_of_0_is_refused(tmp_path, capsys):
    (tmp_path / "s.yaml").write_text(case_with("path: {max_steps: 1}"), encoding="utf-8")
    assert main(["run", str(tmp_path / "s.yaml"), "--min-pass-rate", "0"]) == 2
    assert "'--min-pass-rate': 0.0 is not in the range 0<x<=1" in capsys.readouterr().err


@pytest.mark.parametrize("query", ['""', '"   "', r'"\n"'])
@pytest.mark.parametrize("key", ["query", "input"])
def test_a_blank_question(tmp_path, key, query):
    text = f"queries:\n  - {key}: {query}\n    path: {{max_steps: 1}}\n"
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith(f"2:{5 + len(key) + 2}: queries[0].{key}: expected text that is not ")


def test_a_blank_question_in_a_turn_and_in_a_table(tmp_path):
    text = "queries: [{turns: [{query: a, path: {max_steps: 1}}, {query: ' '}]}]\n"
    (problem,) = problems_of(tmp_path, text)
    assert "queries[0].turns[1].query: expected text that is not blank" in problem
    (tmp_path / "rows.csv").write_text("q,term\nhello,a\n ,there\n", encoding="utf-8")
    text = (
        "queries:\n  - cases_from: rows.csv\n    query: '{{q}}'\n"
        "    correctness: {expected_in_answer: ['{{term}}']}\n"
    )
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith("3:12: queries[0].query: expected text that is not blank")


def test_code_may_judge_a_trace_without_a_question():
    case = EvalCase(correctness={"expected_in_answer": ["a"]})
    assert evaluate(case, Trace(input="q", output="a")).status.value == "pass"
    with pytest.raises(SpecError, match="query: expected text that is not empty"):
        EvalCase.from_dict({"query": "", "correctness": {"expected_in_answer": ["a"]}})
