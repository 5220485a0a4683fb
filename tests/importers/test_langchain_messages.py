"""Messages of LangChain and states of LangGraph, in each of their forms."""

from __future__ import annotations

import json

import pytest

from tests.importers.recordings import FORMATS, read, read_value, report
from tests.scripted_models import ANSWER, QUESTION
from trialrun.importers import importer_of
from trialrun.model.trace import StepStatus

USE = {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}}
USAGE = {"input_tokens": 6720, "output_tokens": 116, "total_tokens": 6836}
USAGE["input_token_details"] = {"cache_creation": 6717, "cache_read": 0}
MESSAGES = [
    ("human", {"content": "Q", "id": "1"}),
    (
        "ai",
        {
            "content": [{"type": "text", "text": "Reading."}, USE],
            "tool_calls": [{"name": "read", "args": {"path": "x"}, "id": "a", "type": "tool_call"}],
            "usage_metadata": USAGE,
            "response_metadata": {"model_name": "claude-sonnet-4-5"},
            "id": "2",
        },
    ),
    ("tool", {"content": "gone", "tool_call_id": "a", "status": "error", "id": "3"}),
    ("ai", {"content": "A", "tool_calls": [], "id": "4"}),
]


def _constructor(kind, fields):
    name = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}[kind]
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {**fields, "type": kind}}


FORMS = {
    "dumps": [_constructor(*one) for one in MESSAGES],
    "messages_to_dict": [{"type": kind, "data": fields} for kind, fields in MESSAGES],
    "model_dump": [{"type": kind, **fields} for kind, fields in MESSAGES],
    "state": {"messages": [_constructor(*one) for one in MESSAGES], "step": 3},
    "snapshot": {"values": {"messages": [{"type": k, **f} for k, f in MESSAGES]}, "next": []},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_alike(form, tmp_path):
    (trace,) = read_value(tmp_path, FORMS[form])
    assert (trace.input, trace.output) == ("Q", "A")
    (call,) = trace.tool_calls  # it is both in the content and beside it
    assert "repeated" not in report(trace)
    assert (call.tool_name, call.tool_args, call.tool_result) == ("read", {"path": "x"}, "gone")
    assert call.status is StepStatus.FAILURE
    assert [reply.model for reply in trace.llm_calls] == ["claude-sonnet-4-5", "unknown"]
    tokens = trace.llm_calls[0].tokens
    # LangChain counts the cache inside of the input, also for Claude.
    assert (tokens.total_tokens, tokens.cache_write_tokens) == (6836, 6717)
    assert tokens.prompt_tokens == 3


def test_messages_one_a_line_are_one_conversation(tmp_path):
    text = "\n".join(map(json.dumps, FORMS["model_dump"]))
    (trace,) = read_value(tmp_path, text, "lines.jsonl")
    assert (trace.input, trace.output) == ("Q", "A")


def test_a_call_that_cannot_be_read_is_a_failed_call(tmp_path):
    wrong = {"name": "f", "args": "{", "id": "a", "error": "not JSON", "type": "invalid_tool_call"}
    messages = [{"type": "human", "content": "Q"}]
    messages.append({"type": "ai", "content": "", "invalid_tool_calls": [wrong]})
    (trace,) = read_value(tmp_path, messages)
    (call,) = trace.tool_calls
    assert (call.status, call.error) == (StepStatus.FAILURE, "not JSON")


@pytest.mark.parametrize("form", ["dumps", "messages-to-dict"])
def test_a_state_of_langgraph_as_the_library_writes_it(form):
    file = f"langchain-messages/made-langgraph-1.2-{form}.json"
    assert importer_of(FORMATS / file).name == "langchain_messages"
    trace = read(file)
    assert (trace.input, trace.output) == (QUESTION, ANSWER)
    assert [(call.tool_args, call.tool_result) for call in trace.tool_calls] == [
        ({"of": "tea"}, "2"),
        ({"of": "rum"}, "3"),
    ]
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert [call.tokens.total_tokens for call in trace.llm_calls] == [120, 120]
    assert [call.tokens.cached_tokens for call in trace.llm_calls] == [64, 64]
    assert [call.tokens.reasoning_tokens for call in trace.llm_calls] == [8, 8]
    assert report(trace)["absent"] == ["costs", "handoffs", "retrievals", "timings"]
