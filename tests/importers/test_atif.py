"""ATIF: real trajectories, continued files, subagents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from trialrun import read_traces
from trialrun.model.evidence import COSTS, TOKENS, TOOL_CALLS

DATA = Path(__file__).parents[1] / "data" / "formats" / "atif"


def read(path):
    (trace,) = read_traces(path)
    return trace


def test_calls_results_and_withheld_tokens():
    trace = read(DATA / "qa-runner-login-v1.7.json")
    names = ["navigate", "waitFor", "assert", "assert", "screenshot", "done"]
    assert trace.tool_call_sequence == names
    assert trace.tool_calls[1].tool_args["target"] == "text-visible:Log in to OpenAgents"
    assert trace.tool_calls[1].tool_result.startswith("ok: wait for")
    assert trace.input.startswith("Verify the login page works on this site")
    assert trace.output == "Goal verified. Marking the session complete."
    assert len(trace.llm_calls) == 6
    assert not {TOKENS, COSTS} & trace.recorded and trace.total_tokens is None


def test_prompt_tokens_include_the_cached_ones():
    """22,651 prompt tokens of which 16,363 were read from a cache and 6,279 written to it."""
    trace = read(DATA / "claude-code-v1.7.json")
    usage = trace.llm_calls[0].tokens
    parts = usage.prompt_tokens, usage.cached_tokens, usage.cache_write_tokens
    assert parts == (22651 - 16363 - 6279, 16363, 6279)
    assert trace.total_tokens == 22651 + 177 + 22873 + 70
    assert trace.total_cost_usd == pytest.approx(0.01328, abs=1e-6)  # the harness' own figure


def test_a_continued_run_is_one_trace_and_copied_steps_count_once(tmp_path):
    trace = read(DATA / "trajectory.json")
    assert len(trace.llm_calls) == 3 + 4
    assert trace.total_tokens == 2252 + 160 + 4250 + 530
    assert trace.output.startswith('{\n  "analysis": "Yes, confirming task completion."')
    assert trace.metadata["imported"]["repeated"] == {"step copied into a continued file": 4}
    # Terminus writes its commands into the text: no call is recorded, which is not "no call".
    assert TOOL_CALLS not in trace.recorded


def test_in_a_folder_the_continuation_is_not_a_second_trace(tmp_path):
    for name in ("trajectory.json", "trajectory.cont-1.json"):
        shutil.copy(DATA / name, tmp_path)
    assert len(read_traces(tmp_path)) == 1


def test_a_continuation_alone_and_a_first_part_alone(tmp_path):
    shutil.copy(DATA / "trajectory.cont-1.json", tmp_path / "second.json")
    second = read(tmp_path / "second.json")
    assert (len(second.llm_calls), second.total_tokens) == (5, 4250 + 530)
    shutil.copy(DATA / "trajectory.json", tmp_path / "first.json")
    first = read(tmp_path / "first.json")
    assert len(first.llm_calls) == 3
    assert first.metadata["imported"]["dropped"]["continued file that is absent"] == 1


def test_an_embedded_subagent_lies_below_the_call_that_started_it(tmp_path):
    step = {"step_id": 1, "source": "agent", "model_name": "m", "message": "sub"}
    sub = {"session_id": "x", "agent": {"name": "helper"}, "steps": [step]}
    call = {"tool_call_id": "c", "function_name": "spawn", "arguments": {"task": "t"}}
    result = {
        "source_call_id": "c",
        "content": "ok",
        "subagent_trajectory_ref": [{"session_id": "x"}],
    }
    main = {
        "schema_version": "ATIF-v1.8",
        "agent": {"name": "main"},
        "subagent_trajectories": [sub],
        "steps": [
            {"step_id": 1, "source": "user", "message": "do it"},
            {
                "step_id": 2,
                "source": "agent",
                "message": "done",
                "tool_calls": [call],
                "observation": {"results": [result]},
            },
        ],
    }
    (tmp_path / "t.json").write_text(json.dumps(main))
    trace = read(tmp_path / "t.json")
    (spawn,) = trace.tool_calls
    inner = trace.llm_calls[-1]
    assert (inner.output, inner.parent_id, inner.metadata["agent"]) == ("sub", spawn.id, "helper")
    assert trace.output == "done"


def test_no_file_outside_the_folder_is_opened(tmp_path):
    (tmp_path / "secret.json").write_text('{"steps": [{"source": "agent", "message": "secret"}]}')
    (tmp_path / "in").mkdir()
    main = {"schema_version": "ATIF-v1.7", "continued_trajectory_ref": "../secret.json"}
    main["steps"] = [{"source": "user", "message": "q"}, {"source": "agent", "message": "a"}]
    (tmp_path / "in" / "t.json").write_text(json.dumps(main))
    assert read(tmp_path / "in" / "t.json").output == "a"


def referring(*names, **fields):
    """A trajectory with a call for each subagent whose file has this name."""
    calls = [{"tool_call_id": f"c{n}", "function_name": "task"} for n in range(len(names))]
    results = [
        {
            "source_call_id": f"c{number}",
            "content": "done",
            "subagent_trajectory_ref": [{"trajectory_path": name}],
        }
        for number, name in enumerate(names)
    ]
    agent = {"step_id": 1, "source": "agent", "message": "a", "tool_calls": calls}
    agent["observation"] = {"results": results}
    return {"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": [agent], **fields}


def put(folder, **documents):
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))


def test_files_that_many_references_lead_to_are_read_once(tmp_path):
    """60 files with two references each to the next one: read again each time, it never ends."""
    files = {f"f{n}": referring(*[f"f{n + 1}.json"] * 2) for n in range(60)}
    put(tmp_path, **files, f60=referring())
    trace = read(tmp_path / "f0.json")
    assert len(trace.llm_calls) == 61 and len(trace.tool_calls) == 120
    assert trace.metadata["imported"]["repeated"] == {"subagent's file": 60}


def test_a_trajectory_that_refers_to_itself_is_read_once(tmp_path):
    put(tmp_path, a=referring("a.json", continued_trajectory_ref="a.json"))
    assert len(read(tmp_path / "a.json").llm_calls) == 1
    put(tmp_path, a=referring("b.json"), b=referring("a.json", "b.json"))
    assert len(read(tmp_path / "a.json").llm_calls) == 2


def test_only_so_many_files_are_read_as_one_run(tmp_path):
    put(tmp_path, **{f"f{n}": referring(f"f{n + 1}.json") for n in range(150)}, f150=referring())
    trace = read(tmp_path / "f0.json")
    assert len(trace.llm_calls) == 100
    assert trace.metadata["imported"]["dropped"] == {"subagent whose file is absent": 1}


@pytest.mark.parametrize("name", ["link.json", "../out.json", "x\0y.json", "a" * 5000])
def test_no_file_outside_of_the_folder_is_read(tmp_path, name):
    folder = tmp_path / "in"
    folder.mkdir()
    put(tmp_path, out=referring())
    (folder / "link.json").symlink_to(tmp_path / "out.json")
    put(folder, a=referring(name))
    assert len(read(folder / "a.json").llm_calls) == 1
