"""Lists of exported spans, each by another library; expected values are counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trialrun import read_traces
from trialrun.importers import importer_of, scan
from trialrun.model.steps import StepStatus

DATA = Path(__file__).parents[1] / "data/formats/otel-span-lists"


def only(name):
    (trace,) = read_traces(DATA / name)
    return trace


@pytest.mark.parametrize("file", sorted(DATA.iterdir()), ids=lambda file: file.name)
def test_it_is_recognised(file):
    assert importer_of(file).name == "span_list"


def test_google_adk():
    trace = only("adk_live_spans.json")
    assert trace.input == "What is 15 multiplied by 37?"
    assert trace.output == "15 multiplied by 37 is 555."
    assert trace.agent_name == "math_agent"
    # `call_llm` and `generate_content` are one call each; the output includes reasoning.
    assert [call.tokens.prompt_tokens for call in trace.llm_calls] == [157, 222]
    assert [call.tokens.completion_tokens for call in trace.llm_calls] == [51, 33]
    assert [call.tokens.reasoning_tokens for call in trace.llm_calls] == [32, 20]
    (call,) = trace.tool_calls
    assert (call.tool_name, call.tool_args) == ("calculator", {"expression": "15 * 37"})
    assert call.tool_result == {"result": "555"}
    assert call.parent_id == trace.llm_calls[0].id
    assert trace.metadata["imported"]["repeated"] == {"model call": 2}


def test_google_adk_without_content_has_no_arguments(tmp_path):
    spans = json.loads((DATA / "adk_live_spans.json").read_text())
    for span in spans:
        for key in span["attributes"]:
            if key.startswith(("gcp.vertex.agent.llm_", "gcp.vertex.agent.tool_")):
                span["attributes"][key] = "{}"
    file = tmp_path / "spans.json"
    file.write_text(json.dumps(spans))
    (trace,) = read_traces(file)
    (call,) = trace.tool_calls
    assert (call.tool_args, call.tool_result) == (None, None)
    assert not trace.recorded & {"tool_args", "tool_results", "answer"}
    assert {"tool_calls", "tokens", "llm_calls"} <= trace.recorded


def test_autogen_has_neither_model_calls_nor_arguments():
    created, trace = read_traces(DATA / "autogen_live_spans.json")
    assert created.step_count == 0
    assert not created.recorded & {"tool_calls", "llm_calls", "tokens", "answer"}
    assert trace.tool_call_sequence == ["calculate"]
    assert trace.recorded == {"tool_calls", "handoffs", "retrievals", "timings"}


def test_pydantic_ai_keeps_recorded_costs_and_does_not_add_the_sum_of_the_agent():
    trace = only("pydantic_ai_live_spans.json")
    assert trace.total_tokens == 588 + 53 + 663 + 25
    assert trace.total_cost_usd == pytest.approx(0.0054153)
    assert "costs" in trace.recorded
    assert trace.tool_calls[0].tool_result == "62°F, cloudy with light rain"
    assert "usage of an agent: the sum of its calls" in trace.metadata["imported"]["repeated"]


def test_agents_as_tools_keep_their_structure():
    trace = only("openai_agents_genai_live_spans.json.gz")
    steps = {step.id: step for step in trace.steps}
    assert trace.tool_call_sequence == [
        "ask_research_specialist",
        "lookup_stock_price",
        "ask_math_specialist",
        "multiply_numbers",
        "multiply_numbers",
    ]
    assert [step.metadata["agent"] for step in trace.llm_calls] == [
        "coordinator",
        "research_specialist",
        "research_specialist",
        "coordinator",
        "math_specialist",
        "math_specialist",
        "math_specialist",
        "coordinator",
    ]
    research = trace.llm_calls[1]
    assert steps[research.parent_id].tool_name == "ask_research_specialist"
    assert steps[trace.tool_calls[1].parent_id] is research
    assert trace.total_tokens == 1870 + 253
    assert trace.output.startswith("The current stock price of Amazon (AMZN) is $240.98. Therefore")


def test_parallel_calls_of_openinference_belong_to_one_reply():
    trace = only("openai_agents_openinference_live_spans.json.gz")
    assert trace.tool_call_sequence == [
        "ask_math_specialist",
        "multiply_numbers",
        "divide_numbers",
        "divide_numbers",
    ]
    _, multiply, divide, again = trace.tool_calls
    assert multiply.parent_id == divide.parent_id != again.parent_id
    assert (multiply.tool_args, multiply.tool_result) == ({"a": 42, "b": 17}, "714")
    assert trace.total_tokens == 1228 + 194
    assert trace.total_llm_calls == 5


def test_a_schema_of_parameters_is_not_arguments_and_the_class_is_not_the_tool():
    trace = only("smolagents_live_spans.json.gz")
    search, answer = trace.tool_calls
    assert (search.tool_name, search.tool_args) == ("web_search", {"query": "population of Tokyo"})
    assert answer.tool_name == "final_answer"
    assert trace.input == "What is the population of Tokyo?"
    assert trace.output.startswith("The population of Tokyo is approximately 14 million")
    assert trace.total_tokens == 6256 + 163


MADE = [
    "made-langgraph-console.json.gz",
    "made-langgraph-langsmith.json.gz",
    "made-langgraph-openinference-twice.json.gz",
    "made-langgraph-three-libraries.json.gz",
    "made-loop-openinference.json.gz",
    "made-openai-agents-openinference-twice.json.gz",
    "made-vercel-ai-6.json",
    "made-vercel-ai-7.json",
]


@pytest.mark.parametrize("name", MADE)
def test_the_same_run_counts_the_same_from_every_library(name):
    """2 model calls of 100 + 20 tokens, 2 parallel tool calls."""
    trace = read_traces(DATA / name)[-1]
    assert trace.total_tokens == 240
    assert trace.total_llm_calls == 2
    assert [call.tokens.cached_tokens for call in trace.llm_calls] == [64, 64]
    reasoning = 0 if name == "made-vercel-ai-7.json" else 8  # which does not record it
    assert [call.tokens.reasoning_tokens for call in trace.llm_calls] == [reasoning, reasoning]
    assert [call.tool_args for call in trace.tool_calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert all("18" in str(call.tool_result) for call in trace.tool_calls)
    assert all(call.status is StepStatus.SUCCESS for call in trace.tool_calls)
    assert trace.input == "Weather in Paris and Rome?"
    assert trace.output in ("18 in both.", "18 degrees in both.")
    assert {"llm_calls", "tokens", "tool_calls", "tool_args", "tool_results"} <= trace.recorded


@pytest.mark.parametrize(
    ("name", "repeated"),
    [
        ("made-langgraph-openinference-twice.json.gz", {"model call": 2}),
        ("made-langgraph-three-libraries.json.gz", {"model call": 4, "tool call": 2}),
        ("made-openai-agents-openinference-twice.json.gz", {"model call": 2}),
        ("made-mcp-2.3.json", {"tool call": 2}),
    ],
)
def test_what_was_seen_twice_is_in_the_report(name, repeated):
    assert read_traces_quietly(name)[-1].metadata["imported"]["repeated"] == repeated


def read_traces_quietly(name):
    traces, problems, _ = scan(DATA / name)
    assert not problems
    return traces


def test_spans_of_a_mcp_server_are_the_calls_of_its_client():
    traces, _, notes = scan(DATA / "made-mcp-2.3.json")
    assert [trace.tool_call_sequence for trace in traces] == [["get_weather", "get_weather"]]
    assert "1 span in 1 trace without an agent" in str(notes[0])


def test_rows_of_one_trace_may_be_on_many_lines(tmp_path):
    spans = json.loads((DATA / "pydantic_ai_live_spans.json").read_text())
    others = [{**span, "trace_id": "f" * 32} for span in spans]
    mixed = [span for pair in zip(spans, others, strict=True) for span in pair]
    file = tmp_path / "spans.jsonl"
    file.write_text("".join(f"{json.dumps(span)}\n" for span in mixed))
    assert [trace.total_tokens for trace in read_traces(file)] == [1329, 1329]


def test_spans_without_trace_ids_are_one_run_also_on_lines(tmp_path):
    spans = json.loads((DATA / "pydantic_ai_live_spans.json").read_text())
    for span in spans:
        del span["trace_id"]
    file = tmp_path / "spans.jsonl"
    file.write_text("".join(f"{json.dumps(span)}\n" for span in spans))
    (trace,) = read_traces(file)
    assert (trace.total_tokens, trace.tool_call_sequence) == (1329, ["get_weather"])


@pytest.mark.parametrize(
    "attributes",
    [
        {"attributes": {"llm": {
            "model_name": "m",
            "token_count": {"prompt": 5, "completion": 2},
            "input_messages": [{"message": {"role": "user", "content": "hi"}}],
            "output_messages": [{"message": {"role": "assistant", "content": "hello"}}],
        }}},
        {
            "attributes.llm.model_name": "m",
            "attributes.llm.token_count.prompt": 5,
            "attributes.llm.token_count.completion": 2,
            "attributes.llm.input_messages": [{"message.role": "user", "message.content": "hi"}],
            "attributes.llm.output_messages": [
                {"message.role": "assistant", "message.content": "hello"}
            ],
        },
    ],
)  # fmt: skip
def test_rows_of_phoenix(tmp_path, attributes):
    row = {
        "name": "ChatCompletion",
        "span_kind": "LLM",
        "context": {"trace_id": "cd" * 16, "span_id": "11" * 8},
        "start_time": "2026-01-01T00:00:00+00:00",
        "end_time": "2026-01-01T00:00:01+00:00",
        **attributes,
    }
    file = tmp_path / "spans.json"
    file.write_text(json.dumps([row]))
    (trace,) = read_traces(file)
    assert (trace.input, trace.output, trace.total_tokens) == ("hi", "hello", 7)


def test_rows_of_logfire(tmp_path):
    row = {
        "trace_id": "ef" * 16,
        "span_id": "22" * 8,
        "span_name": "running tool",
        "start_timestamp": "2026-01-01T00:00:00Z",
        "end_timestamp": "2026-01-01T00:00:01Z",
        "otel_scope_name": "pydantic-ai",
        "attributes": {
            "gen_ai.tool.name": "search",
            "tool_arguments": {"q": "x"},
            "tool_response": "found",
        },
    }
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({**row, "kind": "pending_span"}) + "\n" + json.dumps(row))
    (trace,) = read_traces(file)
    (call,) = trace.tool_calls
    assert (call.tool_name, call.tool_args) == ("search", {"q": "x"})
    assert call.tool_result == "found"
