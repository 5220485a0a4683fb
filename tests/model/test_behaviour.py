"""How two runs differ, call by call."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun import Step, StepStatus, StepType, Trace
from trialrun.measures.arguments import MISSING
from trialrun.model.argument_rules import NO_RULES, Bound, Rules, proposed
from trialrun.model.behaviour import Changes, calls_of, changes
from trialrun.model.calls import ending_of, leaves
from trialrun.redaction import MASK, is_masked

NAN = float("nan")
NOTHING = (0, 0, 0, 0)
NO_CHANGES = {
    "missing": [],
    "extra": [],
    "moved": [],
    "not_recorded": [],
    "undecided": [],
    "unsettled": [],
}


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
    found = changes(calls(LOOKUP), calls(other, LOOKUP))
    assert found.extra == ['lookup(order: "13") (failed)']


def test_handoffs_and_retrievals_are_calls():
    before = calls(Step.handoff("billing"), Step.retrieval("returns", ["a.md"]))
    after = calls(Step.handoff("technical"), Step.retrieval("refunds", ["a.md"]))
    found = changes(before, after)
    assert (found.missing, found.extra) == (["handoff to billing"], ["handoff to technical"])
    assert found.arguments == ['retrieval: query "returns" → "refunds"']


def test_a_retried_call_may_have_another_value_that_is_not_compared_exactly():
    rules = Rules({"lookup": {"request": "same_type"}})
    broken = Step.tool_call("lookup", {"order": "12", "request": "a1"}, error="timeout")
    repeated = Step.tool_call("lookup", {"order": "12", "request": "b2"})
    once = calls(Step.tool_call("lookup", {"order": "12", "request": "c3"}))
    assert changes(once, calls(broken, repeated), rules).weight() == NOTHING
    assert changes(once, calls(broken, repeated)).extra  # exact: another call
    assert changes(once, calls(repeated, broken), rules).extra  # the last one fails


def test_a_corrected_call_is_not_extra_where_that_is_known_of_the_tool():
    refused = Step.tool_call("pay", {"by": "card"}, error="unknown card")
    paid = Step.tool_call("pay", {"by": "gift card"})
    once, corrected = calls(paid), calls(refused, paid)
    assert changes(once, corrected).extra == ['pay(by: "card") (failed)']
    assert changes(once, corrected, corrected=["pay"]).weight() == NOTHING
    assert changes(corrected, once, corrected=["pay"]).weight() == NOTHING
    late = changes(once, calls(paid, refused), corrected=["pay"])
    assert late.extra == ['pay(by: "card") (failed)']
    assert changes(once, calls(paid, paid), corrected=["pay"]).extra == ['pay(by: "gift card")']


def test_a_tool_of_any_number_that_fails_and_then_succeeds_is_not_a_failure():
    rules = Rules(any_number=["look*"])
    broken = Step.tool_call("lookup", {"order": "9"}, error="no such order")
    assert changes(calls(LOOKUP), calls(broken, LOOKUP), rules).failures == []
    assert changes(calls(LOOKUP), calls(LOOKUP, broken), rules).failures
    assert changes(calls(LOOKUP), calls(broken), rules).failures


def test_the_place_in_a_list_that_differs_is_named():
    def booked(*numbers):
        flights = [{"number": number, "date": "2026-05-20"} for number in numbers]
        return calls(Step.tool_call("book", {"flights": flights}))

    found = changes(booked("HAT1", "HAT2", "HAT3"), booked("HAT1", "HAT7", "HAT8")).arguments
    assert found == ['book: flights[1].number "HAT2" → "HAT7" and 1 more']
    shorter = changes(booked("HAT1"), booked()).arguments
    assert shorter == ['book: flights [{"number":"HAT1","date":"2026-05-20"}] → []']


def test_long_texts_are_shown_from_where_they_differ():
    before, after = ("x" * 100 + end for end in ("1", "2"))
    said = [calls(Step.tool_call("say", {"text": text})) for text in (before, after)]
    (found,) = changes(*said).arguments
    assert found == f'say: text "…{"x" * 15}1" → "…{"x" * 15}2"'


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("12", "12 ", 'x "12" → "12 "'),
        ("a b", "a\nb", 'x "a b" → "a\\nb"'),
        ("", " ", 'x "" → " "'),
    ],
)
def test_white_space_is_shown_where_nothing_else_differs(before, after, said):
    one, other = (calls(Step.tool_call("t", {"x": text})) for text in (before, after))
    assert changes(one, other).arguments == [f"t: {said}"]


def test_a_call_of_many_arguments_is_named_in_a_short_line():
    many = Step.tool_call("book", {f"argument_{index}": index for index in range(1000)})
    (extra,) = changes([], calls(many)).extra
    assert extra.startswith("book(argument_0: 0, argument_1: 1,")
    assert extra.endswith(", …)") and len(extra) < 150


def test_arguments_that_are_json_text_are_read():
    def sent(amount):
        body = f'{{"order": "12", "amount": {amount}, "reason": "it came too late"}}'
        return Step.tool_call("post", {"body": body})

    assert changes(calls(sent(20)), calls(sent(200))).arguments == ["post: body.amount 20 → 200"]
    broken = Step.tool_call("post", {"body": "{not json"})
    assert changes(calls(broken), calls(broken)).weight() == NOTHING


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        [1, float("inf")],
        10**400,
        "\ud800",
        {1: "a", "b": 2},
        {("a", 1): 2},
        {"deep": [[[[[[1]]]]]]},
        b"bytes",
        object,
    ],
)
def test_odd_values_are_the_same_as_themselves_and_not_as_others(value):
    odd, plain = (calls(Step.tool_call("t", {"x": one})) for one in (value, "plain"))
    assert changes(odd, odd).weight() == NOTHING
    assert changes(odd, plain).weight() == changes(plain, odd).weight() != NOTHING
    again = [msgspec.structs.replace(call, arguments=dict(call.arguments)) for call in odd]
    assert changes(odd, again).weight() == NOTHING


def test_nan_is_null_as_it_is_in_a_file():
    nan = calls(Step.tool_call("t", {"x": float("nan"), "y": [float("nan")]}))
    saved = calls(Step.tool_call("t", {"x": None, "y": [None]}))
    assert changes(nan, saved).weight() == NOTHING
    for rule in ("same_type", Bound(within=5)):
        assert changes(nan, saved, Rules({"t": {"x": rule}})).weight() == NOTHING


def test_true_is_not_one():
    one, true = (calls(Step.tool_call("t", {"x": value})) for value in (1, True))
    assert changes(one, true).arguments == ["t: x 1 → true"]


def test_a_pattern_past_its_time_limit_is_undecided():
    slow = Rules({"t": {"x": Bound(regex="(a|a)*b")}})
    before, after = (calls(Step.tool_call("t", {"x": text})) for text in ("ab", "a" * 40))
    found = changes(before, after, slow)
    assert (found.arguments, found.undecided) == ([], ["t: x"])


def test_masked_values_are_not_compared():
    shown, masked = (calls(Step.tool_call("t", {"x": value})) for value in ("open", MASK))
    assert changes(masked, shown, is_hidden=is_masked).weight() == NOTHING
    found = changes(shown, masked, is_hidden=is_masked)
    assert (found.arguments, found.undecided) == ([], ["t: x"])


@pytest.mark.parametrize("most", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_calls_are_compared_with_work_in_proportion(most):
    asked = {}
    for size in (most // 2, most):
        before = calls(*(Step.tool_call("search", {"x": index}) for index in range(size)))
        after = calls(*(Step.tool_call("search", {"x": -index}) for index in range(size)))
        looked = []
        found = changes(before, after, is_hidden=lambda value, looked=looked: looked.append(1))
        assert (found.matched, len(found.changed)) == (size, size - 1)
        asked[size] = len(looked)
    assert asked[most] <= 2.1 * asked[most // 2]


def test_a_result_is_changed_only_if_both_runs_have_one():
    def found(before, after):
        sides = [calls(Step.tool_call("t", {}, result)) for result in (before, after)]
        return [change.result for change in changes(*sides).changed]

    assert found({"n": 1}, {"n": 2}) == [('{"n":1}', '{"n":2}')]
    assert found({"n": 1}, None) == found(None, {"n": 1}) == found([NAN], [NAN]) == []


def test_how_a_run_ended_is_said():
    ends = [Step.llm_call("m", metadata={"finish_reason": one}) for one in ("stop", "length")]
    assert ending_of(Trace(input="q", output="a", steps=ends)) == "length"
    assert ending_of(Trace(input="q", output="a", steps=[Step.llm_call("m")])) is None
    assert ending_of(Trace(input="q", metadata={"stop_reason": "end_turn"})) == "end_turn"
    assert ending_of(Trace(input="q", output="a")) is None
    assert ending_of(Trace(input="q", status="timeout", steps=ends)) == "timeout"


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
        (Bound(within=5), 10**400, 1.5, False),
        (Bound(within=5), NAN, None, True),
        (Bound(within=5), NAN, 20, False),
        ("same_type", NAN, None, True),
        ("same_type", NAN, 20, False),
        ("exact", [NAN], [None], True),
        ("same_set", [1, 2.0], [2, 1.0], True),
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
        ([1, "1"], "exact"),
        ([1, MISSING], "exact"),
        ([MISSING, 1, 2], "same_type"),
        ([["a", "b"], "none", ["b", "a"]], "same_set"),
        ([["a"], "none", ["b"]], "same_type"),
        ([["a", "b"], "one of a and b"], "exact"),
        ([MISSING, "one of a and b"], "same_type"),
        ([["a", "b"], ["b", "a"]], "same_set"),
        ([["a"], ["b"]], "same_type"),
        ([None, None], "exact"),
    ],
)
def test_rules_are_proposed_from_what_varied(values, rule):
    assert proposed(values) == rule


def tool_call(name, x, y, fails):
    return Step.tool_call(name, {"x": x, "y": y}, error="no" if fails else None)


SMALL = st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.builds(tool_call, st.sampled_from("abc"), SMALL, st.sampled_from("pq"), st.booleans()),
        st.just(Step.llm_call("m")),
        st.builds(Step.handoff, st.sampled_from(["billing", "sales"])),
        st.builds(Step.retrieval, st.sampled_from(["returns", "refunds"]), SMALL),
    ),
    max_size=7,
)
RULES = st.builds(
    Rules,
    st.dictionaries(
        st.sampled_from("abc"),
        st.dictionaries(
            st.sampled_from("xy"),
            st.sampled_from(["exact", "same_type", "ignore", "same_set", Bound(within=1)]),
        ),
    ),
    st.lists(st.sampled_from(["a", "[bc]", "handoff*", "retrieval"]), max_size=1),
)


@property_test
@given(STEPS, RULES)
def test_a_run_does_not_differ_from_itself(steps, rules):
    found = changes(calls(*steps), calls(*steps), rules)
    assert found == Changes(matched=found.matched, **NO_CHANGES)


@property_test
@given(STEPS, STEPS, RULES)
def test_the_reverse_difference_is_the_difference_reversed(one, other, rules):
    one, other = calls(*one), calls(*other)
    there, back = changes(one, other, rules), changes(other, one, rules)
    assert (there.missing, there.extra) == (back.extra, back.missing)
    assert sorted(there.moved) == sorted(back.moved)
    # A tool of any number that fails only now, or failed only before, is said one way.
    turned = [change for change in there.changed if not rules.is_any_number(change.name)]
    back_turned = [change for change in back.changed if not rules.is_any_number(change.name)]
    assert sorted(map(parts, turned)) == sorted(parts(call, -1) for call in back_turned)


@property_test
@given(STEPS, STEPS, RULES, st.randoms())
def test_calls_of_one_reply_can_change_places(one, other, rules, random):
    before = calls(*one)
    shuffled = []
    for reply in _replies(other):
        random.shuffle(reply)
        shuffled += reply
    found = [changes(before, calls(*steps), rules).weight() for steps in (other, shuffled)]
    if not any(step.error for step in other):  # which of two calls failed last depends on order
        assert found[0] == found[1]


def _replies(steps):
    """The model calls, and the calls after each of them; before the first, one by one."""
    has_model = any(step.type == "llm_call" for step in steps)
    found = [[]]
    for step in steps:
        if step.type == "llm_call":
            found += [[step], []]
        elif has_model:
            found[-1].append(step)
        else:
            found.append([step])
    return found


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


def test_a_call_without_recorded_arguments_is_not_a_repetition():
    """Another search may have succeeded: the failed one still counts."""
    steps = [
        Step(type=StepType.TOOL_CALL, tool_name="find", error="timeout"),
        Step(type=StepType.TOOL_CALL, tool_name="find", tool_result="sent"),
    ]
    assert [call.error for call in calls_of(Trace(input="q", output="a", steps=steps))] == [
        '"timeout"',
        None,
    ]


def test_a_call_that_was_only_asked_for_is_not_a_success():
    failed = Step.tool_call("find", {}, error="timeout")
    asked = Step.tool_call("find", {}, status=StepStatus.PENDING)
    found = calls_of(Trace(input="q", output="a", steps=[failed, asked]))
    assert [(call.error, call.pending) for call in found] == [('"timeout"', False), (None, True)]
    assert changes(found[1:], found[1:]).unsettled == ["find"]


def test_calls_have_an_order_where_model_calls_were_not_recorded():
    """A recorder may write one model step for a whole turn: it is not one reply."""
    steps = [Step.llm_call("m", id="r")]
    steps += [Step.tool_call(name, {}, parent_id="r") for name in ("backup", "delete")]
    trace = Trace(input="q", output="a", steps=steps)
    assert [call.reply for call in calls_of(trace)] == [1, 1]
    trace.recorded -= {"llm_calls"}
    first, second = (call.reply for call in calls_of(trace))
    assert first < second


def test_calls_before_the_first_recorded_reply_have_an_order():
    steps = [Step.tool_call("backup", {}), Step.tool_call("delete", {}), Step.llm_call("m")]
    first, second = (call.reply for call in calls_of(Trace(input="q", output="a", steps=steps)))
    assert first < second < 1


def test_a_dot_in_a_name_is_not_a_level():
    """Both were at `a.b`, and the one that was read last hid the other."""
    before = Step.tool_call("find", {"a.b": 1, "a": {"b": 2}})
    after = Step.tool_call("find", {"a.b": 999, "a": {"b": 2}})
    assert changes(calls(before), calls(after)).arguments == ["find: a\\.b 1 → 999"]


def test_paths_of_different_arguments_differ():
    given = {"a.b": 1, "a": {"b": 2, "b.c": 3}, "a\\": {"b": 4}, "a\\.b": 5}
    paths = ["a\\.b", "a.b", "a.b\\.c", "a\\\\.b", "a\\\\\\.b"]
    assert list(leaves(given)) == list(zip(paths, (1, 2, 3, 4, 5), strict=True))


def test_a_rule_for_a_nested_argument_is_found_by_its_path():
    before = Step.tool_call("find", {"a": {"b": 1}, "c.d": 1})
    after = Step.tool_call("find", {"a": {"b": 2}, "c.d": 2})
    rules = Rules({"find": {"a.b": "ignore"}})
    assert changes(calls(before), calls(after), rules).arguments == ["find: c\\.d 1 → 2"]
    rules = Rules({"find": {"a.b": "ignore", "c\\.d": "ignore"}})
    assert changes(calls(before), calls(after), rules).arguments == []
