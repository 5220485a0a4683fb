"""`max_tool_errors`: which failed calls count."""

from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, outcome, refusal, run
from trialrun import Step
from trialrun.model.steps import StepStatus


def call(tool="find", error=None, **args):
    return Step.tool_call(tool, args, None if error else "done", error=error)


BROKEN = call(error="timeout", order="12")


def judged(limit, *steps, **fields):
    return first("path", {"max_tool_errors": limit}, run(*steps, **fields))


@pytest.mark.parametrize(
    ("limit", "steps", "status"),
    [
        (0, [], PASS),
        (0, [call(order="12")], PASS),
        (0, [BROKEN], FAIL),
        (1, [BROKEN], PASS),
        (1, [BROKEN, BROKEN], FAIL),
        (0, [BROKEN, call(order="12")], PASS),
        (0, [BROKEN, BROKEN, call("other"), call(order="12")], PASS),
        (0, [BROKEN, call(order="13")], FAIL),  # another call
        (0, [BROKEN, call("get", order="12")], FAIL),
        (0, [call(order="12"), BROKEN], FAIL),  # the success came before
        ({"value": 0, "retried": "allowed"}, [BROKEN, call(order="12")], PASS),
        ({"value": 0, "retried": "counted"}, [BROKEN, call(order="12")], FAIL),
        ({"value": 1, "retried": "counted"}, [BROKEN, call(order="12")], PASS),
        ({"value": 2}, [BROKEN, BROKEN], PASS),
    ],
)
def test_which_calls_count(limit, steps, status):
    assert judged(limit, *steps).status is status


def test_a_call_fails_by_its_status_too():
    failed = Step.tool_call("find", {}, "no such order", status=StepStatus.FAILURE)
    found = judged(0, failed)
    assert found.message == '1 failed call, limit 0: find failed: "no such order"'
    assert found.data == {
        "found": 1,
        "limit": 0,
        "failed": ['find failed: "no such order"'],
        "steps": ["1"],
    }


def test_the_message_names_the_first_five():
    found = judged(0, *(call(f"t{n}", error="x") for n in range(7)))
    assert found.message.startswith('7 failed calls, limit 0: t0 failed: "x"; t1 failed')
    assert found.message.endswith('t4 failed: "x"; and 2 more')


def test_severity_in_every_spelling():
    for limit in (
        {"value": 0, "severity": "fail"},
        {"value": 0, "retried": "allowed", "severity": "fail"},
    ):
        assert outcome("path", {"max_tool_errors": limit}, run(BROKEN)).status.value == "fail"
    assert outcome("path", {"max_tool_errors": 0}, run(BROKEN)).status.value == "warn"
    strict = outcome("path", {"max_tool_errors": {"value": 0, "retried": "counted"}},
                     run(BROKEN), severity={"path": "fail"})  # fmt: skip
    assert strict.status.value == "fail"


def test_without_recorded_calls_it_is_unknown():
    assert judged(0, without=["tool_calls"]).status is UNKNOWN


def test_a_masked_argument_may_hide_another_call():
    hidden = {"key": "[redacted]"}
    steps = [call("login", error="denied", **hidden), call("login", **hidden)]
    assert judged(0, *steps).status is UNKNOWN
    assert judged(1, *steps).status is PASS
    assert judged(0, *steps, BROKEN).status is FAIL
    counted = {"value": 0, "retried": "counted"}
    assert judged(counted, *steps).status is FAIL


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (-1, "expected"),
        ("none", "expected"),
        ({"value": 0, "retried": "count"}, "retried: expected one of allowed, counted"),
        ({"value": 0, "retryed": "counted"}, "retryed: unknown key; did you mean `retried`?"),
        ({"retried": "counted"}, "value"),
    ],
)
def test_mistakes(limit, message):
    assert message in refusal("path", {"max_tool_errors": limit})
