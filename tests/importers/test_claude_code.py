"""Sessions of Claude Code: real ones, and malformed lines."""

from __future__ import annotations

import json
import shutil
from datetime import UTC
from pathlib import Path

import pytest

from trialrun import TraceError, read_traces
from trialrun.importers import importer_of, scan
from trialrun.model.trace import StepStatus, StepType, TraceStatus

DATA = Path(__file__).parents[1] / "data" / "claude-code"
FORMATS = DATA.parent / "formats" / "claude-code"
SESSION = DATA / "0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl"


def lines(*values):
    return "".join(
        (value if isinstance(value, str) else json.dumps(value)) + "\n" for value in values
    )


def user(content, **fields):
    return {
        "type": "user",
        "sessionId": "s",
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": content},
        **fields,
    }


def assistant(*blocks, request="r1", usage=None, moment="2026-01-01T00:00:01Z", **fields):
    message = {
        "role": "assistant",
        "model": "claude-x",
        "content": list(blocks),
        "usage": usage or {"input_tokens": 5, "output_tokens": 2},
    }
    return {
        "type": "assistant",
        "sessionId": "s",
        "requestId": request,
        "timestamp": moment,
        "message": message,
        **fields,
    }


def text(words):
    return {"type": "text", "text": words}


def use(name, arguments, key="u1"):
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def result(content, key="u1", **fields):
    return user([{"type": "tool_result", "tool_use_id": key, "content": content, **fields}])


def read(tmp_path, *values):
    file = tmp_path / "s.jsonl"
    file.write_text(lines(*values))
    (trace,) = read_traces(file)
    return trace


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


def prompts(trace):
    return [trace.input, *(s.input for s in trace.steps if s.type is StepType.HUMAN_INPUT)]


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


def test_subagents_are_placed_by_time_and_not_by_text(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(
        lines(
            user("hi"),
            assistant(use("Task", {"prompt": "go"}), moment="2026-01-01T10:00:00Z"),
            assistant(use("Edit", {}, "u2"), request="r2", moment="2026-01-01T10:02:00Z"),
        )
    )
    part = tmp_path / "s" / "subagents" / "agent-x.jsonl"
    part.parent.mkdir(parents=True)
    part.write_text(
        lines(assistant(use("Grep", {}, "u3"), request="r3", moment="2026-01-01T12:01:00+02:00"))
    )
    (trace,) = read_traces(tmp_path)
    assert trace.tool_call_sequence == ["Task", "Grep", "Edit"]


def test_a_file_of_a_subagent_does_not_change_the_order_of_the_session(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(
        lines(
            user("hi"),
            assistant(use("Bash", {}), moment="2026-01-01T10:00:00Z"),
            assistant(use("Edit", {}, "u2"), request="r2", moment="2026-01-01T09:00:00Z"),
        )
    )
    part = tmp_path / "s" / "subagents" / "agent-x.jsonl"
    part.parent.mkdir(parents=True)
    part.write_text(
        lines(assistant(use("Grep", {}, "u3"), request="r3", moment="2026-01-01T11:00:00Z"))
    )
    part.with_name("agent-x.meta.json").write_text('{"toolUseId": "u1", "agentType": "Explore"}')
    (trace,) = read_traces(tmp_path)
    assert trace.tool_call_sequence == ["Bash", "Edit", "Grep"]
    bash, _, grep = trace.tool_calls
    assert grep.parent_id == bash.id and grep.metadata["agent"] == "Explore"


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


# Branches.


def at(row, key, parent):
    return {**row, "uuid": key, "parentUuid": parent}


def test_what_the_user_went_back_from_is_not_part_of_the_run(tmp_path):
    trace = read(
        tmp_path,
        at(user("hi"), "1", None),
        at(assistant(text("hello")), "2", "1"),
        at({"type": "system", "subtype": "turn_duration", "sessionId": "s"}, "3", "2"),
        at(user("delete it"), "4", "3"),
        at(assistant(use("Bash", {"command": "rm a"}), request="r2"), "5", "4"),
        at(result("ok"), "6", "5"),
        at(assistant(text("deleted"), request="r3"), "7", "6"),
        at(user("keep it"), "8", "2"),
        at(assistant(text("kept"), request="r4"), "9", "8"),
    )
    assert prompts(trace) == ["hi", "keep it"]
    assert trace.tool_calls == [] and len(trace.llm_calls) == 2
    assert [turn.output for turn in trace.turns()] == ["hello", "kept"]
    assert trace.metadata["imported"]["dropped"] == {
        "rewound prompt": 1,
        "rewound tool call": 1,
        "rewound model call": 2,
    }


def test_the_first_prompt_can_be_rewound(tmp_path):
    start = {"type": "attachment", "sessionId": "s", "attachment": {"type": "hook_success"}}
    trace = read(
        tmp_path,
        at(start, "0", None),
        at(user("wrong"), "1", "0"),
        at(assistant(text("a")), "2", "1"),
        at(user("right"), "3", "0"),
        at(assistant(text("b"), request="r2"), "4", "3"),
    )
    assert prompts(trace) == ["right"] and trace.output == "b"


def test_parallel_calls_and_a_cleared_context_are_not_rewound(tmp_path):
    trace = read(
        tmp_path,
        at(user("hi"), "1", None),
        at(assistant(use("Read", {}, "u1")), "2", "1"),
        at(assistant(use("Grep", {}, "u2")), "3", "2"),
        at(result("b", "u2"), "4", "3"),
        at(result("a", "u1"), "5", "2"),
        at(assistant(text("done"), request="r2"), "6", "5"),
        at(user("Implement the plan"), "7", None),
        at(assistant(text("did it"), request="r3"), "8", "7"),
    )
    assert trace.tool_call_sequence == ["Read", "Grep"]
    assert prompts(trace) == ["hi", "Implement the plan"]
    assert "dropped" not in trace.metadata["imported"]


def two_answers_to(place, start=3):
    """A prompt and its answer, twice in the same place; the second one was kept."""
    return [
        at(user("first try"), f"{start}", place),
        at(assistant(text("a"), request="a"), f"{start}a", f"{start}"),
        at(user("second try"), f"{start}b", place),
        at(assistant(text("b"), request="b"), f"{start}c", f"{start}b"),
    ]


def begun():
    return at(user("hi"), "1", None), at(assistant(text("hello")), "2", "1")


def test_a_rewind_before_a_compaction_is_found(tmp_path):
    boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": "s"}
    trace = read(
        tmp_path,
        *begun(),
        *two_answers_to("2"),
        {**at(boundary, "8", None), "logicalParentUuid": "3c"},
        at(user("The summary", isCompactSummary=True), "9", "8"),
        at(assistant(text("c"), request="c"), "10", "9"),
    )
    assert prompts(trace) == ["hi", "second try"] and trace.output == "c"


def test_a_rewind_is_found_where_a_subagent_ends_last(tmp_path):
    part = assistant(text("found"), request="p", isSidechain=True, agentId="a")
    trace = read(tmp_path, *begun(), *two_answers_to("2"), at(part, "9", None))
    assert prompts(trace) == ["hi", "second try"] and trace.output == "b"


def test_where_the_end_cannot_be_traced_back_nothing_is_dropped(tmp_path):
    trace = read(
        tmp_path,
        *begun(),
        *two_answers_to("2"),
        at(assistant(text("c"), request="c"), "9", "a row that is not in the file"),
    )
    assert prompts(trace) == ["hi", "first try", "second try"]


def test_a_prompt_that_was_left_at_the_end_does_not_undo_the_work_before(tmp_path):
    trace = read(
        tmp_path,
        *begun(),
        at(user("do it"), "3", "2"),
        at(assistant(text("did it"), request="r2"), "4", "3"),
        at(user("and?"), "5", "2"),
        at(user("[Request interrupted by user]"), "6", "5"),
    )
    assert prompts(trace) == ["hi", "do it"] and trace.llm_calls[-1].output == "did it"


def test_results_of_one_row_are_not_rivals(tmp_path):
    trace = read(
        tmp_path,
        at(user("hi"), "1", None),
        at(assistant(use("Read", {}, "u1"), use("Grep", {}, "u2")), "2", "1"),
        at(result("a", "u1"), "3", "2"),
        at(result("b", "u2"), "4", "2"),
        at(assistant(text("done"), request="r2"), "5", "4"),
    )
    assert [step.tool_result for step in trace.tool_calls] == ["a", "b"]


def test_rows_in_a_circle_end(tmp_path):
    trace = read(
        tmp_path,
        at(user("hi"), "1", "3"),
        at({"type": "system", "sessionId": "s"}, "3", "3"),
        at(user("again"), "2", "3"),
        at(assistant(text("done")), "4", "2"),
    )
    assert trace.output == "done"


# Ends.


def test_a_session_that_ends_in_a_call_says_so(tmp_path):
    trace = read(tmp_path, user("hi"), assistant(text("I look")), assistant(use("Read", {})))
    assert trace.metadata["ends_in"] == "call"
    trace = read(tmp_path, user("hi"), assistant(use("Read", {})), result("a"))
    assert trace.metadata["ends_in"] == "result"
    assert read(tmp_path, user("hi")).metadata["ends_in"] == "prompt"


def test_a_subagent_that_ends_later_is_not_the_end(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        assistant(text("done")),
        assistant(use("Read", {}), request="r2", isSidechain=True, agentId="a"),
    )
    assert trace.output == "done" and "ends_in" not in trace.metadata
    part = assistant(text("of the subagent"), request="r2", isSidechain=True, agentId="a")
    assert read(tmp_path, user("hi"), assistant(text("done")), part).output == "done"


def test_an_error_of_the_api_at_the_end_is_no_answer(tmp_path):
    failed = assistant(text("You've hit your session limit"), isApiErrorMessage=True)
    failed["message"]["model"] = "<synthetic>"
    trace = read(tmp_path, user("hi"), assistant(text("I look")), failed)
    assert trace.output is None
    assert trace.metadata["unfinished"] == "You've hit your session limit"
    trace = read(tmp_path, user("hi"), failed, user("go on"), assistant(text("done")))
    assert trace.output == "done" and "unfinished" not in trace.metadata


def test_a_limit_of_turns_is_no_answer(tmp_path):
    end = {"type": "attachment", "sessionId": "s", "attachment": {"type": "max_turns_reached"}}
    trace = read(tmp_path, user("hi"), assistant(text("I look")), end)
    assert trace.output is None and "turns" in trace.metadata["unfinished"]


def test_an_interruption_that_was_followed_by_work_is_not_the_end(tmp_path):
    trace = read(
        tmp_path,
        user("hi"),
        user("[Request interrupted by user]"),
        user("go on"),
        assistant(text("done")),
    )
    assert trace.output == "done" and "unfinished" not in trace.metadata
    trace = read(tmp_path, user("hi"), user("[Request interrupted by user]"), user("go on"))
    assert trace.metadata["ends_in"] == "prompt" and "unfinished" not in trace.metadata


# Costs.


def cost_state(cost, model="claude-x", **fields):
    usage = {"inputTokens": 10, "outputTokens": 4, "costUSD": cost}
    return {"type": "cost-state", "sessionId": "s", "modelUsage": {model: usage}, **fields}


def two_calls():
    return user("hi"), assistant(text("a")), assistant(text("b"), request="r2")


def test_the_last_recorded_costs_count(tmp_path):
    trace = read(tmp_path, *two_calls(), cost_state(0.1), cost_state(0.3))
    assert trace.total_cost_usd == pytest.approx(0.3)
    assert [step.cost_usd for step in trace.llm_calls] == [pytest.approx(0.15)] * 2


def test_costs_of_requests_without_rows_count_too(tmp_path):
    state = cost_state(0.3)
    state["modelUsage"]["claude-title"] = {"inputTokens": 5, "outputTokens": 1, "costUSD": 0.02}
    state["modelUsage"]["claude-unused"] = {"inputTokens": 0, "outputTokens": 0, "costUSD": 0}
    trace = read(tmp_path, *two_calls(), state)
    assert trace.total_cost_usd == pytest.approx(0.32)
    assert trace.total_tokens == 20 and len(trace.llm_calls) == 3
    assert trace.llm_calls[-1].metadata == {"not_listed": True} and trace.output == "b"


def test_costs_that_cannot_be_those_of_the_whole_session_are_left_out(tmp_path):
    state = cost_state(0.1)
    state["modelUsage"]["claude-x"]["outputTokens"] = 3  # the rows have four
    trace = read(tmp_path, *two_calls(), state)
    assert "costs" not in trace.recorded
    assert list(trace.metadata["imported"]["dropped"].values()) == [1]
    trace = read(tmp_path, *two_calls(), cost_state(0.1, hasUnknownModelCost=True))
    assert "costs" not in trace.recorded
    trace = read(tmp_path, *two_calls(), cost_state(0))
    assert "costs" not in trace.recorded


def test_costs_of_single_rows_are_kept(tmp_path):
    trace = read(tmp_path, user("hi"), assistant(text("a"), costUSD=0.25))
    assert trace.total_cost_usd == 0.25 and "costs" in trace.recorded


# Subagents.


def test_a_sidechain_without_an_id_belongs_to_the_call_with_its_prompt(tmp_path):
    trace = read(
        tmp_path,
        at(user("hi"), "1", None),
        at(assistant(use("Task", {"prompt": "look", "subagent_type": "Explore"}, "t")), "2", "1"),
        at(user("look", isSidechain=True), "3", None),
        at(assistant(use("Grep", {}, "u2"), request="r2", isSidechain=True), "4", "3"),
        at(result("x", "t"), "5", "2"),
    )
    task, grep = trace.tool_calls
    assert grep.parent_id == task.id and grep.metadata["agent"] == "Explore"
    assert prompts(trace) == ["hi"]


def test_files_of_subagents_beside_the_session_as_older_versions_wrote_them(tmp_path):
    (tmp_path / "s.jsonl").write_text(
        lines(
            user("hi"),
            assistant(use("Task", {})),
            {**result("ok"), "toolUseResult": {"agentId": "a1"}},
            assistant(text("done"), request="r3"),
        )
    )
    part = assistant(use("Grep", {}, "u2"), request="r2", isSidechain=True, agentId="a1")
    (tmp_path / "agent-a1.jsonl").write_text(lines(user("look", isSidechain=True), part))
    (trace,) = read_traces(tmp_path)
    assert trace.tool_call_sequence == ["Task", "Grep"]
    assert trace.tool_calls[1].parent_id == trace.tool_calls[0].id


def test_a_row_of_a_subagent_in_both_places_counts_once(tmp_path):
    row = assistant(use("Grep", {}, "u2"), request="r2", uuid="p1")
    progress = {
        "type": "progress",
        "sessionId": "s",
        "uuid": "q",
        "parentToolUseID": "u1",
        "data": {"type": "agent_progress", "agentId": "a1", "message": row},
    }
    file = tmp_path / "s.jsonl"
    file.write_text(lines(user("hi"), assistant(use("Task", {})), progress))
    part = tmp_path / "s" / "subagents" / "agent-a1.jsonl"
    part.parent.mkdir(parents=True)
    answer = assistant(text("found"), request="r4", uuid="p2")
    part.write_text(lines({**row, "isSidechain": True}, {**answer, "isSidechain": True}))
    (trace,) = read_traces(file)
    assert trace.tool_call_sequence == ["Task", "Grep"]
    assert trace.metadata["imported"]["repeated"] == {"row of a subagent": 1}
    assert len(trace.llm_calls) == 3


def test_a_subagents_file_alone_has_its_prompt_and_its_answer(tmp_path):
    part = FORMATS / "costs" / "subagents" / "agent-a47e7d9c00f58840a.jsonl"
    shutil.copy(part, tmp_path / part.name)
    (trace,) = read_traces(tmp_path)
    assert (trace.input, trace.output) == ("SUBTASK do it", "sub done")
