"""mini-swe-agent: a real trajectory, and the form of version 2."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import StepStatus, read_traces

FILE = Path(__file__).parents[1] / "data" / "formats" / "mini-swe-agent" / "github-issue.traj.json"


def test_commands_in_fences_and_their_return_codes():
    (trace,) = read_traces(FILE)
    first_words = [call.tool_args["command"].split()[0] for call in trace.tool_calls]
    assert first_words == [
        "cat",
        "ls",
        "ls",
        "cat",
        "sed",
        "cat",
        "python3",
        "python3",
        "cat",
        "echo",
    ]
    assert trace.tool_calls[0].status is StepStatus.FAILURE
    assert trace.tool_calls[0].metadata["exit_code"] == 1
    assert trace.tool_calls[1].metadata["exit_code"] == 0
    assert trace.input.startswith("Please solve this issue: GitHub Issue: SyntaxError")
    assert trace.output.startswith("Now let's verify that the updated file works correctly both")
    assert len(trace.llm_calls) == 10


def test_actions_costs_and_usage_of_version_2(tmp_path):
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    extra = {"actions": [{"command": "ls"}, {"command": "false"}], "cost": 0.5}
    extra["response"] = {"model": "gpt-5", "usage": usage}
    messages = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "I look.", "extra": extra},
        {"role": "tool", "content": "a.py", "extra": {"returncode": 0}},
        {"role": "tool", "content": "", "extra": {"returncode": 1}},
        {"role": "assistant", "content": "One file.", "extra": {"cost": 0.25}},
    ]
    run = {"trajectory_format": "mini-swe-agent-1.1", "messages": messages, "info": {}}
    (tmp_path / "a.traj.json").write_text(json.dumps(run))
    (trace,) = read_traces(tmp_path / "a.traj.json")
    assert [call.status.value for call in trace.tool_calls] == ["success", "failure"]
    assert trace.tool_calls[0].parent_id == trace.tool_calls[1].parent_id
    assert (trace.total_cost_usd, trace.output) == (0.75, "One file.")
