"""Message histories of pydantic-ai, made by the real library with a scripted model."""

from __future__ import annotations

import asyncio

import pytest

from tests.importers.recordings import read, read_value, report
from tests.scripted_models import ANSWER, QUESTION
from trialrun.model.trace import StepStatus, StepType

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage


def _agent(*replies, **settings):
    """An agent whose model gives these replies, one after the other."""
    left = iter(replies)

    def reply(messages, info):
        usage = RequestUsage(input_tokens=100, cache_read_tokens=64, output_tokens=20)
        return ModelResponse(parts=next(left), usage=usage)

    return Agent(FunctionModel(reply, model_name="scripted"), **settings)


def _saved(result, tmp_path):
    return read_value(tmp_path, result.all_messages_json().decode())


def test_calls_results_tokens_and_the_answer_are_read(tmp_path):
    calls = [ToolCallPart("price", {"of": "tea"}, "a"), ToolCallPart("price", {"of": "rum"}, "b")]
    agent = _agent([ThinkingPart("Two."), *calls], [TextPart("5 in all")])

    @agent.tool_plain
    def price(of: str) -> int:
        return {"tea": 2, "rum": 3}[of]

    (trace,) = _saved(asyncio.run(agent.run("How much?")), tmp_path)
    assert (trace.input, trace.output) == ("How much?", "5 in all")
    assert [call.tool_args for call in trace.tool_calls] == [{"of": "tea"}, {"of": "rum"}]
    assert [call.tool_result for call in trace.tool_calls] == [2, 3]
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert [reply.tokens.total_tokens for reply in trace.llm_calls] == [120, 120]
    assert trace.llm_calls[0].tokens.cached_tokens == 64
    assert trace.llm_calls[0].model == "scripted"
    assert [step.reasoning_text for step in trace.steps if step.type is StepType.REASONING] == [
        "Two."
    ]
    assert report(trace)["absent"] == ["costs", "handoffs", "retrievals"]


def test_the_answer_of_an_output_tool_is_the_answer_and_no_tool_call(tmp_path):
    part = ToolCallPart("final_result", {"response": 4}, "a")
    (trace,) = _saved(asyncio.run(_agent([part], output_type=int).run("2 + 2?")), tmp_path)
    assert trace.output == 4
    assert trace.tool_calls == []


def test_a_call_that_must_be_retried_failed(tmp_path):
    agent = _agent(
        [ToolCallPart("look", {}, "a")], [ToolCallPart("look", {}, "b")], [TextPart("ok")]
    )
    tries = []

    @agent.tool_plain
    def look() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ModelRetry("again")
        return "seen"

    (trace,) = _saved(asyncio.run(agent.run("Q")), tmp_path)
    assert [call.status for call in trace.tool_calls] == [StepStatus.FAILURE, StepStatus.SUCCESS]


def test_a_history_of_two_runs_has_two_turns(tmp_path):
    agent = _agent([TextPart("a")], [TextPart("b")])
    first = asyncio.run(agent.run("A?"))
    second = asyncio.run(agent.run("B?", message_history=first.all_messages()))
    (trace,) = _saved(second, tmp_path)
    asked = [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    assert (trace.input, asked, trace.output) == ("A?", ["B?"], "b")


def test_a_history_as_the_library_writes_it():
    trace = read("pydantic-ai/made-2.66.json")
    assert (trace.input, trace.output) == (QUESTION, ANSWER)
    assert [(call.tool_args, call.tool_result) for call in trace.tool_calls] == [
        ({"of": "tea"}, 2),
        ({"of": "rum"}, 3),
    ]
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert [call.tokens.total_tokens for call in trace.llm_calls] == [120, 120]
    assert [call.tokens.cached_tokens for call in trace.llm_calls] == [64, 64]
    assert [call.tokens.reasoning_tokens for call in trace.llm_calls] == [8, 8]
    assert report(trace)["absent"] == ["costs", "handoffs", "retrievals"]
