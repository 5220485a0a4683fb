"""What a trace has recorded: one rule for files and code."""

from __future__ import annotations

import copy

import pytest

from trialrun import Step, TokenUsage, Trace
from trialrun.model.evidence import EVIDENCE, NOT_GIVEN

GIVEN = {"tool_calls", "handoffs", "retrievals", "reasoning"}
EMPTY = GIVEN | {"tool_args", "tool_results"}
MODELS = {"llm_calls", "tokens", "costs"}


@pytest.mark.parametrize(
    ("fields", "recorded"),
    [
        ({}, set()),
        ({"output": ""}, {"answer"}),
        ({"output": "a"}, {"answer"}),
        ({"output": "a", "duration_ms": 5}, {"answer", "timings"}),
        ({"started_at": "2026-01-01T00:00:00Z"}, set()),
        (
            {"started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T00:00:01Z"},
            {"timings"},
        ),
        ({"output": "a", "steps": None}, {"answer"}),
        ({"output": "a", "steps": []}, EMPTY | {"answer"}),
        ({"steps": [{"type": "reasoning", "reasoning_text": "hm"}]}, EMPTY),
        ({"steps": [{"type": "tool_call", "tool_name": "t"}]}, GIVEN),
        (
            {"steps": [{"type": "tool_call", "tool_name": "t", "tool_args": {}}]},
            GIVEN | {"tool_args"},
        ),
        (
            {
                "steps": [
                    {"type": "tool_call", "tool_name": "t"},
                    {"type": "tool_call", "tool_name": "t", "tool_args": {}, "tool_result": 0},
                ]
            },
            EMPTY,  # as far as the calls have them
        ),
        ({"steps": [{"type": "llm_call", "model": "m"}]}, EMPTY | MODELS),
        (
            {"steps": [{"type": "llm_call", "model": "m", "duration_ms": 3}]},
            EMPTY | MODELS | {"timings"},
        ),
        (
            {
                "steps": [
                    {"type": "reasoning", "duration_ms": 3},
                    {"type": "reasoning"},
                ]
            },
            EMPTY,  # not every step has a time
        ),
        (
            {
                "steps": [
                    {
                        "type": "llm_call",
                        "output": "x",
                        "tokens": {"prompt_tokens": 0, "completion_tokens": 0},
                    }
                ]
            },
            EMPTY | {"llm_calls", "costs"},  # a stream without usage
        ),
        ({"output": "a", "recorded": []}, set()),
        ({"output": "a", "steps": [], "recorded": ["answer"]}, {"answer"}),
        ({"output": "a", "recorded": sorted(EVIDENCE)}, EVIDENCE),
        # A list that knows no name for the answer says nothing of it.
        ({"output": "a", "recorded": ["tool_calls"]}, {"answer", "tool_calls"}),
        ({"recorded": ["tool_calls"]}, {"tool_calls"}),
    ],
)
def test_what_a_file_recorded(fields, recorded):
    trace = Trace.from_dict({"input": "q", **fields})
    assert trace.recorded == recorded
    again = Trace.from_json(trace.to_json())
    assert again == trace
    assert (again.steps is NOT_GIVEN) == (trace.steps is NOT_GIVEN)


SEVEN = ["tool_calls", "tool_args", "tool_results", "tokens", "costs", "timings", "reasoning"]


@pytest.mark.parametrize(
    ("fields", "recorded"),
    [
        ({"recorded": SEVEN}, {"answer"}),
        ({"recorded": SEVEN, "steps": []}, EMPTY | {"answer"}),
        ({"recorded": SEVEN, "steps": [{"type": "llm_call"}]}, EMPTY | MODELS | {"answer"}),
        ({"recorded": ["timings"]}, {"answer", "timings"}),
        (
            {"recorded": ["tool_calls", "timings"]},
            {"answer", "tool_calls", "handoffs", "retrievals", "timings"},
        ),
        ({"recorded": ["tokens"]}, {"answer", "tokens", "llm_calls"}),
        ({"recorded": []}, {"answer"}),
    ],
)
def test_what_a_file_of_format_1_recorded(fields, recorded):
    trace = Trace.from_dict({"input": "q", "output": "a", "format_version": 1, **fields})
    assert trace.recorded == recorded
    assert trace.format_version == 2


def test_code_is_derived_like_files_and_again_after_each_change():
    trace = Trace(input="q")
    assert (trace.recorded, trace.steps, trace.total_cost_usd) == (set(), (), None)
    trace.output = "a"
    assert trace.recorded == {"answer"}
    trace.add_step(Step.tool_call("t"))
    assert trace.recorded == GIVEN | {"answer", "tool_args"}
    trace.add_step(Step.llm_call("m", tokens=TokenUsage(3), cost_usd=0.5))
    assert trace.recorded == GIVEN | MODELS | {"answer", "tool_args"}
    assert (trace.total_tokens, trace.total_cost_usd) == (3, 0.5)
    trace.steps = []
    assert trace.recorded == EMPTY | {"answer"}
    trace.complete("b")
    assert trace.recorded == EMPTY | {"answer", "timings"}


def test_what_code_gives_stays():
    trace = Trace(input="q", output="a", recorded={"answer"})
    trace.add_step(Step.llm_call("m", tokens=TokenUsage(3)))
    assert (trace.recorded, trace.total_tokens) == ({"answer"}, None)
    trace.recorded = {"answer", "tokens"}
    assert trace.total_tokens == 3


def test_a_trace_that_was_read_goes_on_like_one_that_was_made():
    trace = Trace.from_json(Trace(input="q", output="a").to_json())
    trace.add_step(Step.tool_call("t", {}, "r"))
    assert trace.recorded == EMPTY | {"answer"}


def test_a_copy_is_derived_too():
    for made in (copy.copy, copy.deepcopy):
        again = made(Trace(input="q"))
        assert again.steps is NOT_GIVEN
        again.output = "a"
        assert again.recorded == {"answer"}


def test_turns_keep_the_evidence_of_the_trace_but_for_their_answer():
    steps = [Step.tool_call("t", {}, "r"), Step.human_input("and then?"), Step.llm_call("m")]
    first, second = Trace(input="q", output="b", steps=steps).turns()
    assert first.recorded == EMPTY | MODELS
    assert second.recorded == EMPTY | MODELS | {"answer"}
    hidden = Trace(input="q", output="b", steps=steps, recorded=EVIDENCE - {"answer"})
    assert all("answer" not in turn.recorded for turn in hidden.turns())


def test_turns_of_format_1_mean_what_they_meant():
    def turns_of(kinds):
        step = {
            "type": "human_input",
            "input": "two",
            "metadata": {"answered": "one", "recorded_in_turn": kinds},
        }
        plain = {"input": "q", "output": "b", "format_version": 1, "recorded": ["timings"]}
        return Trace.from_dict({**plain, "steps": [step]}).turns()

    assert turns_of(["timings"])[0].recorded == {"answer", "timings"}
    assert turns_of(["tokens", "tool_calls"])[0].recorded >= {"llm_calls", "handoffs", "answer"}
    assert turns_of(SEVEN)[0].recorded == set()  # it had no steps, and format 1 wrote that so
