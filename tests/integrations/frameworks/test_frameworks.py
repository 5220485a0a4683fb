"""Every example of docs/frameworks.md, run with the real framework against a scripted server."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.framework_examples import (
    EXAMPLES,
    OLD_OPENAI,
    TOKENS,
    has_its_calls_results_and_tokens,
    passes_as_it_is_written,
    workers_of,
)

import trialrun
from trialrun.agents.running.answers import from_returned
from trialrun.model.trace_format import from_plain

NAMES = [name for name in EXAMPLES if name not in OLD_OPENAI]


def test_every_example_has_an_expectation():
    assert set(EXAMPLES) == set(TOKENS)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_passes_as_it_is_written(name, environment, tmp_path):
    passes_as_it_is_written(name, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_its_calls_results_and_tokens(name, environment, tmp_path):
    trace = has_its_calls_results_and_tokens(name, tmp_path)
    assert "llm_calls" in trace.recorded


def test_a_handoff_of_the_agents_sdk_is_a_step(environment):
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

    from agents import Agent, RunConfig, Runner

    class Scripted(Model):
        def __init__(self, item):
            self.item = item

        async def get_response(self, *args, **kwargs):
            usage = Usage(requests=1, input_tokens=90, output_tokens=10, total_tokens=100)
            return ModelResponse(output=[self.item], usage=usage, response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    text = {"type": "output_text", "text": "Bonjour", "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
    answer = ResponseOutputMessage.model_validate({**message, "content": [text]})
    call = ResponseFunctionToolCall(
        call_id="c", name="transfer_to_french", arguments="{}", type="function_call"
    )
    french = Agent(name="french", model=Scripted(answer))
    agent = Agent(name="first", model=Scripted(call), handoffs=[french])
    config = RunConfig(tracing_disabled=True)
    result = asyncio.run(Runner.run(agent, "Bonjour?", run_config=config))
    trace = from_plain({**from_returned(result, "Bonjour?"), "input": "Bonjour?"})[0]
    assert [step.handoff_to for step in trace.steps if step.handoff_to] == ["french"]
    assert trace.tool_calls == []
    assert [step.metadata["agent"] for step in trace.llm_calls] == ["first", "french"]
    assert (trace.output, trace.summed_tokens) == ("Bonjour", 200)


def test_dumps_of_langchain_are_read_as_files(tmp_path):
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict

    call = {"name": "price", "args": {"of": "tea"}, "id": "a"}
    messages = [
        HumanMessage("Q"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("2", tool_call_id="a"),
        AIMessage("two"),
    ]
    forms = [dumps(messages), dumps({"messages": messages}), json.dumps(messages_to_dict(messages))]
    forms.append(json.dumps([message.model_dump() for message in messages]))
    for number, text in enumerate(forms):
        file = tmp_path / f"{number}.json"
        file.write_text(text, encoding="utf-8")
        (trace,) = trialrun.read_traces(file)
        assert (trace.input, trace.output) == ("Q", "two")
        assert [(one.tool_args, one.tool_result) for one in trace.tool_calls] == [
            ({"of": "tea"}, "2")
        ]


# The SDK's own exporter of traces, with its thread, sent to the scripted server.
EXPORTER = """
import os

from agents.tracing import set_trace_processors
from agents.tracing.processors import BackendSpanExporter, BatchTraceProcessor

address = os.environ["OPENAI_BASE_URL"] + "/traces"
set_trace_processors([BatchTraceProcessor(BackendSpanExporter(api_key="x", endpoint=address))])


def answer(question):
    return Runner.run_sync(agent, question)
"""


def test_workers_are_used_again_with_the_agents_sdk(environment, tmp_path, monkeypatch):
    """Idle threads of libraries must not cost a new process for each case."""
    monkeypatch.delenv("OPENAI_AGENTS_DISABLE_TRACING")
    assert workers_of(EXAMPLES["OpenAI Agents SDK"] + EXPORTER, tmp_path) == 1
