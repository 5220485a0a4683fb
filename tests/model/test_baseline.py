"""A run against all repeats of its baseline."""

from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, judge
from trialrun import Step, Trace
from trialrun.model.argument_rules import Rules
from trialrun.model.baseline import Baseline, changes_from, rules_of
from trialrun.model.calls import model_calls_of
from trialrun.model.trace import EVIDENCE

FIND, MAIL = Step.tool_call("find"), Step.tool_call("mail")
GATE = {"same_calls": True, "same_arguments": True, "same_order": True, "same_errors": True}


def run(*steps, **fields):
    return Trace(input="question", output="a", steps=list(steps), **fields)


def baseline(*paths, rules=None):
    first, *others = (run(*path) for path in paths)
    fields = {name: getattr(first, name) for name in Trace.__struct_fields__}
    return Baseline(**fields, repeats=tuple(others), rules=rules or Rules())


def statuses(trace, base, **settings):
    found = judge("regression", GATE | settings, trace, base)
    return {name: check.status for name, check in found.items()}


def test_any_path_of_a_passing_repeat_will_do():
    base = baseline([FIND], [FIND, MAIL], [MAIL, FIND])
    for path in ([FIND], [FIND, MAIL], [MAIL, FIND]):
        assert set(statuses(run(*path), base).values()) == {PASS}
    assert statuses(run(MAIL), base)["same_calls"] is FAIL
    assert statuses(run(FIND, FIND, MAIL), base)["same_calls"] is FAIL


def test_equal_calls_count():
    base = baseline([FIND, FIND])
    assert statuses(run(FIND, FIND), base)["same_calls"] is PASS
    assert statuses(run(FIND), base)["same_calls"] is FAIL
    assert statuses(run(FIND, FIND, FIND), base)["same_calls"] is FAIL


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_tool_of_any_number_may_be_called_any_number_of_times(number):
    trace = run(*[FIND] * number, MAIL)
    found = statuses(trace, baseline([FIND, MAIL]), any_number=["fi*"])
    assert set(found.values()) == {PASS}


def test_handoffs_and_retrievals_that_one_side_did_not_record_are_unknown():
    handed, searched = Step.handoff("billing"), Step.retrieval("returns")
    without = {"recorded": EVIDENCE - {"handoffs", "retrievals"}}
    for call in (handed, searched):
        assert statuses(run(FIND, **without), run(FIND, call))["same_calls"] is UNKNOWN
        assert statuses(run(FIND, call), run(FIND, **without))["same_calls"] is UNKNOWN
        assert statuses(run(MAIL, **without), run(FIND, call))["same_calls"] is FAIL
        assert statuses(run(FIND), run(FIND, call))["same_calls"] is FAIL
    assert statuses(run(FIND, **without), run(FIND))["same_calls"] is PASS


def test_calls_that_one_side_did_not_record_are_unknown():
    without = {"recorded": EVIDENCE - {"tool_calls"}}
    assert set(statuses(run(**without), run(FIND)).values()) == {UNKNOWN}
    assert set(statuses(run(FIND), run(**without)).values()) == {UNKNOWN}


def test_arguments_that_one_side_did_not_record_are_unknown():
    asked = Step.tool_call("find", {"order": "12"})
    without = run(FIND, recorded=EVIDENCE - {"tool_args"})  # its arguments are {}
    for trace, base in ((without, run(asked)), (run(asked), without)):
        found = statuses(trace, base)
        assert (found["same_arguments"], found["same_calls"]) == (UNKNOWN, PASS)
    assert statuses(run(FIND), run(asked))["same_arguments"] is FAIL


def test_a_refused_and_corrected_call_is_known_from_a_repeat():
    refused = Step.tool_call("pay", {"by": "card"}, error="unknown card")
    again = Step.tool_call("pay", {"by": "voucher"}, error="not allowed")
    paid = Step.tool_call("pay", {"by": "gift card"})
    assert statuses(run(refused, again, paid), baseline([paid]))["same_calls"] is FAIL
    known = baseline([paid], [refused, paid])
    assert set(statuses(run(refused, again, paid), known).values()) == {PASS}
    assert statuses(run(refused), known)["same_calls"] is PASS
    assert statuses(run(refused), known)["same_errors"] is FAIL
    assert FAIL in statuses(run(paid, paid), known).values()  # nearest to the refused one


def test_a_plain_trace_compares_everything_but_free_text_exactly():
    def mail(text, to="a@b.c"):
        return Step.tool_call("mail", {"to": to, "text": text})

    before = run(mail("Your refund is coming."))
    assert rules_of(before).arguments == {"mail": {"text": "same_type"}}
    assert rules_of(baseline(before.steps)) == rules_of(before)
    assert statuses(run(mail("It is on its way.")), before)["same_arguments"] is PASS
    assert statuses(run(mail("x", to="x@b.c")), before)["same_arguments"] is FAIL


def test_what_was_found_is_kept_until_the_trace_changes():
    trace, base = run(FIND), baseline([FIND])
    first = changes_from(base, trace)
    assert changes_from(base, trace) is first
    assert changes_from(base, trace, ["find"]) is not first
    trace.add_step(MAIL)
    assert changes_from(base, trace).extra == ["mail"]
    assert changes_from(baseline([FIND, MAIL]), trace).extra == []


def test_how_the_run_ended_is_part_of_the_changes():
    def asked(reason):
        return run(Step.llm_call("m", metadata={"stop_reason": reason}), FIND)

    assert changes_from(asked("stop"), asked("length")).ended == ("stop", "length")
    assert changes_from(asked("stop"), asked("stop")).ended is None


def test_the_number_of_model_calls_is_part_of_the_changes():
    def asked(times):
        return Trace(input="q", output="a", steps=[Step.llm_call("m")] * times)

    assert changes_from(asked(3), asked(2)).model_calls == (3, 2)
    assert changes_from(asked(2), asked(2)).model_calls is None
    assert changes_from(asked(2), Trace(input="q", output="a", steps=[])).model_calls is None


def test_a_model_call_for_a_retry_does_not_count():
    ask = Step.llm_call("m")
    busy = Step.tool_call("pay", {"id": 1}, error="busy")
    paid = Step.tool_call("pay", {"id": 2}, "ok")

    def counted(*steps):
        return model_calls_of(Trace(input="q", output="a", steps=steps))

    assert counted(ask, paid, ask) == 2
    assert counted(ask, busy, ask, paid, ask) == 2
    assert counted(ask, busy, FIND, ask, paid, ask) == 3  # that reply asked for more
    assert counted(ask, paid, ask, busy, ask) == 3  # it was not corrected
    assert counted(busy, ask, paid, ask) == 2  # no reply asked for it


def test_a_deeply_nested_argument_never_passes_unseen():
    def nested(value, depth):
        for _ in range(depth):
            value = {"a": [value]}
        return run(Step.tool_call("t", {"x": value}))

    for depth in (10, 100, 2000):
        assert statuses(nested(1, depth), nested(2, depth))["same_arguments"] in (FAIL, UNKNOWN)
    assert statuses(nested(1, 100), nested(2, 100))["same_arguments"] is FAIL
