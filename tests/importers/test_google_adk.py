"""Google ADK: real sessions, and evaluation sets, which are not recordings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.importers.recordings import report
from tests.scripted_models import ANSWER, QUESTION
from trialrun import TraceError, read_traces
from trialrun.importers import importer_of
from trialrun.model.evidence import LLM_CALLS, TOKENS, TOOL_ARGS

DATA = Path(__file__).parents[1] / "data" / "formats" / "google-adk"


def test_a_session_of_several_agents():
    (trace,) = read_traces(DATA / "flow-complex-spark.session.json")
    assert trace.input == "Research on the factors that affect floods in Florida."
    assert trace.output.startswith("## Flooding in Florida: A Comprehensive Analysis of Causes")
    assert trace.tool_call_sequence == ["transfer_to_other_agent"] * 2
    first, second = trace.tool_calls
    assert first.tool_args == {"agent_name": "research_assistant"}
    assert second.tool_result["target_agent_name"] == "spark_assistant"
    speakers = [step.metadata["agent"] for step in trace.llm_calls]
    assert speakers[1:5] == [
        "research_plan_agent",
        "question_generation_agent",
        "information_retrieval_agent",
        "summary_agent",
    ]
    # Its events have no usage: how often a model was asked is not recorded.
    assert not {LLM_CALLS, TOKENS} & trace.recorded
    assert TOOL_ARGS in trace.recorded


def test_expected_calls_are_not_made_calls():
    with pytest.raises(TraceError, match="expected and not made"):
        read_traces(DATA / "ecommerce.evalset.test.json")


def event(author, *parts, **fields):
    return {"author": author, "content": {"parts": list(parts)}, "timestamp": 1741218414, **fields}


def session(tmp_path, *events):
    (tmp_path / "s.json").write_text(json.dumps({"id": "s", "events": list(events)}))
    (trace,) = read_traces(tmp_path / "s.json")
    return trace


def test_camel_case_usage_thoughts_and_a_handoff(tmp_path):
    usage = {"promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 12}
    usage |= {"thoughtsTokenCount": 8, "totalTokenCount": 120}
    calls = [{"functionCall": {"id": i, "name": "look", "args": {"n": i}}} for i in ("a", "b")]
    trace = session(
        tmp_path,
        event("user", {"text": "q"}),
        event("main", {"text": "hm", "thought": True}, *calls, usageMetadata=usage),
        event(
            "main", {"functionResponse": {"id": "b", "name": "look", "response": {"error": "no"}}}
        ),
        event("main", {"functionResponse": {"id": "a", "name": "look", "response": {"ok": 1}}}),
        event("main", {"text": "partly"}, partial=True),
        event("main", {"text": "done"}, actions={"transferToAgent": "billing"}),
    )
    assert trace.output == "done"
    one, other = trace.tool_calls
    assert (one.tool_result, other.status.value) == ({"ok": 1}, "failure")
    assert one.parent_id == other.parent_id == trace.llm_calls[0].id  # parallel
    assert trace.llm_calls[0].tokens.total_tokens == 120
    assert [step.handoff_to for step in trace.steps if step.handoff_to] == ["billing"]
    assert [step.reasoning_text for step in trace.steps if step.reasoning_text] == ["hm"]


def test_results_without_ids_are_joined_by_name_in_order(tmp_path):
    call = {"function_call": {"name": "look", "args": {}}}
    back = [{"function_response": {"name": "look", "response": {"n": n}}} for n in (1, 2)]
    trace = session(
        tmp_path, event("user", {"text": "q"}), event("m", call, call), event("m", *back)
    )
    assert [step.tool_result["n"] for step in trace.tool_calls] == [1, 2]
    assert (trace.output, trace.metadata["ends_in"]) == (None, "result")


def test_a_session_without_events_is_named(tmp_path):
    file = tmp_path / "initial.session.json"
    file.write_text('{"id": "s", "app_name": "trip", "user_id": "u", "state": {}, "events": []}')
    with pytest.raises(TraceError, match="a session of Google ADK in which nothing ran"):
        read_traces(file)


@pytest.mark.parametrize("name", ["session", "events"])
def test_what_version_2_writes(name):
    """Two parallel calls; usage counts thoughts beside the output: 100 + 12 + 8, twice."""
    file = DATA / f"made-2.13-{name}.json"
    assert importer_of(file).name == "google_adk"
    (trace,) = read_traces(file)
    # A runner yields what the agent did, and not what it was asked.
    assert (trace.input, trace.output) == ({"session": QUESTION, "events": ""}[name], ANSWER)
    assert [call.tool_args for call in trace.tool_calls] == [{"of": "tea"}, {"of": "rum"}]
    assert [call.tool_result for call in trace.tool_calls] == [{"result": 2}, {"result": 3}]
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert [call.tokens.total_tokens for call in trace.llm_calls] == [120, 120]
    assert [call.tokens.reasoning_tokens for call in trace.llm_calls] == [8, 8]
    assert report(trace)["absent"] == ["costs"]
