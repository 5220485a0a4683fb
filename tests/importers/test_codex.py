"""Codex rollouts: recordings of versions 0.39 and 0.169, and single rules on small files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trialrun import read_traces
from trialrun.importers import importer_of
from trialrun.model.evidence import LLM_CALLS, TIMINGS, TOKENS
from trialrun.model.trace import StepStatus, StepType, TraceStatus

DATA = Path(__file__).parents[1] / "data" / "formats" / "codex"


def read(path):
    (trace,) = read_traces(path)
    return trace


@pytest.fixture
def rollout(tmp_path):
    """Reads lines that are given as (type, payload), a millisecond apart."""

    def of(*lines, meta=None):
        file = tmp_path / "rollout.jsonl"
        lines = [("session_meta", {"id": "own", "cwd": "/app", **(meta or {})}), *lines]
        rows = [
            {"timestamp": f"2026-01-02T03:00:00.{number:03}Z", "type": kind, "payload": payload}
            for number, (kind, payload) in enumerate(lines)
        ]
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return read(file)

    return of


def prompt(text):
    return "event_msg", {"type": "user_message", "message": text}


def said(text):
    content = [{"type": "output_text", "text": text}]
    return "response_item", {"type": "message", "role": "assistant", "content": content}


def call(key, name="exec_command", arguments="{}"):
    payload = {"type": "function_call", "name": name, "call_id": key, "arguments": arguments}
    return "response_item", payload


def output(key, text):
    return "response_item", {"type": "function_call_output", "call_id": key, "output": text}


def usage(total, last):
    sums = {"input_tokens": total, "output_tokens": 0, "total_tokens": total}
    one = {"input_tokens": last, "output_tokens": 0, "total_tokens": last}
    info = {"total_token_usage": sums, "last_token_usage": one}
    return "event_msg", {"type": "token_count", "info": info}


def test_usage_before_what_it_is_for():
    """Version 0.39 writes the usage of a call before its items."""
    trace = read(DATA / "vct-codex.jsonl")
    assert trace.tool_call_sequence == ["update_plan", "shell", "shell"]
    totals = [(step.model, step.tokens.total_tokens) for step in trace.llm_calls]
    assert totals == [("aide-gpt-5", 6455), ("aide-gpt-5", 6066), ("aide-gpt-5", 7460)]
    first = trace.llm_calls[0].tokens
    assert (first.prompt_tokens, first.cached_tokens) == (5645, 5504)
    assert (first.completion_tokens, first.reasoning_tokens) == (810, 640)
    assert trace.total_tokens == 19981
    assert [step.parent_id for step in trace.tool_calls] == [step.id for step in trace.llm_calls]
    assert trace.input.startswith("幫我檢查一下 go.mod 裡面 為何 go版本是 1.24?")
    assert trace.output.startswith("Reading `go.mod` and `.python-version`")


def test_the_exit_code_in_a_json_output():
    shell = read(DATA / "vct-codex.jsonl").tool_calls[1]
    assert shell.tool_args == {"command": ["bash", "-lc", "ls -la"]}
    assert shell.tool_result.startswith("total 124\n")
    assert shell.metadata == {"cwd": "/proj/ds906659/gai/claude-code", "exit_code": 0}


def test_a_rollout_of_0_169():
    """Made against a server that counts 100 + 20 tokens for each of two calls."""
    trace = read(DATA / "made-0.169.0.jsonl")
    assert trace.input == "How warm is it in Paris?"
    assert trace.output == "Paris has 21 degrees; the folder is missing."
    assert not [step for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    assert len(trace.llm_calls) == 2 and trace.total_tokens == 240
    tokens = trace.llm_calls[0].tokens
    assert (tokens.cached_tokens, tokens.reasoning_tokens) == (64, 8)
    echo, listing = trace.tool_calls
    assert (echo.tool_args, echo.status) == ({"cmd": "echo 21 degrees"}, StepStatus.SUCCESS)
    assert (listing.metadata["exit_code"], listing.status) == (2, StepStatus.FAILURE)
    assert echo.parent_id == listing.parent_id == trace.llm_calls[0].id
    thoughts = [step.reasoning_text for step in trace.steps if step.type is StepType.REASONING]
    assert thoughts == ["Two commands are needed."]
    assert trace.metadata["codex"] == "0.169.0" and trace.metadata["cwd"] == "/app"


def test_a_bare_rollout_of_2025(tmp_path):
    """Written after the description of the format: no recording with a licence was found."""
    lines = [
        {"id": "s", "timestamp": "2025-06-01T10:00:00Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        _message("user", "input_text", "<environment_context>\n</environment_context>"),
        _message("user", "input_text", "Which files?"),
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "List them."}]},
        {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{}"},
        {"type": "function_call", "name": "shell", "call_id": "c2", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": '{"output":"a.py\\n","metadata":{"exit_code":0}}',
        },
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": '{"output":"","metadata":{"exit_code":1}}',
        },
        _message("assistant", "output_text", "Only a.py."),
    ]
    file = tmp_path / "old.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert importer_of(file).name == "codex"
    trace = read(file)
    assert (trace.id, trace.input, trace.output) == ("s", "Which files?", "Only a.py.")
    assert [step.status.value for step in trace.tool_calls] == ["success", "failure"]
    assert len(trace.llm_calls) == 2  # the results end the first
    assert {step.parent_id for step in trace.tool_calls} == {trace.llm_calls[0].id}
    assert LLM_CALLS in trace.recorded and not {TOKENS, TIMINGS} & trace.recorded


def _message(role, kind, text):
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def test_a_sum_that_is_written_again_is_not_a_further_call(rollout):
    trace = rollout(prompt("Go"), said("a"), usage(10, 10), usage(10, 10), said("b"), usage(25, 15))
    assert [step.tokens.total_tokens for step in trace.llm_calls] == [10, 15]


def test_the_sum_has_what_an_interrupted_call_used(rollout):
    """The sum grew by 40, of which the last call used 15."""
    trace = rollout(prompt("Go"), said("a"), usage(10, 10), said("b"), usage(50, 15))
    assert trace.total_tokens == 50


def test_a_file_that_begins_in_the_middle_counts_its_own_calls(rollout):
    trace = rollout(prompt("Go"), said("a"), usage(1000, 10), said("b"), usage(1015, 15))
    assert trace.total_tokens == 25


def test_a_reply_without_usage_was_interrupted(rollout):
    trace = rollout(prompt("Go"), said("a"), usage(10, 10), call("c"))
    assert len(trace.llm_calls) == 1 and trace.total_tokens == 10
    assert trace.tool_calls[0].status is StepStatus.PENDING
    assert trace.metadata["imported"]["dropped"] == {
        "model call that was interrupted, without usage": 1
    }


ABORTED = ("event_msg", {"type": "turn_aborted", "reason": "interrupted"})


def test_a_turn_that_was_stopped_at_once_leaves_the_answer(rollout):
    trace = rollout(prompt("Go"), said("Done."), usage(9, 9), prompt("exit"), ABORTED)
    assert trace.output == "Done." and trace.status is TraceStatus.SUCCESS
    assert trace.metadata["interrupted"] == "the turn was interrupted"


def test_a_turn_that_was_stopped_in_the_middle_has_no_answer(rollout):
    trace = rollout(prompt("Go"), said("I begin."), usage(9, 9), ABORTED)
    assert trace.output is None and trace.status is TraceStatus.FAILURE
    assert trace.metadata["unfinished"] == "the turn was interrupted"


def test_the_answer_of_a_turn_is_not_given_to_the_next(rollout):
    trace = rollout(
        *(prompt("One"), said("1"), usage(9, 9)), prompt("Two"), ABORTED, prompt("Three"), said("3")
    )
    answered = [step.metadata.get("answered") for step in trace.steps if step.input]
    assert answered == ["1", None]
    assert trace.output == "3" and "interrupted" not in trace.metadata


def test_a_command_in_the_background_fails_later(rollout):
    ended = ("event_msg", {"type": "exec_command_end", "call_id": "c", "exit_code": 1})
    running = "Chunk ID: 1\nProcess running with session ID 7\nOriginal token count: 0\nOutput:\n"
    trace = rollout(prompt("Go"), call("c"), usage(9, 9), output("c", running), ended)
    assert trace.tool_calls[0].status is StepStatus.FAILURE
    assert trace.tool_calls[0].metadata["exit_code"] == 1


def test_an_exit_code_that_a_command_printed_is_not_its_own(rollout):
    text = "Process exited with code 0\nOutput:\nProcess exited with code 3\nOutput:\n"
    trace = rollout(prompt("Go"), call("c"), output("c", text), usage(9, 9))
    assert trace.tool_calls[0].metadata["exit_code"] == 0


def test_a_patch_that_was_not_applied_failed(rollout):
    patch = ("event_msg", {"type": "patch_apply_end", "call_id": "c", "success": False})
    trace = rollout(prompt("Go"), call("c", "apply_patch"), usage(9, 9), patch, output("c", "?"))
    assert trace.tool_calls[0].status is StepStatus.FAILURE


def test_the_folder_of_a_call_is_its_own_or_that_of_the_turn(rollout):
    turn = ("turn_context", {"cwd": "/app/src", "model": "m"})
    own = call("d", arguments='{"workdir": "/tmp"}')
    trace = rollout(prompt("Go"), turn, call("c"), own, usage(9, 9))
    assert [step.metadata["cwd"] for step in trace.tool_calls] == ["/app/src", "/tmp"]


def test_copied_history_of_a_fork_is_not_counted_again(rollout):
    """The lines after the header of the other session are its history, written again."""
    trace = rollout(
        ("session_meta", {"id": "other"}),
        ("event_msg", {"type": "task_started", "started_at": 1767322000}),
        *(prompt("Theirs"), said("Their answer"), usage(100, 100)),
        ("event_msg", {"type": "task_started", "started_at": 1767322805}),
        *(prompt("Ours"), said("Our answer"), usage(130, 30)),
        meta={"forked_from_id": "other", "timestamp": "2026-01-02T03:00:00.5Z"},
    )
    assert (trace.input, trace.output) == ("Ours", "Our answer")
    assert trace.total_tokens == 30 and len(trace.llm_calls) == 1
    assert trace.metadata["imported"]["dropped"] == {
        "line of the session that this one was forked from": 4
    }


def test_what_an_editor_adds_is_not_the_prompt(rollout):
    added = "# Context from my IDE setup:\n\n## My request for Codex:\n"
    assert rollout(prompt(f"{added}Fix it")).input == "Fix it"
    assert rollout(prompt(added)).input == added.strip()


def test_a_run_that_went_on_was_not_cut_off(rollout):
    begun = prompt("One"), said("I begin."), usage(9, 9), ABORTED
    trace = rollout(*begun, prompt("Two"), call("c"), usage(18, 9))
    assert "unfinished" not in trace.metadata and trace.status is TraceStatus.SUCCESS


def test_what_codex_has_added_is_not_a_prompt(rollout):
    added = {"type": "user_message", "kind": "environment_context", "message": "<cwd>/app</cwd>"}
    assert rollout(("event_msg", added), prompt("Go"), said("Done.")).input == "Go"
