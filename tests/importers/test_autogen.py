"""Histories of AutoGen and AG2."""

from __future__ import annotations

from tests.importers.recordings import FORMATS, read, read_value, report
from tests.scripted_models import ANSWER, QUESTION
from trialrun.importers import importer_of
from trialrun.model.evidence import EVIDENCE
from trialrun.model.trace import StepType


def test_a_history_of_texts_claims_nothing_but_its_answer():
    trace = read("autogen/captain-agent-1.json")
    assert trace.input.startswith("This spreadsheet contains a list of clients")
    assert trace.output == "TERMINATE"
    assert set(report(trace)["absent"]) == EVIDENCE - {"answer"}
    agents = [step.metadata.get("agent") for step in trace.llm_calls]
    assert agents == ["BusinessLogic_Expert", *["DataVerification_Expert"] * 2]


def test_code_that_was_executed_has_its_exit_code():
    first, second = read("autogen/captain-agent-1.json").tool_calls
    assert first.metadata["exit_code"] == second.metadata["exit_code"] == 0
    assert first.tool_args["code"].startswith("import pandas as pd")
    assert second.tool_result == "4\n"


def test_a_team_with_an_orchestrator_has_handoffs(tmp_path):
    history = [
        {"role": "human", "content": "Q"},
        {"role": "Orchestrator (thought)", "content": "Plan"},
        {"role": "Orchestrator (-> Surfer)", "content": "Look"},
        {"role": "Surfer", "content": "Found"},
        {"role": "Orchestrator (termination condition)", "content": "limit"},
    ]
    (trace,) = read_value(tmp_path, {"history": history, "question": "Q"})
    kinds = [step.type for step in trace.steps]
    assert kinds == [StepType.REASONING, StepType.HANDOFF, StepType.LLM_CALL]
    assert trace.steps[1].handoff_to == "Surfer"
    assert (trace.input, trace.output) == ("Q", "Found")


def test_a_result_of_agentchat_has_calls_results_and_tokens(tmp_path):
    def message(source, kind, content, usage=None):
        return {"source": source, "type": kind, "content": content, "models_usage": usage}

    used = {"prompt_tokens": 90, "completion_tokens": 10}
    messages = [
        message("user", "TextMessage", "Q"),
        message(
            "a", "ToolCallRequestEvent", [{"id": "1", "name": "f", "arguments": '{"x": 1}'}], used
        ),
        message("a", "ToolCallExecutionEvent", [{"call_id": "1", "content": "r", "name": "f"}]),
        message("a", "TextMessage", "A", used),
    ]
    (trace,) = read_value(tmp_path, {"messages": messages, "stop_reason": "done"})
    assert [reply.tokens.total_tokens for reply in trace.llm_calls] == [100, 100]
    (call,) = trace.tool_calls
    assert (call.tool_args, call.tool_result, call.metadata["agent"]) == ({"x": 1}, "r", "a")
    assert (trace.input, trace.output) == ("Q", "A")


def test_a_task_result_of_agentchat():
    """Made by AutoGen 0.7.5: two parallel calls, and a reflection on their results."""
    trace = read("autogen/made-0.7.5.json")
    assert importer_of(FORMATS / "autogen/made-0.7.5.json").name == "autogen"
    assert (trace.input, trace.output) == (QUESTION, ANSWER)
    assert [(call.tool_args, call.tool_result) for call in trace.tool_calls] == [
        ({"of": "tea"}, "2"),
        ({"of": "rum"}, "3"),
    ]
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert [call.tokens.total_tokens for call in trace.llm_calls] == [120, 120]
    assert report(trace)["absent"] == ["costs"]
