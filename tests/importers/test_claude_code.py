"""Sessions of Claude Code: real ones, and malformed lines."""

from __future__ import annotations

import shutil
from datetime import UTC

import pytest

from tests.importers.claude_rows import (
    DATA,
    FORMATS,
    SESSION,
    assistant,
    lines,
    prompts,
    read,
    result,
    text,
    use,
    user,
)
from trialrun import TraceError, read_traces
from trialrun.importers import importer_of, scan
from trialrun.model.trace import StepStatus, TraceStatus


def test_a_folder_of_real_sessions():
    traces = {trace.name: trace for trace in read_traces(DATA)}
    assert set(traces) == {
        "Spawn curry poem agents, write sushi",
        "edit-tool-variants",
        "read-tool-variants",
    }
    edits = traces["edit-tool-variants"]
    assert edits.tool_call_sequence == ["Edit"] * 4
    assert all(step.status is StepStatus.SUCCESS for step in edits.tool_calls)
    assert edits.input.startswith("Please perform the following file edit operations")


def test_steps_of_subagents_are_part_of_the_run():
    (trace,) = read_traces(SESSION)
    searches = [step for step in trace.tool_calls if step.tool_name == "WebSearch"]
    assert len(searches) == 5  # one in each of the five files beside it
    tasks = {step.id for step in trace.tool_calls if step.tool_name == "Task"}
    assert {step.parent_id for step in searches} <= tasks
    moments = [step.timestamp for step in trace.steps]
    assert moments == sorted(moments)


def test_usage_repeated_over_lines_is_counted_once(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        assistant(
            text("one"),
            usage={"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 100},
        ),
        assistant(
            use("Bash", {"command": "ls"}),
            usage={"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": 100},
        ),
        result("a"),
        assistant(text("two"), request="r2", usage={"input_tokens": 7, "output_tokens": 3}),
    )
    assert [step.tokens.total_tokens for step in trace.llm_calls] == [114, 10]
    assert trace.output == "two"


def test_the_largest_usage_of_a_request_counts_and_cached_tokens_are_beside_the_input(tmp_path):
    usage = {"input_tokens": 200, "cache_read_input_tokens": 100, "output_tokens": 9}
    trace = read(
        tmp_path,
        user("hi"),
        assistant(text("one"), usage=usage),
        assistant(text("two"), usage={**usage, "output_tokens": 1}),
    )
    assert trace.total_tokens == 309


def test_a_tool_that_the_provider_runs_is_a_call(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        assistant({**use("advisor", {}), "type": "server_tool_use"}),
        assistant({"type": "advisor_tool_result", "tool_use_id": "u1", "content": "do it"}),
    )
    (call,) = trace.tool_calls
    assert (call.tool_name, call.tool_result) == ("advisor", "do it")


def test_turns_results_and_failures(tmp_path):
    trace = read(
        tmp_path,
        "// a comment",
        user("first"),
        assistant(use("Bash", {"command": "false"})),
        result("Exit code 1", is_error=True),
        assistant(text("done"), request="r2"),
        user("second"),
        user("<command-name>/x</command-name>"),
        user("meta", isMeta=True),
        assistant(use("Read", {"file_path": "a"}, "u2"), request="r3"),
    )
    assert trace.input == "first"
    bash, pending = trace.tool_calls
    assert (bash.status, bash.tool_result) == (StepStatus.FAILURE, "Exit code 1")
    assert pending.status is StepStatus.PENDING
    assert [turn.input for turn in trace.turns()] == ["first", "second"]


def test_synthetic_messages_do_not_count_as_model_calls(tmp_path):
    value = assistant(text("API Error"))
    value["message"]["model"] = "<synthetic>"
    trace = read(tmp_path, user("hi"), value)
    assert trace.llm_calls == [] and trace.output is None


def test_a_line_that_cannot_be_read_is_named_and_the_rest_is_read(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(lines(user("hi"), '{"type": "assistant", ', assistant(text("done"))))
    traces, problems, _ = scan(file)
    assert [trace.output for trace in traces] == ["done"]
    assert [problem.line for problem in problems] == [2]
    with pytest.raises(TraceError, match=r"s\.jsonl:2"):
        read_traces(file)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "assistant", "uuid": "x", "message": None},
        {"type": "assistant", "uuid": "x", "message": {"content": 3}},
        {
            "type": "assistant",
            "uuid": "x",
            "message": {"content": [3, {"type": "tool_use", "name": None}]},
        },
        {"type": "user", "uuid": "x", "message": {"content": [{"type": "tool_result"}]}},
        {
            "type": "assistant",
            "uuid": "x",
            "timestamp": "yesterday",
            "message": {"content": [], "usage": {"input_tokens": -1}},
        },
        {"type": "summary", "summary": 3, "leafUuid": "x"},
        [1],
        3,
    ],
)
def test_lines_of_any_shape_do_not_crash(tmp_path, value):
    read(tmp_path, user("hi"), value, assistant(text("done"), request="r9"))


def test_a_sidechain_in_the_same_file(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        assistant(use("Grep", {"pattern": "x"}), isSidechain=True, agentId="a1"),
        assistant(text("done"), request="r2"),
    )
    assert trace.tool_call_sequence == ["Grep"]
    assert trace.tool_calls[0].metadata["subagent"] == "a1"


def test_a_subagents_file_alone_is_read_too(tmp_path):
    part = next((DATA / SESSION.stem / "subagents").glob("*.jsonl"))
    shutil.copy(part, tmp_path / part.name)
    (trace,) = read_traces(tmp_path)
    assert trace.tool_call_sequence == ["WebSearch"]


def test_native_traces_are_not_recognised_as_sessions(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"input": "q", "output": "a", "steps": []}\n')
    assert read_traces(file)[0].framework is None


# Real sessions, counted by hand.


def test_a_session_with_the_rows_of_a_subagent_in_progress_rows():
    (trace,) = read_traces(FORMATS / "subagent.jsonl.gz")
    own = [step for step in trace.tool_calls if "subagent" not in step.metadata]
    parts = [step for step in trace.tool_calls if "subagent" in step.metadata]
    assert (len(own), len(parts)) == (16, 9)
    task = next(step for step in own if step.tool_name == "Task")
    assert {step.parent_id for step in parts} == {task.id}
    assert {step.metadata["agent"] for step in parts} == {"Plan"}
    assert [step.tool_name for step in parts[:3]] == ["Read", "Read", "Bash"]
    assert [step.status.value for step in parts] == ["failure"] * 3 + ["success"] * 6
    assert len(trace.llm_calls) == 12 + 5
    assert trace.input.startswith("/handgemacht:create-beads ")
    assert prompts(trace)[1:] == ["create the beads"]
    assert trace.output.startswith("## Beads Created")
    assert {step.metadata["cwd"] for step in trace.tool_calls} == {"/home/marco/projects/spotter"}


def test_a_session_that_ends_in_an_interruption_has_no_answer():
    (trace,) = read_traces(FORMATS / "tool-heavy.jsonl.gz")
    assert trace.tool_call_sequence == ["Bash", "Bash", "WebSearch", "Glob", "Read", "WebFetch"]
    assert len(trace.llm_calls) == 4
    assert trace.input == "start phoenix in background" and len(prompts(trace)) == 2
    assert trace.output is None and trace.status is TraceStatus.FAILURE
    assert trace.metadata["unfinished"] == "interrupted by the user"
    assert "answer" not in trace.recorded


def test_recorded_costs_and_a_subagent_in_a_file_beside():
    (trace,) = read_traces(FORMATS / "costs.jsonl")
    assert trace.tool_call_sequence == ["Bash", "Bash", "Agent", "Bash"]
    assert [step.metadata.get("exit_code") for step in trace.tool_calls] == [None, 3, None, None]
    assert [step.status.value for step in trace.tool_calls][:2] == ["success", "failure"]
    # Five requests of 36 new, 64 read, 10 written and 20 output tokens.
    assert len(trace.llm_calls) == 5 and trace.total_tokens == 5 * 130
    assert trace.total_cost_usd == pytest.approx(0.0007745)
    assert "costs" in trace.recorded
    assert trace.output == "All is done: 4."
    part = trace.tool_calls[3]
    assert part.parent_id == trace.tool_calls[2].id
    assert part.metadata == {
        "agent": "general-purpose",
        "subagent": "a47e7d9c00f58840a",
        "cwd": "/home/user/app",
    }


def test_parallel_calls_belong_to_their_reply():
    (trace,) = read_traces(FORMATS / "costs.jsonl")
    reply = trace.llm_calls[0]
    assert [step.parent_id for step in trace.tool_calls[:3]] == [reply.id] * 3


def test_a_folder_with_a_subagents_folder_is_one_session():
    traces, problems, notes = scan(FORMATS)
    assert len(traces) == 3 and not problems and not notes


def test_a_prompt_that_was_never_answered_and_left_is_not_part_of_the_run():
    (trace,) = read_traces(SESSION)
    assert "are they still being written?" not in prompts(trace)
    assert trace.metadata["imported"]["dropped"] == {"rewound prompt": 1}
    assert trace.output.startswith("Done! Your session")
    assert prompts(trace)[1:] == [
        "/publish-session",
        "/publish-session",
        "why won't you run it?",
    ]


# Rows of every kind.


@pytest.mark.parametrize(
    "first",
    [
        {"type": "last-prompt", "lastPrompt": "hi", "leafUuid": "1", "sessionId": "s"},
        {"type": "mode", "mode": "normal", "sessionId": "s"},
        {"type": "permission-mode", "permissionMode": "auto", "sessionId": "s"},
        {"type": "ai-title", "aiTitle": "A title", "sessionId": "s"},
        {"type": "agent-setting", "agentSetting": "x", "sessionId": "s"},
        {"type": "api-request", "id": "1", "sessionId": "s"},
        {"type": "api-request-blob", "hash": "1", "sessionId": "s", "message": {"role": "user"}},
        {"type": "cost-state", "totalCostUSD": 1, "sessionId": "s"},
        {"type": "attachment", "uuid": "1", "attachment": {"type": "date"}, "sessionId": "s"},
        {"type": "some-later-kind", "sessionId": "s"},
        {"type": "file-history-delta", "messageId": "m"},
    ],
)
def test_a_session_is_recognised_whatever_its_first_row(tmp_path, first):
    trace = read(tmp_path, first, user("hi"), assistant(text("done")))
    assert importer_of(tmp_path / "s.jsonl").name == "claude_code"
    assert (trace.input, trace.output, len(trace.steps)) == ("hi", "done", 1)


def test_a_message_over_several_lines_is_whole(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        assistant(text("All 12 tests pass.")),
        assistant({"type": "thinking", "thinking": "hm"}),
        assistant(text("Anything else?")),
        user("thanks"),
        assistant(text("You're"), request="r2"),
        assistant(text("welcome"), request="r2"),
    )
    assert trace.output == "You're\nwelcome"
    assert [turn.output for turn in trace.turns()] == [
        "All 12 tests pass.\nAnything else?",
        "You're\nwelcome",
    ]


def test_requests_without_an_id_are_told_apart_by_other_ids(tmp_path):
    rows = [assistant(text(words), request=None) for words in "abcd"]
    rows[0]["requestRef"] = rows[1]["requestRef"] = "1"
    rows[2]["message"]["id"] = rows[3]["message"]["id"] = "m"
    trace = read(tmp_path, user("hi"), *rows)
    assert [step.output for step in trace.llm_calls] == ["a\nb", "c\nd"]
    assert trace.total_tokens == 14


def test_the_order_of_the_file_decides_where_the_clock_goes_back(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        assistant(use("Bash", {"command": "pytest"}), moment="2026-01-01T10:00:00Z"),
        assistant(use("Edit", {}, "u2"), request="r2", moment="2026-01-01T09:00:00Z"),
        # Later as a time, earlier as a text.
        assistant(use("Read", {}, "u3"), request="r3", moment="2026-01-01T05:30:00-05:00"),
    )
    assert trace.tool_call_sequence == ["Bash", "Edit", "Read"]
    times = [step.timestamp.astimezone(UTC).hour for step in trace.tool_calls]
    assert times == [10, 9, 10]


@pytest.mark.parametrize("bad_first", [True, False])
def test_a_second_result_does_not_hide_a_failure(tmp_path, bad_first):
    outcomes = [("Exit code 1\nfailed", True), ("12 passed", False)]
    trace = read(
        tmp_path,
        user("hi"),
        assistant(use("Bash", {"command": "pytest"})),
        *(result(words, is_error=bad) for words, bad in outcomes[:: 1 if bad_first else -1]),
        assistant(text("done"), request="r2"),
    )
    (call,) = trace.tool_calls
    assert (call.status, call.tool_result) == (StepStatus.FAILURE, "Exit code 1\nfailed")
    assert trace.metadata["imported"]["dropped"] == {"second, different result of a call": 1}


def test_a_result_before_its_call_is_the_calls(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        result("found"),
        result("of nothing", "u9"),
        assistant(use("Grep", {})),
        assistant(text("done"), request="r2"),
    )
    (call,) = trace.tool_calls
    assert (call.status, call.tool_result) == (StepStatus.SUCCESS, "found")
    assert trace.metadata["imported"]["dropped"] == {"result without a call": 1}


def test_text_beside_a_result_is_a_prompt_and_a_picture_is_not(tmp_path):
    row = result("no", is_error=True)
    row["message"]["content"] += [text("use the other file"), {"type": "image"}]
    trace = read(tmp_path, user("hi"), assistant(use("Read", {})), row)
    assert prompts(trace) == ["hi", "use the other file"]
    row["message"]["content"][1:] = [{"type": "image"}]
    assert prompts(read(tmp_path, user("hi"), assistant(use("Read", {})), row)) == ["hi"]


def test_the_same_result_twice_is_one(tmp_path):
    trace = read(tmp_path, user("hi"), assistant(use("Bash", {})), result("a"), result("a"))
    assert trace.metadata["imported"]["repeated"] == {"tool result": 1}
    assert trace.tool_calls[0].status is StepStatus.SUCCESS


@pytest.mark.parametrize(
    ("content", "details", "is_error", "status", "code"),
    [
        ("Exit code 2\nno", "Error: Exit code 2\nno", True, "failure", 2),
        ("Exit code 2 is what it printed", {"stdout": ""}, False, "success", None),
        ("", {"stdout": "", "interrupted": True}, False, "failure", None),
        ("", {"interrupted": True, "exitCode": 0}, False, "failure", None),
        ("x", {"exitCode": 1}, False, "failure", 1),
        ("x", {"exitCode": 0}, False, "success", 0),
        ("page", {"code": 404}, False, "success", None),  # of the web, not of a command
    ],
)
def test_the_outcome_of_a_call(tmp_path, content, details, is_error, status, code):
    row = result(content, is_error=is_error)
    trace = read(
        tmp_path, user("hi"), assistant(use("Bash", {})), {**row, "toolUseResult": details}
    )
    (call,) = trace.tool_calls
    assert (call.status.value, call.metadata.get("exit_code")) == (status, code)


def queued(prompt, **fields):
    added = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt", **fields}
    return {"type": "attachment", "sessionId": "s", "attachment": added}


@pytest.mark.parametrize(
    "row",
    [
        user("Stop hook feedback:\ntests fail"),
        user("Base directory for this skill: /x", isMeta=True),
        user("This session is being continued", isCompactSummary=True),
        user("<local-command-stdout>ok</local-command-stdout>"),
        user("<command-name>/clear</command-name>\n<command-message>clear</command-message>"),
        user("<bash-input>ls</bash-input>"),
        user("/compact keep the plan"),
        user("for the transcript", isVisibleInTranscriptOnly=True),
        user("<task-notification>\n<task-id>x</task-id></task-notification>"),
        user("<system-reminder>\nnote\n</system-reminder>"),
        user("It ended", origin={"kind": "task-notification"}),
        user("[Request interrupted by user for tool use]"),
        user("[Request interrupted by user]"),
        queued("<task-notification>x</task-notification>"),
        queued("x", commandMode="task-notification"),
        queued("x", origin={"kind": "channel"}),
        {"type": "system", "subtype": "compact_boundary", "uuid": "c", "sessionId": "s"},
        {"type": "attachment", "sessionId": "s", "attachment": "x"},
        {"type": "queue-operation", "operation": "enqueue", "content": "x", "sessionId": "s"},
    ],
)
def test_rows_of_the_program_are_not_prompts(tmp_path, row):
    trace = read(tmp_path, user("hi"), row, assistant(text("done")))
    assert prompts(trace) == ["hi"] and trace.output == "done"


@pytest.mark.parametrize(
    ("row", "prompt"),
    [
        (
            user(
                "<command-message>ship</command-message>\n<command-name>/ship</command-name>\n"
                "<command-args>for main</command-args>"
            ),
            "/ship for main",
        ),
        (queued("and the docs"), "and the docs"),
        (queued([{"type": "text", "text": "see this"}]), "see this"),
        (user([text("<ide_opened_file>a.py</ide_opened_file>"), text("fix it")]), "fix it"),
        (user("<system-reminder>\na\n</system-reminder>\n\nfix it"), "fix it"),
        (user([{"type": "image", "source": {}}]), "[image]"),
    ],
)
def test_what_the_user_asked_for(tmp_path, row, prompt):
    assert read(tmp_path, row, assistant(text("done"))).input == prompt
    trace = read(tmp_path, user("hi"), assistant(text("a")), row, assistant(text("b"), request="2"))
    assert prompts(trace) == ["hi", prompt]
    assert [turn.output for turn in trace.turns()] == ["a", "b"]
