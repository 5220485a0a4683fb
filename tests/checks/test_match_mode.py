from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, judge, outcome, refusal, run


def found(mode, tools, reference=None, baseline=None):
    case = {} if reference is None else {"reference_tools": list(reference)}
    return first("path", {"match_mode": mode}, run(*tools), baseline, **case)


@pytest.mark.parametrize(
    ("tools", "strict", "unordered", "subset", "superset"),
    [
        ("ab", PASS, PASS, PASS, PASS),
        ("ba", FAIL, PASS, PASS, PASS),
        ("aab", FAIL, PASS, PASS, PASS),
        ("abc", FAIL, FAIL, PASS, FAIL),
        ("a", FAIL, FAIL, FAIL, PASS),
        ("ac", FAIL, FAIL, FAIL, FAIL),
        ("", FAIL, FAIL, FAIL, PASS),
    ],
)
def test_each_mode_against_the_reference_a_b(tools, strict, unordered, subset, superset):
    assert found("strict", tools, "ab").status is strict
    assert found("unordered", tools, "ab").status is unordered
    assert found("subset", tools, "ab").status is subset
    assert found("superset", tools, "ab").status is superset


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
def test_no_calls_match_an_empty_reference(mode):
    assert found(mode, "", "").status is PASS


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
def test_without_a_reference_it_is_unknown(mode):
    result = found(mode, "a")
    assert result.status is UNKNOWN
    assert "no reference" in result.message


@pytest.mark.parametrize("mode", ["strict", "subset"])
def test_a_baseline_without_recorded_calls_is_not_a_reference(mode):
    assert found(mode, "a", baseline=run(without=["tool_calls"])).status is UNKNOWN


def test_the_calls_of_the_baseline_are_the_reference():
    assert found("strict", "ab", baseline=run("a", "b")).status is PASS
    assert found("strict", "ab", baseline=run("b", "a")).status is FAIL


def test_reference_tools_win_over_the_baseline():
    assert found("strict", "a", "a", baseline=run("b")).status is PASS


def test_the_message_names_what_is_missing_and_extra():
    message = found("unordered", ["a", "x"], ["a", "y"]).message
    assert "missing: y" in message and "extra: x" in message


def test_the_message_names_only_what_the_mode_forbids():
    assert "extra" not in found("subset", ["a", "x"], ["a", "y"]).message
    assert "missing" not in found("superset", ["a", "x"], ["a", "y"]).message
    assert "order" in found("strict", ["a", "b"], ["b", "a"]).message


@pytest.mark.parametrize(("tools", "status"), [("abc", PASS), ("a", FAIL)])
def test_subset_is_implied_by_a_path_block_and_a_reference(tools, status):
    by_reference = judge("path", {"max_steps": 9}, run(*tools), reference_tools=["a", "b"])
    by_baseline = judge("path", {"max_steps": 9}, run(*tools), run("a", "b"))
    assert by_reference["match_mode"].status is status
    assert by_baseline["match_mode"].status is status


def test_the_implied_check_warns():
    layer = outcome("path", {"max_steps": 9}, run(), run("a")).layers["path"]
    assert layer.status == "warn"


def test_an_empty_path_block_implies_it_too():
    assert list(judge("path", {}, run("a"), run("a"))) == ["match_mode"]


def test_it_is_not_implied_without_a_path_block():
    result = outcome("cost", {"max_llm_calls": 9}, run(), run("a"))
    assert result.layers["path"].checks == ()


def test_it_is_not_implied_without_a_reference():
    assert list(judge("path", {"max_steps": 9}, run("a"))) == ["max_steps"]


def test_it_is_not_implied_by_a_baseline_without_recorded_calls():
    baseline = run(without=["tool_calls"])
    assert list(judge("path", {"max_steps": 9}, run("a"), baseline)) == ["max_steps"]


def test_an_explicit_mode_is_not_checked_twice():
    checks = judge("path", {"match_mode": "superset"}, run(), reference_tools=["a"])
    assert checks["match_mode"].status is PASS


def test_an_unknown_mode_is_a_spec_error_with_the_nearest_name():
    assert "did you mean `subset`" in refusal("path", {"match_mode": "subsets"})
