"""Sessions of Copilot CLI: real ones of both forms, subagents and the sums at the end."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import LLM_CALLS, TOKENS
from trialrun.model.trace import StepStatus, StepType

DATA = Path(__file__).parents[1] / "data" / "formats" / "copilot-cli"


def read(path):
    (trace,) = read_traces(path)
    return trace


def session(tmp_path, *events):
    file = tmp_path / "events.jsonl"
    start = ("session.start", {"sessionId": "s", "selectedModel": "m", "context": {"cwd": "/app"}})
    rows = [{"type": kind, "data": data, **dict(*more)} for kind, data, *more in (start, *events)]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read(file)


ASKED = ("user.message", {"content": "Go"})


def said(key, text, **data):
    return "assistant.message", {"messageId": key, "content": text, **data}


def run(key, name="bash", **data):
    return "tool.execution_start", {"toolCallId": key, "toolName": name, "arguments": {}, **data}


def done(key, text, **data):
    result = {"toolCallId": key, "success": True, "result": {"content": text}, **data}
    return "tool.execution_complete", result


def test_calls_are_read_where_they_are_executed():
    """`glob` and `web_fetch` are in no message."""
    trace = read(DATA / "vct-copilot.jsonl")
    assert trace.tool_call_sequence == [
        *("report_intent", "view", "view", "web_search", "web_search", "view", "view"),
        *("bash", "web_search", "glob", "web_fetch"),
    ]
    assert len(trace.llm_calls) == 3
    assert trace.input.startswith("請不要修改任何代碼 我希望你幫我調查一下")
    first = trace.llm_calls[0]
    assert {step.parent_id for step in trace.tool_calls[:4]} == {first.id}
    assert first.model == "claude-sonnet-4.6"
    assert trace.metadata["copilot_cli"] == "1.0.34"


def test_without_the_sums_tokens_are_not_recorded():
    trace = read(DATA / "vct-copilot.jsonl")
    assert TOKENS not in trace.recorded and LLM_CALLS in trace.recorded
    assert all(step.metadata["output_tokens"] > 0 for step in trace.llm_calls)


def test_the_sums_are_put_on_the_last_reply(tmp_path):
    """Input includes what was read from and written to a cache."""
    usage = {"inputTokens": 90, "outputTokens": 7, "cacheReadTokens": 60, "cacheWriteTokens": 10}
    shutdown = ("session.shutdown", {"modelMetrics": {"m": {"usage": usage}}})
    replies = said("1", "a", outputTokens=3), said("2", "b", outputTokens=4)
    trace = session(tmp_path, ASKED, *replies, shutdown)
    first, last = (step.tokens for step in trace.llm_calls)
    assert (first.total_tokens, last.total_tokens) == (3, 94)
    assert (last.cached_tokens, last.cache_write_tokens) == (60, 10)
    assert trace.total_tokens == 97


def test_replies_after_the_sums_have_none(tmp_path):
    shutdown = (
        "session.shutdown",
        {"modelMetrics": {"m": {"usage": {"inputTokens": 9, "outputTokens": 1}}}},
    )
    trace = session(
        tmp_path, ASKED, said("1", "a"), shutdown, ("session.resume", {}), said("2", "b")
    )
    assert [step.tokens is None for step in trace.llm_calls] == [False, True]
    assert trace.total_tokens is None


def test_the_exit_code_decides(tmp_path):
    text = "no\n<shellId: 3 completed with exit code 2>"
    trace = session(tmp_path, ASKED, said("1", ""), run("c"), done("c", text))
    assert trace.tool_calls[0].status is StepStatus.FAILURE
    assert trace.tool_calls[0].metadata["exit_code"] == 2


def test_a_denied_call_failed(tmp_path):
    denied = done("c", "", success=False, result=None, error={"message": "Denied by hook"})
    trace = session(tmp_path, ASKED, said("1", ""), run("c"), denied)
    call = trace.tool_calls[0]
    assert (call.status, call.tool_result) == (StepStatus.FAILURE, "Denied by hook")


def test_a_subagent_belongs_to_the_call_that_started_it(tmp_path):
    inside = {"agentId": "t"}
    trace = session(
        tmp_path,
        *(ASKED, said("1", "I delegate."), run("t", "task")),
        ("subagent.started", {"toolCallId": "t", "agentName": "reviewer"}),
        ("user.message", {"content": "Review", "source": "agent-1"}, inside),
        (*said("2", "Found nothing.", parentToolCallId="t"), inside),
        (*run("v", "view", parentToolCallId="t"), inside),
        *(done("t", "Found nothing."), said("3", "All good.")),
    )
    task, view = trace.tool_calls
    reply = trace.llm_calls[1]
    assert reply.parent_id == view.parent_id == task.id
    assert reply.metadata["agent"] == view.metadata["agent"] == "reviewer"
    assert trace.output == "All good."
    assert not [step for step in trace.steps if step.type is StepType.HUMAN_INPUT]


def test_a_message_of_the_system_is_not_a_prompt(tmp_path):
    system = ("user.message", {"content": "<system_reminder>", "source": "system"})
    assert session(tmp_path, system, ASKED, said("1", "a")).input == "Go"


def test_the_old_timeline():
    trace = read(DATA / "vct-copilot-old-form.json")
    editor = "str_replace_editor"
    assert trace.tool_call_sequence == [
        *(editor, editor, "github-mcp-server-web_search"),
        *[editor] * 7,
        *["bash"] * 4,
    ]
    assert trace.input.startswith("## 任務：")
    assert trace.output.startswith("Excellent! All tasks completed successfully.")
    bash = trace.tool_calls[-4]
    assert bash.tool_args["sessionId"] == "main" and bash.metadata["exit_code"] == 0
    assert not {LLM_CALLS, TOKENS} & trace.recorded


def test_the_text_of_a_subagent_is_not_an_answer(tmp_path):
    inside = (*said("2", "Found nothing.", parentToolCallId="t"), {"agentId": "t"})
    trace = session(tmp_path, ASKED, said("1", "I delegate."), run("t", "task"), inside)
    assert trace.output == "I delegate."


def test_a_session_without_its_beginning(tmp_path):
    file = tmp_path / "events.jsonl"
    rows = [{"type": kind, "data": data} for kind, data in (ASKED, said("1", "Done."))]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert read(file).output == "Done."


def test_requests_of_a_model_without_a_message_count_too(tmp_path):
    used = {
        "m": {"usage": {"inputTokens": 9, "outputTokens": 2}},
        "hidden": {"usage": {"inputTokens": 90_000, "outputTokens": 2000, "cacheReadTokens": 5}},
        "unused": {"usage": {"inputTokens": 0, "outputTokens": 0}},
    }
    shutdown = ("session.shutdown", {"modelMetrics": used})
    # The sums are those since the start: the second shutdown says nothing new.
    trace = session(tmp_path, ASKED, said("1", "a"), shutdown, shutdown)
    shown, hidden = trace.llm_calls
    assert (shown.tokens.total_tokens, hidden.tokens.total_tokens) == (11, 92_000)
    assert hidden.model == "hidden" and hidden.metadata == {"not_listed": True}
    assert trace.output == "a" and trace.total_tokens == 92_011
