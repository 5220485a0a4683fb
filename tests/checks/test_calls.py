from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import Step, StepStatus

MASK = "[redacted]"


def called(bounds, *tools, **fields):
    return first("path", {"calls": bounds}, run(*map(Step.tool_call, tools), **fields))


@pytest.mark.parametrize(
    ("number", "status"), [(0, FAIL), (1, PASS), (2, PASS), (3, PASS), (4, FAIL)]
)
def test_both_bounds_are_within(number, status):
    assert called({"search": {"min": 1, "max": 3}}, *["search"] * number).status is status


def test_every_tool_must_be_within_its_bounds():
    bounds = {"search": {"min": 1}, "delete_user": {"max": 0}}
    assert called(bounds, "search", "other").status is PASS
    assert called(bounds, "search", "delete_user").status is FAIL
    message = called(bounds, "delete_user").message
    assert "`search` 0 times, at least 1" in message
    assert "`delete_user` 1 time, at most 0" in message


def test_a_failed_call_counts():
    step = Step.tool_call("delete_user", status=StepStatus.FAILURE)
    assert first("path", {"calls": {"delete_user": {"max": 0}}}, run(step)).status is FAIL


def test_globs_count_all_that_match():
    assert called({"mcp__*": {"max": 1}}, "mcp__a", "mcp__b").status is FAIL
    assert called({"mcp__*": {"min": 2}}, "mcp__a", "mcp__b").status is PASS
    assert called({"delete": {"max": 0}}, "delete_draft").status is PASS


def test_calls_that_were_not_recorded_are_unknown():
    assert called({"a": {"max": 0}}, without=["tool_calls"]).status is UNKNOWN


@pytest.mark.parametrize(
    ("bounds", "status"),
    [
        ({"max": 0}, UNKNOWN),
        ({"max": 1}, PASS),
        ({"min": 1}, UNKNOWN),
        ({"min": 2}, FAIL),
        ({"min": 1, "max": 3}, UNKNOWN),
    ],
)
def test_a_masked_name_may_be_the_tool(bounds, status):
    assert called({"search": bounds}, MASK).status is status


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({}, "not empty"),
        ({"search": {}}, "could only pass"),
        ({"search": {"min": 0}}, "could only pass"),
        ({"search": {"min": 3, "max": 1}}, "could only fail"),
        ({"search": {"max": -1}}, "0 or more"),
        ({"search": {"most": 1}}, "unknown key"),
        ({"search": 3}, "a mapping"),
        (["search"], "a mapping"),
        ({"": {"max": 1}}, "not empty"),
    ],
)
def test_bounds_that_assert_nothing_are_a_spec_error(bounds, said):
    assert said in refusal("path", {"calls": bounds})


def test_min_0_beside_max_is_allowed():
    assert called({"search": {"min": 0, "max": 1}}, "search").status is PASS
