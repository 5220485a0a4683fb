"""`Trace`: its fields, refused values and derived values."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from trialrun import Message, Step, StepStatus, StepType, TokenUsage, Trace, TraceError, TraceStatus
from trialrun.model.trace import EVIDENCE


def mixed():
    return Trace(
        input="q",
        output="a",
        steps=[
            Step.llm_call("m", "in", "out", TokenUsage(10, 5), cost_usd=0.1),
            Step.tool_call("search", {"q": 1}, "found"),
            Step.llm_call("m", "in", "out", TokenUsage(1, 2, 40), cost_usd=0.2),
            Step.tool_call("search"),
            Step.tool_call("book", status=StepStatus.FAILURE),
            Step.reasoning("hm"),
        ],
    )


def test_values_derived_from_the_steps():
    trace = mixed()
    assert trace.tool_call_sequence == trace.tools_called == ["search", "search", "book"]
    assert trace.tools_used == {"search", "book"}
    assert [step.tool_name for step in trace.tool_calls] == ["search", "search", "book"]
    assert (trace.step_count, trace.total_llm_calls, len(trace.llm_calls)) == (6, 2, 2)
    assert trace.total_tokens == 15 + 40
    assert trace.total_cost_usd == pytest.approx(0.3)


def test_derived_lists_are_computed_once():
    trace = mixed()
    assert trace.tool_calls is trace.tool_calls
    assert trace.tool_call_sequence is trace.tool_call_sequence


def test_a_further_step_updates_derived_values():
    trace = mixed()
    trace.add_step(Step.tool_call("mail"))
    trace.add_step(Step.llm_call("m", tokens=TokenUsage(1), cost_usd=0.5))
    assert trace.tool_call_sequence[-1] == "mail"
    assert trace.total_tokens == 56
    assert trace.total_cost_usd == pytest.approx(0.8)
    assert [step.id for step in trace.steps] == list("12345678")


def test_every_step_has_a_unique_id():
    same = Step.tool_call("a")
    trace = Trace(input="q", steps=[same, same, Step.tool_call("b", id="2"), same])
    assert [step.id for step in trace.steps] == ["1", "2'", "2", "4"]
    trace.add_step(Step.tool_call("c", id="6"))
    trace.add_step(same)
    assert [step.id for step in trace.steps][-2:] == ["6", "6'"]


def test_a_step_can_be_named_as_a_parent_from_its_construction_on():
    outer = Step.llm_call("m")
    assert outer.id and outer.id != Step.llm_call("m").id
    trace = Trace(input="q", steps=[outer, Step.tool_call("a", parent_id=outer.id)])
    assert [(step.id, step.parent_id) for step in trace.steps] == [("1", None), ("2", "1")]
    trace.add_step(Step.tool_call("b", parent_id=outer.id))
    assert trace.steps[2].parent_id == "1"
    grown = Trace(input="q")
    grown.add_step(outer)
    grown.add_step(Step.tool_call("a", parent_id=outer.id))
    assert grown.steps[1].parent_id == grown.steps[0].id == "1"
    named = Step.llm_call("m", id="root")
    kept = Trace(input="q", steps=[Step.tool_call("a", parent_id="root"), named])
    assert [(step.id, step.parent_id) for step in kept.steps] == [("1", "root"), ("root", None)]


def test_assigning_steps_computes_derived_values_again():
    trace = mixed()
    trace.steps = [Step.tool_call("only")]
    assert trace.tool_call_sequence == ["only"]
    assert (trace.total_tokens, trace.total_cost_usd) == (None, None)


def test_steps_added_one_by_one_equal_steps_given_at_once():
    grown = Trace(input="q", output="a")
    for step in mixed().steps:
        grown.add_step(step)
    assert grown == mixed()
    for name in ("tool_call_sequence", "tools_used", "total_tokens", "total_cost_usd"):
        assert getattr(grown, name) == getattr(mixed(), name)


def test_tokens_are_unknown_as_soon_as_one_call_has_none():
    trace = Trace(input="q", steps=[Step.llm_call("m", tokens=TokenUsage(3)), Step.llm_call("m")])
    assert trace.total_tokens is None


def test_cost_is_unknown_as_soon_as_one_call_has_neither_cost_nor_price():
    trace = Trace(input="q", steps=[Step.llm_call("m", cost_usd=0.5)])
    assert trace.total_cost_usd == 0.5
    trace.add_step(Step.llm_call("unlisted-1", tokens=TokenUsage(3)))
    assert trace.total_cost_usd is None


def test_a_tool_that_costs_something_counts():
    paid = Step.tool_call("search", cost_usd=0.25)
    assert Trace(input="q", steps=[paid]).total_cost_usd is None  # of a model nothing is known
    trace = Trace(input="q", steps=[paid, Step.llm_call("m", cost_usd=0.5)])
    assert trace.total_cost_usd == 0.75
    trace.add_step(Step.llm_call("gpt-4o", tokens=TokenUsage(1_000_000)))
    assert trace.total_cost_usd == 0.75 + 2.5


def test_values_that_were_not_recorded_are_none_not_zero():
    trace = Trace(input="q", duration_ms=5.0, recorded=EVIDENCE - {"tokens", "costs", "timings"})
    assert trace.total_tokens is None
    assert trace.total_cost_usd is None
    assert trace.total_duration_ms is None


def test_steps_without_a_model_call_do_not_say_what_models_cost():
    trace = Trace(input="q", steps=[Step.tool_call("a")])
    assert (trace.total_tokens, trace.total_cost_usd) == (None, None)
    trace.recorded |= {"llm_calls", "tokens", "costs"}
    assert (trace.total_tokens, trace.total_cost_usd) == (0, 0.0)


START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (Trace(input="q", duration_ms=7.0, steps=[Step.reasoning("x", duration_ms=3)]), 7.0),
        (
            Trace(input="q", started_at=START, completed_at=START + timedelta(milliseconds=1500)),
            1500.0,
        ),
        (
            Trace(
                input="q",
                steps=[
                    Step.tool_call("a", timestamp=START, duration_ms=900),
                    Step.tool_call(
                        "b", timestamp=START + timedelta(milliseconds=200), duration_ms=50
                    ),
                ],
            ),
            900.0,
        ),
        (Trace(input="q", steps=[Step.reasoning("x", duration_ms=3), Step.reasoning("y")]), 3.0),
        (Trace(input="q", steps=[Step.reasoning("x", timestamp=START)]), None),
        (Trace(input="q"), None),
        # An end before the start (the clock was set back) is ignored; the steps count.
        (
            Trace(
                input="q",
                started_at=START,
                completed_at=START - timedelta(seconds=1),
                steps=[Step.reasoning("x", duration_ms=4)],
            ),
            4.0,
        ),
    ],
)
def test_total_duration(trace, expected):
    assert trace.total_duration_ms == expected


def test_times_without_a_zone_are_utc():
    naive, aware = datetime(2026, 1, 1, 0, 0, 1), START
    steps = [Step.reasoning("x", timestamp=aware), Step.reasoning("y", timestamp=naive)]
    assert Trace(input="q", steps=steps).total_duration_ms == 1000.0


def test_complete_sets_answer_and_times():
    trace = Trace(input="q")
    trace.complete("done", TraceStatus.FAILURE)
    assert (trace.output, trace.status) == ("done", TraceStatus.FAILURE)
    assert trace.duration_ms >= 0
    assert trace.started_at <= trace.completed_at
    assert trace.total_duration_ms == trace.duration_ms


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: TokenUsage(prompt_tokens=-1), "TokenUsage.prompt_tokens"),
        (lambda: TokenUsage(completion_tokens=1.5), "TokenUsage.completion_tokens"),
        (lambda: TokenUsage(prompt_tokens="3"), "TokenUsage.prompt_tokens"),
        (lambda: TokenUsage(total_tokens=-2), "TokenUsage.total_tokens"),
        (lambda: TokenUsage(cached_tokens=True), "TokenUsage.cached_tokens"),
        (lambda: Step.llm_call("m", cost_usd=math.nan), "Step.cost_usd"),
        (lambda: Step.llm_call("m", cost_usd=math.inf), "Step.cost_usd"),
        (lambda: Step.llm_call("m", cost_usd=-0.1), "Step.cost_usd"),
        (lambda: Step.llm_call("m", tokens={"prompt_tokens": 1}), "Step.tokens"),
        (lambda: Step.llm_call(7), "Step.model"),
        (lambda: Step.tool_call("a", duration_ms=-1), "Step.duration_ms"),
        (lambda: Step.tool_call("a", ["x"]), "Step.tool_args"),
        (lambda: Step.tool_call(""), "Step.tool_name"),
        (lambda: Step(type="tool-call", tool_name="a"), "Step.type"),
        (lambda: Step.reasoning("x", status="ok"), "Step.status"),
        (lambda: Step.reasoning("x", timestamp="now"), "Step.timestamp"),
        (lambda: Trace(input=None), "Trace.input"),
        (lambda: Trace(input="q", output=object()), "Trace.output"),
        (lambda: Trace(input="q", steps=["x"]), "Trace.steps[0]"),
        (lambda: Trace(input="q", steps="x"), "Trace.steps"),
        (lambda: Trace(input="q", duration_ms=math.nan), "Trace.duration_ms"),
        (lambda: Trace(input="q", recorded={"tols"}), "Trace.recorded"),
        (lambda: Trace(input="q", status="done"), "Trace.status"),
        (lambda: Trace(input="q", format_version=99), "Trace.format_version"),
        (lambda: Message(role="user", content=None), "Message.content"),
    ],
)
def test_constructors_refuse_impossible_values_and_name_the_field(make, field):
    with pytest.raises(TraceError, match=r"expected .*, found ") as refusal:
        make()
    assert field in str(refusal.value)


def test_a_refused_value_raises_a_value_error():
    with pytest.raises(ValueError, match="prompt_tokens"):
        TokenUsage(prompt_tokens=-1)


def test_enums_may_be_given_as_their_values():
    step = Step(type="tool_call", tool_name="a", status="failure")
    assert (step.type, step.status) == (StepType.TOOL_CALL, StepStatus.FAILURE)
    assert Trace(input="q", status="timeout").status is TraceStatus.TIMEOUT


def test_the_total_of_a_usage_is_the_given_one_or_the_sum():
    assert TokenUsage(3, 4).total_tokens == 7
    assert TokenUsage(3, 4, 100).total_tokens == 100
    assert TokenUsage(total_tokens=9).total_tokens == 9
    assert TokenUsage(3, 4, 0).total_tokens == 7  # as evaldeck writes it


def test_a_total_below_its_parts_is_refused():
    with pytest.raises(TraceError, match="total_tokens: expected at least its parts, 7, found 5"):
        TokenUsage(3, 4, 5)


def test_step_factories():
    made = [
        (Step.llm_call("m"), StepType.LLM_CALL),
        (Step.tool_call("a"), StepType.TOOL_CALL),
        (Step.reasoning("x"), StepType.REASONING),
        (Step.human_input("hello"), StepType.HUMAN_INPUT),
        (Step.handoff("billing"), StepType.HANDOFF),
        (Step.retrieval("query", ["a.md"]), StepType.RETRIEVAL),
        (Step.guardrail("pii"), StepType.GUARDRAIL),
    ]
    assert [step.type for step, _ in made] == [kind for _, kind in made]


def conversation():
    return Trace(
        input="I want my money back",
        output="Refunded.",
        duration_ms=900.0,
        steps=[
            Step.tool_call("find_customer"),
            Step.llm_call("m", output="Which order?", tokens=TokenUsage(5)),
            Step.human_input("Order 12"),
            Step.tool_call("refund"),
            Step.llm_call("m", output="Refunded.", tokens=TokenUsage(7)),
        ],
    )


def test_a_conversation_is_split_into_turns():
    first, second = conversation().turns()
    assert (first.input, first.output) == ("I want my money back", "Which order?")
    assert (second.input, second.output) == ("Order 12", "Refunded.")
    assert (first.tool_call_sequence, second.tool_call_sequence) == (["find_customer"], ["refund"])
    assert (first.total_tokens, second.total_tokens) == (5, 7)


def test_the_question_repeated_as_first_step_starts_no_turn():
    trace = conversation()
    trace.steps = [Step.human_input(trace.input), *trace.steps]
    assert len(trace.turns()) == 2


def test_a_turn_without_output_has_no_answer():
    trace = Trace(input="a", output="b", steps=[Step.tool_call("x"), Step.human_input("c")])
    assert [turn.output for turn in trace.turns()] == [None, "b"]
