"""What a runner may return: results of frameworks and model APIs, from the real libraries."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from tests.scripted_models import ANSWER, PRICES, QUESTION, scripted_models
from trialrun.agents.base import Failure
from trialrun.agents.running.answers import from_returned
from trialrun.model.evidence import EVIDENCE
from trialrun.model.trace import Trace
from trialrun.model.trace_format import from_plain

TOOL = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
FULL = EVIDENCE - {"handoffs", "retrievals"}


@pytest.fixture(scope="module")
def address():
    with scripted_models() as found:
        yield found


def understood(value, question=QUESTION) -> Trace:
    """The trace that a run would make of the value."""
    found = from_returned(value, question)
    assert not isinstance(found, Failure), found.message
    json.dumps(found)  # it is sent from the worker to the run
    return from_plain({**found, "input": question})[0]


def is_the_scripted_run(trace):
    assert trace.output == ANSWER
    assert [call.tool_args for call in trace.tool_calls] == [{"of": "tea"}, {"of": "rum"}]
    assert len({call.parent_id for call in trace.tool_calls}) == 1
    assert len(trace.llm_calls) == 2
    return True


# OpenAI's SDK


def chat_loop(address):
    """A loop written by hand over OpenAI's SDK: the messages and the responses."""
    from openai import OpenAI

    client = OpenAI(base_url=f"{address}/v1", api_key="x")
    tool = {"type": "function", "function": {"name": "price", "parameters": TOOL}}
    messages = [{"role": "user", "content": QUESTION}]
    found = []
    while True:
        reply = client.chat.completions.create(model="m", messages=messages, tools=[tool])
        found.append(reply)
        messages.append(reply.choices[0].message)
        calls = reply.choices[0].message.tool_calls or []
        if not calls:
            return messages, found
        for call in calls:
            value = str(PRICES[json.loads(call.function.arguments)["of"]])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": value})


def test_messages_of_openai(address):
    messages, _ = chat_loop(address)
    for value in (messages, {"messages": messages, "config": object()}):
        trace = understood(value)
        assert is_the_scripted_run(trace)
        assert [call.tool_result for call in trace.tool_calls] == ["2", "3"]
        assert "tokens" not in trace.recorded  # messages have none


def test_responses_of_openai(address):
    _, found = chat_loop(address)
    trace = understood(found)
    assert is_the_scripted_run(trace)
    assert trace.summed_tokens == 240
    assert "tool_results" not in trace.recorded


def test_messages_with_their_responses(address):
    messages, found = chat_loop(address)
    for given in (messages, messages[:-1]):  # many loops do not append the last reply
        trace = understood({"messages": given, "responses": found})
        assert is_the_scripted_run(trace)
        assert [call.tool_result for call in trace.tool_calls] == ["2", "3"]
        assert (trace.summed_tokens, trace.llm_calls[0].model) == (240, "scripted")
    earlier = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    trace = understood({"messages": earlier + messages, "responses": found})
    assert is_the_scripted_run(trace) and trace.summed_tokens == 240


def test_a_single_response_is_an_answer_and_evidence_of_nothing_else(address):
    """The agent may have made other calls: their absence here says nothing."""
    _, found = chat_loop(address)
    trace = understood(found[-1])
    assert trace.output == ANSWER
    assert trace.recorded <= {"answer", "timings"}


def test_a_response_of_the_responses_api(address):
    from openai import OpenAI

    client = OpenAI(base_url=f"{address}/v1", api_key="x")
    tool = {"type": "function", "name": "price", "parameters": TOOL}
    items = [{"role": "user", "content": QUESTION}]
    first = client.responses.create(model="m", input=items, tools=[tool])
    items += first.output
    for call in first.output:
        value = str(PRICES[json.loads(call.arguments)["of"]])
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": value})
    second = client.responses.create(model="m", input=items, tools=[tool])
    trace = understood(items + second.output)
    assert is_the_scripted_run(trace)
    assert [call.tool_result for call in trace.tool_calls] == ["2", "3"]
    assert understood([first, second]).summed_tokens == 240
    assert understood(second).output == ANSWER
    assert understood(second.model_dump()).output == ANSWER


# Anthropic's SDK


def test_messages_of_anthropic(address):
    from anthropic import Anthropic

    client = Anthropic(base_url=address, api_key="x")
    tool = {"name": "price", "input_schema": TOOL}
    messages = [{"role": "user", "content": QUESTION}]
    found = []
    while not found or found[-1].stop_reason == "tool_use":
        reply = client.messages.create(model="m", max_tokens=99, messages=messages, tools=[tool])
        found.append(reply)
        messages.append({"role": "assistant", "content": reply.content})
        uses = [block for block in reply.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": use.id, "content": str(PRICES[use.input["of"]])}
            for use in uses
        ]
        if results:
            messages.append({"role": "user", "content": results})
    trace = understood(messages)
    assert is_the_scripted_run(trace)
    assert [call.tool_result for call in trace.tool_calls] == ["2", "3"]
    assert understood(found).summed_tokens == 260
    both = understood({"messages": messages, "responses": found})
    assert is_the_scripted_run(both) and both.summed_tokens == 260
    assert [call.tool_result for call in both.tool_calls] == ["2", "3"]
    assert understood(found[-1]).output == ANSWER


# pydantic-ai


def pydantic_agent(**settings):
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    agent = Agent(TestModel(call_tools=["price"], seed=0), **settings)

    @agent.tool_plain
    def price(of: str) -> int:
        return 2

    return agent


def test_a_run_of_pydantic_ai():
    result = asyncio.run(pydantic_agent().run("Q"))
    for value in (result, result.all_messages()):
        trace = understood(value, "Q")
        assert trace.tool_call_sequence == ["price"]
        assert trace.tool_calls[0].tool_result == 2
        assert trace.output == result.output
        usage = result.usage
        assert trace.summed_tokens == usage.input_tokens + usage.output_tokens
        assert FULL - {"costs"} <= trace.recorded


def test_an_object_as_the_answer_of_pydantic_ai():
    class Total(BaseModel):
        amount: int

    result = asyncio.run(pydantic_agent(output_type=Total).run("Q"))
    trace = understood(result, "Q")
    assert trace.output == {"amount": result.output.amount}
    assert trace.tool_call_sequence == ["price"]


def test_the_history_of_earlier_turns_is_not_part_of_this_one():
    agent = pydantic_agent()
    first = asyncio.run(agent.run("A?"))
    second = asyncio.run(agent.run("B?", message_history=first.all_messages()))
    for value in (second, second.all_messages()):
        trace = understood(value, "B?")
        assert trace.tool_call_sequence == ["price"] * len(trace.tool_calls)
        assert len(trace.llm_calls) == len(second.new_messages()) // 2
        assert not any(step.input for step in trace.steps)


# Everything else


def test_what_is_not_understood_is_named_with_the_lines_that_would_do():
    found = from_returned(SimpleNamespace(text="x"))
    assert isinstance(found, Failure)
    assert "the agent returned a SimpleNamespace" in found.message
    assert "`types.SimpleNamespace` these lines would do:\n" in found.message
    assert found.message.count("\n") == 3
    assert 'return {"output": answer, "steps": steps}' in found.message


def test_a_stream_of_the_agents_sdk_that_was_not_read_is_a_failure():
    parts = {"new_items": [], "raw_responses": [], "final_output": None, "input": "Q"}
    found = from_returned(SimpleNamespace(**parts, is_complete=False))
    assert "the run has not ended: read the stream" in found.message


def test_items_of_a_list_and_keys_of_a_dict_are_named_with_the_lines():
    found = from_returned([SimpleNamespace(text="x")])
    assert "the agent returned a list of types.SimpleNamespace; an agent returns" in found.message
    assert "for such a list these lines would do:\n" in found.message
    found = from_returned({"answer": "x"})
    assert "a dict without `output` (answer); these lines would do:\n" in found.message
    assert "an empty list; an agent returns" in from_returned([]).message
    assert "\n" not in from_returned(7).message


def test_an_object_that_fails_is_a_failure():
    class Broken:
        def model_dump(self, **settings):
            return {"messages": 3}

        def __getattribute__(self, name):
            if name == "interrupts":
                raise RuntimeError("no")
            return object.__getattribute__(self, name)

    found = from_returned(Broken())
    assert isinstance(found, Failure)
    assert "a Broken that cannot be read: RuntimeError: no" in found.message


@pytest.mark.parametrize("value", [[], [1, 2], {"answer": "x"}, [{"a": 1}], {"messages": []}])
def test_other_values_are_refused_as_before(value):
    assert isinstance(from_returned(value), Failure)


def test_a_dict_with_output_keeps_its_meaning():
    messages = [{"role": "user", "content": "Q"}]
    given = {"output": "x", "messages": messages}
    assert from_returned(given) == given


def test_a_state_without_an_answer_has_none():
    found = from_returned({"messages": [{"role": "user", "content": "Q"}]})
    assert found["output"] is None


def test_events_of_google_adk():
    from trialrun.registry import IMPORTERS, names

    if "google_adk" not in names(IMPORTERS):
        pytest.skip("the importer of Google ADK is not there")
    call = {"id": "c", "name": "price", "args": {"of": "tea"}}
    response = {"id": "c", "name": "price", "response": {"result": 2}}

    def event(author, role, part):
        return {"author": author, "content": {"role": role, "parts": [part]}}

    events = [event("user", "user", {"text": "Q"}), event("a", "model", {"function_call": call})]
    events += [event("a", "user", {"function_response": response})]
    events += [event("a", "model", {"text": "2"})]
    for value in (events, SimpleNamespace(model_dump=lambda **_: {"id": "s", "events": events})):
        trace = understood(value, "Q")
        assert (trace.output, trace.tool_call_sequence) == ("2", ["price"])
