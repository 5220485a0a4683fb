from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run

SEED_CALLS = ["search", "rerank", "generate"]
SEED_REFERENCE = ["search", "generate"]


def found(minimum, tools, reference=None, baseline=None, **beside):
    case = {} if reference is None else {"reference_tools": reference}
    block = {"min_sequence_similarity": minimum, **beside}
    return first("path", block, run(*tools), baseline, **case)


@pytest.mark.parametrize(("minimum", "status"), [(0.8, PASS), (0.81, FAIL)])
def test_the_longest_common_subsequence_is_the_default(minimum, status):
    # 2 · 2 / (3 + 2) = 0.8
    assert found(minimum, SEED_CALLS, SEED_REFERENCE).status is status
    assert found(minimum, SEED_CALLS, SEED_REFERENCE, sequence_metric="lcs").status is status


@pytest.mark.parametrize(("minimum", "status"), [(0.66, PASS), (0.67, FAIL)])
def test_the_edit_distance_can_be_chosen(minimum, status):
    # 1 − 1/3 = 0.667
    result = found(minimum, SEED_CALLS, SEED_REFERENCE, sequence_metric="edit")
    assert result.status is status


@pytest.mark.parametrize(("minimum", "edits"), [(0.2, 4), (0.4, 3), (0.6, 2), (0.8, 1), (1.0, 0)])
def test_the_edit_similarity_is_exact_at_its_minimum(minimum, edits):
    # `edits` of five calls differ: 1 − edits / 5.
    tools = [*"vwxyz"[:edits], *"abcde"[edits:]]
    assert found(minimum, tools, list("abcde"), sequence_metric="edit").status is PASS


@pytest.mark.parametrize("metric", ["lcs", "edit"])
def test_both_empty_is_1_and_one_empty_is_0(metric):
    assert found(1.0, [], [], sequence_metric=metric).status is PASS
    assert found(0.01, ["a"], [], sequence_metric=metric).status is FAIL
    assert found(0.01, [], ["a"], sequence_metric=metric).status is FAIL


def test_without_a_reference_it_is_unknown():
    result = found(0.1, ["a"])
    assert result.status is UNKNOWN
    assert "no reference" in result.message


def test_the_calls_of_the_baseline_are_the_reference():
    assert found(1.0, ["a", "b"], baseline=run("a", "b")).status is PASS
    assert found(1.0, ["b", "a"], baseline=run("a", "b")).status is FAIL


def test_reference_tools_win_over_the_baseline():
    assert found(1.0, ["a"], ["a"], baseline=run("b")).status is PASS
    assert found(1.0, ["b"], ["a"], baseline=run("b")).status is FAIL


def test_an_empty_list_of_reference_tools_is_a_reference():
    assert found(1.0, [], [], baseline=run("b")).status is PASS


def test_a_baseline_without_recorded_calls_is_not_a_reference():
    assert found(0.5, ["a"], baseline=run(without=["tool_calls"])).status is UNKNOWN


def test_order_counts():
    # LCS of a-b and b-a is 1: 2 · 1 / 4
    assert found(0.5, ["a", "b"], ["b", "a"]).status is PASS
    assert found(0.51, ["a", "b"], ["b", "a"]).status is FAIL


def test_an_unknown_metric_is_a_spec_error():
    block = {"min_sequence_similarity": 0.5, "sequence_metric": "jaccard"}
    assert "sequence_metric" in refusal("path", block)


@pytest.mark.parametrize("minimum", [-0.1, 1.1])
def test_a_minimum_outside_0_to_1_is_a_spec_error(minimum):
    assert "min_sequence_similarity" in refusal("path", {"min_sequence_similarity": minimum})
