"""The order of calls of which one failed and was repeated."""

from __future__ import annotations

from trialrun import Step, Trace
from trialrun.model.argument_rules import NO_RULES, Rules
from trialrun.model.behaviour import calls_of, changes

FIND = Step.tool_call("find", {"q": "refund"}, "a")
LOOKUP = Step.tool_call("lookup", {"order": "12"}, "sent")
REFUND = Step.tool_call("refund", {"order": "12"}, "done")


def failed(step, **arguments):
    return Step.tool_call(step.tool_name, step.tool_args | arguments, error="timeout")


def replies(*asked):
    """Calls in lists: each list was asked for by one reply of the model."""
    steps = [step for reply in asked for step in (Step.llm_call("m"), *reply)]
    return calls_of(Trace(input="q", output="a", steps=steps))


def moved(before, after, rules=NO_RULES):
    found = changes(before, after, rules)
    assert (found.missing, found.extra) == ([], [])
    assert found.moved == changes(after, before, rules).moved
    return found.moved


def test_it_does_not_matter_which_call_of_a_reply_was_repeated():
    find_again = replies([failed(FIND), LOOKUP], [FIND], [REFUND])
    lookup_again = replies([FIND, failed(LOOKUP)], [LOOKUP], [REFUND])
    both_again = replies([failed(FIND), failed(LOOKUP)], [LOOKUP, failed(FIND)], [FIND], [REFUND])
    assert moved(find_again, lookup_again) == []
    assert moved(find_again, both_again) == []
    assert moved(both_again, replies([LOOKUP, FIND], [REFUND])) == []


def test_neither_does_it_with_another_value_that_is_not_compared_exactly():
    find_again = replies([failed(FIND, q="refunds"), LOOKUP], [FIND], [REFUND])
    lookup_again = replies([FIND, failed(LOOKUP)], [LOOKUP], [REFUND])
    assert moved(find_again, lookup_again, Rules({"find": {"q": "same_type"}})) == []


def test_a_call_that_is_repeated_after_others_has_the_place_where_it_succeeded():
    """The refund was refused until the order had been looked up."""
    refused = replies([failed(REFUND)], [LOOKUP], [REFUND])
    assert moved(refused, replies([LOOKUP], [REFUND])) == []
    assert moved(refused, replies([REFUND], [LOOKUP])) != []
