"""The table of dialects, messages in every spelling, single values of spans."""

from __future__ import annotations

import json

import pytest

from tests.importers.test_spans import AGENT, CHAT, TOOL, USAGE, span, trace_of
from trialrun.importers._spans import Event, as_id, as_time, messages
from trialrun.importers._spans.dialects import CONVENTION, ROWS, Operation, dialect_of, operation_of
from trialrun.importers._spans.span import as_kind, flattened, nested

CALL = {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "x"}}


@pytest.mark.parametrize(
    ("scope", "row"),
    [
        ("pydantic-ai", "pydantic-ai"),
        ("gcp.vertex.agent", "adk"),
        ("com.anthropic.sdk.python", "anthropic-sdk"),
        ("com.anthropic.claude_code.tracing", "claude-code"),
        ("mcp-python-sdk", "mcp"),
        ("langfuse-sdk", "langfuse"),
        ("langsmith", "langsmith"),
        ("ai", "vercel"),
        ("aim", "gen_ai"),
        ("gen_ai", "gen_ai"),
        ("openinference.instrumentation.langchain", "openinference"),
        ("opentelemetry.instrumentation.openai.v1", "traceloop"),
        ("autogen-core", "autogen"),
        ("", "gen_ai"),
    ],
)
def test_the_dialect_by_the_scope(scope, row):
    assert dialect_of(scope, {}).name == row


def test_names_of_dialects_and_marks_are_unique():
    assert len({row.name for row in ROWS}) == len(ROWS)
    marks = [mark for row in ROWS for mark in row.marks]
    assert len(marks) == len(set(marks))


def test_gen_ai_attributes_alone_are_structure():
    assert operation_of(CONVENTION, "POST", {"gen_ai.task.id": "1"}) is Operation.STRUCTURE
    assert operation_of(CONVENTION, "x", {"gen_ai.request.model": "m"}) is Operation.STRUCTURE


@pytest.mark.parametrize(
    "reply",
    [
        [{"role": "assistant", "parts": [CALL]}],
        {"role": "assistant", "tool_calls": [
            {"id": "c1", "function": {"name": "search", "arguments": '{"q": "x"}'}}]},
        {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "function": {"name": "search", "arguments": '{"q": "x"}'}}]}}]},
        {"object": "response", "output": [{
            "type": "function_call", "call_id": "c1",
            "name": "search", "arguments": '{"q": "x"}'}]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}}]},
        {"content": {"role": "model", "parts": [
            {"function_call": {"id": "c1", "name": "search", "args": {"q": "x"}}}]}},
        {"role": "assistant", "content": [
            {"toolUse": {"toolUseId": "c1", "name": "search", "input": {"q": "x"}}}]},
        [{"toolCallId": "c1", "toolName": "search", "input": '{"q": "x"}'}],
        {"type": "ai", "content": "", "tool_calls": [
            {"name": "search", "args": {"q": "x"}, "id": "c1"}]},
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"],
         "kwargs": {"content": "", "tool_calls": [
             {"name": "search", "args": {"q": "x"}, "id": "c1"}]}},
    ],
)  # fmt: skip
def test_a_call_in_every_spelling(reply):
    for value in (reply, json.dumps(reply), json.dumps(json.dumps(reply))):
        (message,) = messages.read(value, "assistant")
        assert message.role == "assistant"
        assert message.calls == [messages.Asked("search", "c1", {"q": "x"})]


@pytest.mark.parametrize(
    "result",
    [
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "found"}]},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "result": "found"}]},
        {"role": "user", "parts": [{"function_response": {"id": "c1", "response": "found"}}]},
        {"role": "tool", "content": [{
            "type": "tool-result", "toolCallId": "c1",
            "output": {"type": "text", "value": "found"}}]},
        {"type": "tool", "content": "found", "tool_call_id": "c1", "status": "success"},
        {"type": "tool", "data": {"content": "found", "tool_call_id": "c1"}},
    ],
)  # fmt: skip
def test_a_result_in_every_spelling(result):
    (message,) = messages.read([result], "user")
    (answer,) = message.results
    assert (answer.id, answer.value, answer.failed) == ("c1", "found", False)
    assert message.role == "tool"


def test_values_of_spans():
    assert as_id("0x1813255f1408738e", 16) == "1813255f1408738e"
    assert as_id("J6xbLGis4os=", 16) == "27ac5b2c68ace28b"
    assert as_id(255, 16) == "00000000000000ff"
    assert as_id(None, 16) == as_id([], 16) == ""
    assert as_time([1784744268, 5]) == as_time("1784744268000000005") == 1784744268000000005
    assert as_time("2026-07-22T18:17:48.000001Z") == 1784744268000001000
    assert as_kind("SPAN_KIND_SERVER") == as_kind(2) == as_kind("SpanKind.SERVER") == "server"
    flat = {"a.1.b": 2, "a.0.b": 1, "c": 3}
    assert nested(flat, "a.") == [{"b": 1}, {"b": 2}]
    assert flattened({"llm": {"model": "m", "x": [{"y": 1}]}}) == {"llm.model": "m", "llm.x.0.y": 1}
    kept = {"final_result": {"total": 4}, "gen_ai.input.messages": [{"role": "user"}]}
    assert flattened(kept) == kept


# Content in events, as Strands writes it


def test_messages_arguments_and_results_in_events():
    ask = [{"toolUse": {"toolUseId": "c1", "name": "sum", "input": {"of": "6*7"}}}]
    asking = span(2, 1, 2, 1, of=CHAT | USAGE)
    asking.events = [
        Event("gen_ai.user.message", {"content": '[{"text": "6 * 7?"}]'}),
        Event("gen_ai.choice", {"finish_reason": "tool_use", "message": json.dumps(ask)}),
    ]
    tool = {**TOOL, "gen_ai.tool.name": "sum", "gen_ai.tool.call.id": "c1"}
    called = span(3, 3, 4, 1, of=tool)
    called.events = [
        Event("gen_ai.tool.message", {"role": "tool", "content": '{"of": "6*7"}', "id": "c1"}),
        Event("gen_ai.choice", {"message": '[{"text": "42"}]', "id": "c1"}),
    ]
    answering = span(4, 5, 6, 1, of=CHAT | USAGE)
    answering.events = [Event("gen_ai.choice", {"message": '[{"text": "It is 42."}]'})]
    trace = trace_of(span(1, 0, 9, of=AGENT), asking, called, answering)
    assert (trace.input, trace.output) == ("6 * 7?", "It is 42.")
    (call,) = trace.tool_calls
    assert (call.tool_args, call.tool_result) == ({"of": "6*7"}, "42")
    assert call.parent_id == trace.llm_calls[0].id


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        ("openinference.instrumentation.openai_agents",
         {"name": "handoff to math", "openinference.span.kind": "TOOL", "output.value": "math"}),
        ("opentelemetry.instrumentation.openai_agents",
         {"name": "agent_handoff OpenAI Agent", "gen_ai.operation.name": "agent_handoff",
          "gen_ai.handoff.to_agent": "math"}),
    ],
)  # fmt: skip
def test_a_handoff_is_not_a_tool_call_and_the_next_agent_answers(scope, shown):
    def reply(text):
        return json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": text}]}])

    asked = [{"type": "tool_call", "id": "h", "name": "transfer_to_math", "arguments": {}}]
    trace = trace_of(
        span(1, 0, 90, name="workflow", of=AGENT),
        span(2, 1, 30, 1, of=AGENT | {"gen_ai.output.messages": reply("to math")}),
        span(3, 2, 9, 2, of=CHAT | {
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": asked}])}),
        span(4, 10, 11, 2, scope=scope, **shown),
        span(5, 40, 80, 1, of=AGENT | {"gen_ai.output.messages": reply("294")}),
        span(6, 41, 79, 5, of=CHAT | {"gen_ai.output.messages": reply("294")}),
    )  # fmt: skip
    assert trace.answer_text == "294"
    assert trace.tool_call_sequence == []
    assert [step.handoff_to for step in trace.steps if step.handoff_to] == ["math"]
