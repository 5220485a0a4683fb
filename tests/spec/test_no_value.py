"""A key without a value: an error with its place, unless null removes a default."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, SpecError, load_suite

NO_VALUE = "has no value; null only removes a default that exists"


def problems_of(tmp_path, text):
    file = tmp_path / "spec.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as refusal:
        load_suite(file)
    return [line.removeprefix(f"{file}:") for line in str(refusal.value).splitlines()]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("correctness: {exact_match: }", "3:19: queries[0].correctness.exact_match"),
        ("path: {forbidden_tools: }", "3:12: queries[0].path.forbidden_tools"),
        ("path: {forbidden_tools: ~}", "3:12: queries[0].path.forbidden_tools"),
        ("path: {forbidden_tools: null}", "3:12: queries[0].path.forbidden_tools"),
        (
            "path: {expected_tools: [a], min_tool_recall: }",
            "3:33: queries[0].path.min_tool_recall",
        ),
        ("expected: {tools_called: }", "3:16: queries[0].expected.tools_called"),
        ("correctness:", "3:5: queries[0].correctness"),
        ("expected:", "3:5: queries[0].expected"),
        ("state:", "3:5: queries[0].state"),
        ("setup:", "3:5: queries[0].setup"),
        ("baseline:", "3:5: queries[0].baseline"),
        ("trace:", "3:5: queries[0].trace"),
        ("reference_tools:", "3:5: queries[0].reference_tools"),
    ],
)
def test_a_forgotten_value_is_an_error(tmp_path, body, place):
    text = f"queries:\n  - query: q\n    {body}\n    cost: {{max_llm_calls: 1}}\n"
    assert problems_of(tmp_path, text) == [f"{place}: {NO_VALUE}"]


@pytest.mark.parametrize(
    ("top", "place"),
    [
        ("defaults: {path: {max_steps: }}", "1:19: defaults.path.max_steps"),
        ("defaults: {path: }", "1:12: defaults.path"),
        ("defaults: {state: }", "1:12: defaults.state"),
        ("metrics: [{name: step_count, max: }]", "1:30: metrics[0].max"),
        ("metrics:", "1:1: metrics"),
        ("judge:", "1:1: judge"),
        ("redact:", "1:1: redact"),
        ("prices:", "1:1: prices"),
    ],
)
def test_a_forgotten_value_outside_of_the_cases_is_an_error(tmp_path, top, place):
    text = f"{top}\nqueries:\n  - {{query: q, path: {{max_tool_calls: 1}}}}\n"
    assert problems_of(tmp_path, text) == [f"{place}: {NO_VALUE}"]


def test_a_turn_has_no_defaults_to_remove(tmp_path):
    text = (
        "defaults: {path: {max_steps: 4}}\nqueries:\n"
        "  - turns: [{query: q, path: {max_loops: 1, max_steps: }}]\n"
    )
    assert problems_of(tmp_path, text) == [f"3:45: queries[0].turns[0].path.max_steps: {NO_VALUE}"]


def test_null_removes_a_default_and_its_block(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text(
        "defaults: {path: {max_steps: 4, max_loops: 1}, cost: {max_llm_calls: 1}, setup: 'a:b'}\n"
        "queries: [{query: q, path: {max_steps: null}, cost: null, setup: null, timeout: null}]\n",
        encoding="utf-8",
    )
    (case,) = load_suite(file).cases
    assert case.path == {"max_loops": 1}
    assert case.cost is None
    assert case.setup is None


def test_code_must_give_a_value_too():
    with pytest.raises(SpecError, match=r"path\.forbidden_tools: has no value"):
        EvalCase.from_dict({"query": "q", "path": {"max_steps": 1, "forbidden_tools": None}})
