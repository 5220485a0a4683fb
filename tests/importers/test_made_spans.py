"""Spans of frameworks and tracing tools, made by the real libraries against a scripted server.

The server asked for two parallel calls of `price` and then gave the answer: 2 model calls of 100
tokens in (64 of them cached) and 20 out (8 of them reasoning), 2 tool calls. Counts of spans that
repeat a call or are structure were taken from the names of the spans.
"""

from __future__ import annotations

import pytest

from tests.importers.recordings import FORMATS, report
from tests.scripted_models import ANSWER, QUESTION
from trialrun.importers import importer_of, scan

FOLDER = FORMATS / "otel-span-lists"
SUM = "usage of an agent: the sum of its calls"
STRUCTURE = "span that is structure"
# file: the agent, what was seen more than once, and the spans that are left out
RUNS = {
    "made-strands-1.62.json.gz": ("shop", {SUM: 1}, {STRUCTURE: 2}),  # two cycles of its loop
    "made-strands-1.62-latest.json.gz": ("shop", {SUM: 1}, {STRUCTURE: 2}),
    "made-langgraph-openllmetry.json.gz": (
        "LangGraph",
        {},
        {STRUCTURE: 4},
    ),  # its nodes
    "made-loop-openllmetry.json.gz": ("shop", {}, {}),
    "made-logfire-5.2.json.gz": ("agent", {SUM: 1}, {STRUCTURE: 1}),  # around the question
    "made-phoenix-20.26-get-spans.json": ("shop", {}, {}),
    "made-phoenix-20.26-dataframe.jsonl": ("shop", {}, {}),
    "made-llama-index-0.14.json.gz": (None, {}, {STRUCTURE: 15}),  # 19 spans but for its four calls
    "made-crewai-1.15-openai.json.gz": ("shop", {}, {STRUCTURE: 1}),
    "made-google-adk-2.13.json.gz": ("shop", {}, {"tool span that is not a call": 1}),  # (merged)
    "made-pydantic-ai-mcp-2.3.json.gz": ("shop", {"tool call": 6, SUM: 1}, {STRUCTURE: 3}),
}
WITHOUT_REASONING = ("made-strands", "made-langgraph-openllmetry")


def traces_in(name):
    """The traces; a note names spans without a run."""
    traces, problems, _ = scan(FOLDER / name)
    assert not problems
    return traces


def result_of(call):
    """The price as text; Google ADK makes an object of it."""
    found = call.tool_result
    return str(found["result"] if isinstance(found, dict) else found)


@pytest.mark.parametrize("name", RUNS)
def test_the_run_has_its_two_model_calls_and_two_tool_calls(name):
    assert importer_of(FOLDER / name).name == "span_list"
    trace = traces_in(name)[-1]
    assert (trace.input, trace.output) == (QUESTION, ANSWER)
    assert [call.tokens.total_tokens for call in trace.llm_calls] == [120, 120]
    assert [call.tokens.cached_tokens for call in trace.llm_calls] == [64, 64]
    reasoning = 0 if name.startswith(WITHOUT_REASONING) else 8
    assert [call.tokens.reasoning_tokens for call in trace.llm_calls] == [reasoning] * 2
    calls = sorted(trace.tool_calls, key=lambda call: result_of(call))
    assert [(call.tool_name, call.tool_args, result_of(call)) for call in calls] == [
        ("price", {"of": "tea"}, "2"),
        ("price", {"of": "rum"}, "3"),
    ]
    assert {call.parent_id for call in calls} == {trace.llm_calls[0].id}


@pytest.mark.parametrize("name", RUNS)
def test_its_fidelity(name):
    agent, repeated, dropped = RUNS[name]
    trace = traces_in(name)[-1]
    found = report(trace)
    assert found["absent"] == ["costs", "reasoning"]
    assert found.get("repeated", {}) == repeated
    assert found.get("dropped", {}) == dropped
    assert trace.agent_name == agent


def test_crewai_without_the_spans_of_a_model_library_has_no_model_calls():
    trace = traces_in("made-crewai-1.15.json.gz")[0]
    assert (trace.input, trace.output, trace.agent_name) == (QUESTION, ANSWER, "shop")
    assert sorted(str(call.tool_args) for call in trace.tool_calls) == [
        "{'of': 'rum'}",
        "{'of': 'tea'}",
    ]
    assert report(trace)["absent"] == ["costs", "llm_calls", "reasoning", "tokens"]


def test_the_creation_of_an_agent_has_neither_calls_nor_an_answer():
    created, _ = traces_in("made-langgraph-openllmetry.json.gz")
    assert created.step_count == 0
    assert not created.recorded & {"answer", "tool_calls", "llm_calls", "tokens"}


def test_spans_of_a_mcp_server_alone_are_not_a_run():
    traces, problems, _ = scan(FOLDER / "made-mcp-2.3-server.json")
    assert traces == []
    assert "5 spans in 5 traces without an agent" in str(problems[0])


def test_calls_of_a_mcp_client_have_arguments_and_results_and_answer_nothing():
    traces = traces_in("made-mcp-1.30-openllmetry.json")
    calls = [call for trace in traces for call in trace.tool_calls]
    assert [(call.tool_args, call.tool_result, call.status.value) for call in calls] == [
        ({"of": "tea"}, "2", "success"),
        ({"of": "rum"}, "3", "success"),
        ({"of": "gin"}, "Error executing tool price: 'gin'", "failure"),
    ]
    assert [(trace.input, trace.output) for trace in traces] == [("", None)] * 3
    assert not any("answer" in trace.recorded for trace in traces)
