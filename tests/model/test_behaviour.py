"""How two runs differ, call by call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun import Step, Trace
from trialrun.measures.arguments import MISSING
from trialrun.model.argument_rules import NO_RULES, Bound, Rules, proposed
from trialrun.model.behaviour import calls_of, changes


def calls(*steps):
    return calls_of(Trace(input="q", output="a", steps=list(steps)))


def refund(**changed):
    return Step.tool_call("issue_refund", {"order": "12", "amount": 20, **changed}, "done")


LOOKUP = Step.tool_call("lookup", {"order": "12"}, {"state": "sent"})
MAIL = Step.tool_call("mail", {"text": "Your refund is on its way."})


def test_a_changed_argument_is_named_with_its_values():
    found = changes(calls(LOOKUP, refund()), calls(LOOKUP, refund(amount=200)))
    assert found.arguments == ["issue_refund: amount 20 → 200"]
    assert (found.missing, found.extra, found.moved) == ([], [], [])


def test_an_argument_left_out_or_added_is_a_change():
    bare = Step.tool_call("issue_refund", {"order": "12"}, "done")
    assert changes(calls(refund()), calls(bare)).arguments == ["issue_refund: amount 20 left out"]
    assert changes(calls(bare), calls(refund())).arguments == ["issue_refund: amount 20 added"]


def test_nested_arguments_are_compared_one_by_one():
    before = Step.tool_call("find", {"filter": {"date": "2026-01-01", "open": True}})
    after = Step.tool_call("find", {"filter": {"date": "2026-01-02", "open": True}})
    found = changes(calls(before), calls(after)).arguments
    assert found == ['find: filter.date "2026-01-01" → "2026-01-02"']


def test_missing_and_extra_calls_are_named_with_their_arguments():
    found = changes(calls(LOOKUP, refund()), calls(refund(), refund()))
    assert found.missing == ['lookup(order: "12")']
    assert found.extra == ['issue_refund(order: "12", amount: 20)']


def test_a_call_in_another_place_is_moved():
    there, back = calls(LOOKUP, refund()), calls(refund(), LOOKUP)
    assert len(changes(there, back).moved) == 1  # either of the two may be said to have moved
    assert changes(there, back).moved == changes(back, there).moved


def test_calls_of_one_reply_have_no_order():
    ask = Step.llm_call("m", id="r1")
    before = calls(ask, LOOKUP, MAIL, Step.llm_call("m"), refund())
    after = calls(ask, MAIL, LOOKUP, Step.llm_call("m"), refund())
    assert changes(before, after).moved == []
    later = calls(ask, refund(), Step.llm_call("m"), LOOKUP, MAIL)
    assert changes(before, later).moved == ["issue_refund"]


def test_the_parent_of_a_call_says_which_reply_asked_for_it():
    first, second = Step.llm_call("m", id="r1"), Step.llm_call("m", id="r2")
    steps = [first, second, Step.tool_call("a", parent_id="r1"), Step.tool_call("b")]
    assert [call.reply for call in calls(*steps)] == [1, 2]


def test_a_call_that_fails_now_is_a_failure():
    broken = Step.tool_call("lookup", {"order": "12"}, status="failure", error="timeout")
    found = changes(calls(LOOKUP), calls(broken))
    assert found.failures == ['lookup fails now: "timeout"']
    assert changes(calls(broken), calls(LOOKUP)).failures == []


def test_a_failed_call_that_was_repeated_with_success_counts_once():
    broken = Step.tool_call("lookup", {"order": "12"}, error="timeout")
    assert changes(calls(LOOKUP), calls(broken, LOOKUP)).weight() == (0, 0, 0, 0)
    other = Step.tool_call("lookup", {"order": "13"}, error="timeout")
    assert changes(calls(LOOKUP), calls(other, LOOKUP)).extra == ['lookup(order: "13")']


def test_handoffs_and_retrievals_are_calls():
    before = calls(Step.handoff("billing"), Step.retrieval("returns", ["a.md"]))
    after = calls(Step.handoff("technical"), Step.retrieval("refunds", ["a.md"]))
    found = changes(before, after)
    assert (found.missing, found.extra) == (["handoff to billing"], ["handoff to technical"])
    assert found.arguments == ['retrieval: query "returns" → "refunds"']


def test_arguments_that_were_not_recorded_are_listed():
    bare = Step(type="tool_call", tool_name="lookup")
    assert changes(calls(LOOKUP), calls(bare)).not_recorded == ["lookup"]


def test_tools_of_any_number_are_not_compared_but_their_new_errors_are():
    rules = Rules(any_number=["look*"])
    broken = Step.tool_call("lookup", {"order": "9"}, error="timeout")
    assert changes(calls(LOOKUP), calls(LOOKUP, LOOKUP), rules).weight() == (0, 0, 0, 0)
    assert changes(calls(LOOKUP), calls(), rules).weight() == (0, 0, 0, 0)
    assert changes(calls(LOOKUP), calls(broken), rules).failures == ['lookup fails now: "timeout"']


@pytest.mark.parametrize(
    ("rule", "before", "after", "allowed"),
    [
        ("exact", 20, 20.0, True),
        ("exact", 20, "20", False),
        ("exact", True, 1, False),
        ("same_type", "a b", "c", True),
        ("same_type", 20, "20", False),
        ("same_type", 20, MISSING, False),
        ("ignore", 20, MISSING, True),
        ("same_set", ["a", "b"], ["b", "a"], True),
        ("same_set", ["a", "b"], ["b", "a", "a"], False),
        (Bound(within=5), 20, 25, True),
        (Bound(within=5), 20, 25.1, False),
        (Bound(within=5), 20, "22", False),
        (Bound(regex="^ord_"), "ord_1", "ord_2", True),
        (Bound(regex="^ord_"), "ord_1", "x", False),
    ],
)
def test_the_rules_of_arguments(rule, before, after, allowed):
    assert Rules({"t": {"x": rule}}).of("t", "x").allows(before, after) is allowed


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ([20, 20], "exact"),
        (["EUR", "EUR"], "exact"),
        (["please look at this", "please look at this"], "same_type"),
        (["a-1", "b-2"], "same_type"),
        ([1, 2], "same_type"),
        ([1, "1"], "ignore"),
        ([1, MISSING], "ignore"),
        ([["a", "b"], ["b", "a"]], "same_set"),
        ([["a"], ["b"]], "same_type"),
        ([None, None], "exact"),
    ],
)
def test_rules_are_proposed_from_what_varied(values, rule):
    assert proposed(values) == rule


STEPS = st.lists(
    st.builds(
        lambda name, x, fails: Step.tool_call(name, {"x": x}, error="no" if fails else None),
        st.sampled_from("abc"),
        st.integers(0, 2),
        st.booleans(),
    ),
    max_size=6,
)


@property_test
@given(STEPS)
def test_a_run_does_not_differ_from_itself(steps):
    assert changes(calls(*steps), calls(*steps)).weight() == (0, 0, 0, 0)


def argument_count(found):
    return sum(len(call.arguments) for call in found.changed)


@property_test
@given(STEPS, STEPS)
def test_the_reverse_difference_is_the_difference_reversed(one, other):
    one, other = calls(*one), calls(*other)
    there, back = changes(one, other), changes(other, one)
    assert (there.missing, there.extra) == (back.extra, back.missing)
    assert sorted(there.moved) == sorted(back.moved)
    assert sorted(map(parts, there.changed)) == sorted(parts(call, -1) for call in back.changed)


def parts(change, direction=1):
    """What changed in a call, as texts that can be sorted; backwards with -1."""
    pairs = [change.steps, change.error, *((one.before, one.after) for one in change.arguments)]
    return change.name, [str(None if pair is None else pair[::direction]) for pair in pairs]


def test_no_rules_is_exact():
    assert NO_RULES.of("t", "x").text == "exact"


def test_half_of_a_surrogate_pair_is_compared():
    half = "\ud800"  # JSON files can hold it
    before, after = Step.tool_call("find", {"q": half}), Step.tool_call("find", {"q": "x"})
    assert changes(calls(before), calls(before)).arguments == []
    assert len(changes(calls(before), calls(after)).arguments) == 1
