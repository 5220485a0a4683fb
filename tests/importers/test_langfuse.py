"""Langfuse: downloads and rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from trialrun import read_traces
from trialrun.importers import importer_of

DATA = Path(__file__).parents[1] / "data/formats/langfuse"


def only(name):
    file = DATA / f"{name}.trace.json.gz"
    assert importer_of(file).name == "langfuse"
    (trace,) = read_traces(file)
    return trace


def test_of_two_generations_the_inner_one_has_the_reported_usage():
    trace = only("vercel-aisdk-2025-11-17")
    (reply,) = trace.llm_calls
    assert (reply.tokens.prompt_tokens, reply.tokens.completion_tokens) == (62, 85)
    assert trace.total_cost_usd == pytest.approx(0.0009275)
    (call,) = trace.tool_calls
    assert call.tool_args == {"location": "San Francisco"}
    assert call.tool_result == {"location": "San Francisco", "temperature": 64}
    assert trace.output is None  # the run ends in the call
    assert trace.metadata["imported"]["repeated"] == {"model call": 1}


def test_calls_that_start_together_are_in_the_order_of_the_model():
    trace = only("koog-2025-08-26")
    assert trace.tool_call_sequence == ["HelloTool", "ByeTool"]
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert [call.tool_result for call in trace.tool_calls] == [
        "Hello my darling Bob!",
        "Bye my dear Bob!",
    ]
    assert trace.output == "Hello my darling Bob! And, bye my dear Bob!"
    assert (trace.total_tokens, trace.total_llm_calls) == (340, 2)


def test_a_tool_that_is_a_span():
    trace = only("langgraph-python-2025-08-22")
    (call,) = trace.tool_calls
    # The span has the arguments as Python writes them; the model asked in JSON.
    assert (call.tool_name, call.tool_args) == ("Web-Search", {"query": "example"})
    assert call.tool_result.startswith('[{"url": "https://example.com"')
    assert call.timestamp is not None
    assert trace.input == "Search the web for 'example' and summarize."
    assert trace.total_tokens == 234


def test_start_and_end_of_a_call_as_observations_of_their_own():
    trace = only("beeai-2025-08-01")
    assert trace.total_llm_calls == 3
    assert not any("agent" in step.metadata for step in trace.steps)  # an update is not an agent
    (call,) = trace.tool_calls
    assert call.tool_name == "search.wikipedia"
    assert call.tool_args == {"query": "Tourism in Barcelona", "full_text": False}
    assert call.tool_result[0]["description"].startswith("Barcelona")
    assert trace.output.startswith("Barcelona is a vibrant city known for its rich cultural")
    assert trace.total_tokens == 1195 + 1988 + 2359


def test_rows_of_observations(tmp_path):
    rows = json.loads(gzip.decompress((DATA / "koog-2025-08-26.trace.json.gz").read_bytes()))
    file = tmp_path / "observations.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows["observations"]))
    assert importer_of(file).name == "langfuse"
    (trace,) = read_traces(file)
    assert (trace.total_tokens, len(trace.tool_calls)) == (340, 2)


def test_a_page_of_the_api(tmp_path):
    rows = json.loads(gzip.decompress((DATA / "koog-2025-08-26.trace.json.gz").read_bytes()))
    file = tmp_path / "page.json"
    file.write_text(json.dumps({"data": rows["observations"], "meta": {"page": 1}}))
    (trace,) = read_traces(file)
    assert (trace.total_tokens, len(trace.tool_calls)) == (340, 2)


def row(number, **fields):
    return {
        "id": f"o{number}",
        "trace_id": "t",
        "type": "GENERATION",
        "name": "chat",
        "start_time": f"2026-01-01T00:00:0{number}Z",
        "end_time": f"2026-01-01T00:00:0{number + 1}Z",
        "output": "hello",
        "provided_model_name": "gpt-4o-mini",
        **fields,
    }


@pytest.mark.parametrize(
    ("usage", "prompt", "total"),
    [
        # The parts of Langfuse are disjoint: 36 + 64 read, 12 + 8 of reasoning.
        ({"input": 36, "input_cache_read": 64, "output": 12, "output_reasoning": 8}, 100, 120),
        (
            {
                "input": 36,
                "prompt_details.cache_read": 64,
                "output": 12,
                "completion_details.reasoning": 8,
                "total": 120,
            },
            100,
            120,
        ),
        # The total says that cached tokens are part of the input.
        ({"input": 100, "input_cache_read": 64, "output": 20, "total": 120}, 100, 120),
        ({"prompt_tokens": 100, "completion_tokens": 20}, 100, 120),
        (
            {"input": 100, "output": 20, "prompt_details.cache_read": 64, "total": 120},
            100,
            120,
        ),
    ],
)
def test_usage(tmp_path, usage, prompt, total):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row(1, usage_details=usage)) + "\n" + json.dumps(row(2)))
    tokens = read_traces(file)[0].llm_calls[0].tokens
    assert (tokens.prompt_tokens, tokens.total_tokens) == (prompt, total)
