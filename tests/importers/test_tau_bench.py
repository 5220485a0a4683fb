"""tau-bench: real runs, slimmed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.importers.recordings import FORMATS, report
from trialrun import read_traces
from trialrun.importers import importer_of
from trialrun.model.evidence import TOKENS, TOOL_ARGS

FILE = Path(__file__).parents[1] / "data" / "tau-bench" / "three-tasks.json"


def test_runs_are_traces_with_their_calls_in_order():
    traces = read_traces(FILE)
    runs = json.loads(FILE.read_text())
    assert len(traces) == len(runs) == 12
    for trace, run in zip(traces, runs, strict=True):
        called = [
            call["function"]["name"] for one in run["traj"] for call in one.get("tool_calls") or ()
        ]
        assert trace.tool_call_sequence == called
        assert (trace.name, trace.metadata["reward"]) == (f"task {run['task_id']}", run["reward"])
    first = traces[0].tool_calls[0]
    assert first.tool_args == {"user_id": "aarav_garcia_1177"}
    assert first.tool_result.startswith('{"name": {"first_name": "Aarav"')
    assert TOOL_ARGS in traces[0].recorded and TOKENS not in traces[0].recorded


def test_a_run_without_a_list_around_it(tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(json.loads(FILE.read_text())[0]))
    (trace,) = read_traces(file)
    assert trace.tool_call_sequence == read_traces(FILE)[0].tool_call_sequence


def test_turns_refused_calls_and_the_closing_message(tmp_path):
    def calls(*names):
        return [{"id": "same", "function": {"name": name, "arguments": "{}"}} for name in names]

    messages = [
        {"role": "user", "content": "Book it."},
        {"role": "assistant", "content": None, "tool_calls": calls("book", "pay")},
        {"role": "tool", "tool_call_id": "same", "content": "Error: no seat"},
        {"role": "tool", "tool_call_id": "same", "content": "paid"},
        {"role": "assistant", "content": "Another flight?"},
        {"role": "user", "content": "Yes."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks! ###STOP###"},
    ]
    run = {"task_id": 3, "trial": 1, "reward": 1.0, "info": {}, "traj": messages}
    (tmp_path / "r.json").write_text(json.dumps([run]))
    (trace,) = read_traces(tmp_path / "r.json")
    assert [(one.input, one.output) for one in trace.turns()] == [
        ("Book it.", "Another flight?"),
        ("Yes.", "Done."),
    ]
    assert [call.status.value for call in trace.tool_calls] == ["failure", "success"]
    assert trace.tool_calls[1].tool_result == "paid"


def test_whole_runs_with_their_policy_turns_and_rewards():
    """Counted by reading the file: two trials of one task."""
    file = FORMATS / "tau-bench/gpt-4o-airline-task-5.json.gz"
    assert importer_of(file).name == "tau_bench"
    asked, refused = read_traces(file)
    assert [call.tool_args for call in asked.tool_calls] == [
        {"user_id": "omar_rossi_1241"},
        {"reservation_id": "UM3OG5"},
    ]
    assert refused.tool_calls == []
    assert [trace.total_llm_calls for trace in (asked, refused)] == [10, 5]
    assert [len(trace.turns()) for trace in (asked, refused)] == [8, 5]
    assert asked.output.startswith("You're welcome! Feel free to reach out whenever")
    assert [trace.metadata["trial"] for trace in (asked, refused)] == [2, 3]
    for trace in (asked, refused):
        assert report(trace)["absent"] == ["costs", "reasoning", "timings", "tokens"]
        assert report(trace)["dropped"] == {"closing message of the user": 1}
