"""A change of behaviour is one line: what is missing, extra, different, failing, moved."""

from __future__ import annotations

from trialrun.model.behaviour import ArgumentChange, CallChange, Changes
from trialrun.reports.views.changes import change_lines


def test_a_line_for_each_change():
    steps = ("1", "2")
    found = Changes(
        missing=['find(order: "12")'],
        extra=["delete"],
        changed=[
            CallChange("refund", steps, [ArgumentChange("amount", "20", "200")]),
            CallChange("refund", steps, [ArgumentChange("note", None, '"x"')], ("1", "2")),
            CallChange("mail", steps, error=(None, '"down"'), result=("1", '"down"')),
            CallChange("pay", steps, error=('"down"', None)),
        ],
        moved=["log"],
        not_recorded=["read"],
        not_compared=["handoff to billing"],
        undecided=["pay: key"],
        model_calls=(3, 2),
        ended=("stop", "length"),
    )
    assert change_lines(found) == [
        'find(order: "12") is missing',
        "delete is extra",
        "refund: amount 20 → 200",
        'refund: note "x" added',
        'mail fails now: "down"',
        'pay succeeds now; it failed before: "down"',
        "log moved",
        "refund result: 1 → 2",
        "model calls: 3 → 2",
        "ended: stop → length",
        "read: arguments not recorded on both sides",
        "handoff to billing: not recorded on both sides",
        "pay: key is not compared: masked, or its pattern is slow",
    ]


def test_the_same_behaviour_has_no_lines():
    assert change_lines(Changes(matched=3)) == []
