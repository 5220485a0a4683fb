"""Sessions of Claude Code: branches, ends and subagents."""

from __future__ import annotations

import shutil

from tests.importers.claude_rows import (
    FORMATS,
    assistant,
    at,
    lines,
    prompts,
    read,
    result,
    text,
    use,
    user,
)
from trialrun import read_traces
from trialrun.importers._claude_rows import Line, Message, own_text
from trialrun.importers._claude_tree import drop_rewound
from trialrun.importers.base import TraceBuilder


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


def test_an_error_of_the_api_at_the_end_is_not_an_answer(tmp_path):
    failed = assistant(text("You've hit your session limit"), isApiErrorMessage=True)
    failed["message"]["model"] = "<synthetic>"
    trace = read(tmp_path, user("hi"), assistant(text("I look")), failed)
    assert trace.output is None
    assert trace.metadata["unfinished"] == "You've hit your session limit"
    trace = read(tmp_path, user("hi"), failed, user("go on"), assistant(text("done")))
    assert trace.output == "done" and "unfinished" not in trace.metadata


def test_a_limit_of_turns_is_not_an_answer(tmp_path):
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


def test_a_subagent_of_a_call_that_was_rewound_is_not_part_of_the_run(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(
        lines(
            *begun(),
            at(user("look"), "3", "2"),
            at(assistant(use("Task", {}), request="r2"), "4", "3"),
            at({**result("ok"), "toolUseResult": {"agentId": "x"}}, "5", "4"),
            at(user("stay"), "6", "2"),
            at(assistant(text("done"), request="r3"), "7", "6"),
        )
    )
    part = tmp_path / "s" / "subagents" / "agent-x.jsonl"
    part.parent.mkdir(parents=True)
    part.write_text(lines(assistant(use("Grep", {}, "u3"), request="r4")))
    (trace,) = read_traces(file)
    assert trace.tool_calls == [] and len(trace.llm_calls) == 2
    assert trace.metadata["imported"]["dropped"]["rewound subagent"] == 1


def test_many_prompts_below_one_long_chain_are_found():
    """50,000 prompts below 50,000 rows: following the chain for each of them never ends."""
    count = 50_000
    rows = [
        Line(type="system", uuid=f"s{n}", parent=f"s{n - 1}" if n else None) for n in range(count)
    ]
    asked = Message(content="again")
    rows += [
        Line(type="user", uuid=f"p{n}", parent=f"s{count - 1}", message=asked) for n in range(count)
    ]
    builder = TraceBuilder("claude_code")
    kept, _ = drop_rewound(rows, builder)
    assert [line.uuid for line in kept[count:]] == [f"p{count - 1}"]


def test_rows_that_are_above_each_other_end():
    rows = [
        Line(type="system", uuid="a", parent="b"),
        Line(type="system", uuid="b", parent="a"),
        *(Line(type="user", uuid=key, parent="a", message=Message(content=key)) for key in "pq"),
    ]
    kept, _ = drop_rewound(rows, TraceBuilder("claude_code"))
    assert [line.uuid for line in kept] == ["a", "b", "q"]


def test_much_context_before_a_prompt_is_left_out():
    """800,000 pieces in 12 MB: copying the rest of the text after each of them never ends."""
    context = "<ide_a></ide_a>" * 800_000
    assert own_text(Line(message=Message(content=f"{context} Go"))) == "Go"
