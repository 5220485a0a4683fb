"""SWE-agent: real trajectories of two generations, replays and demonstrations."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import LLM_CALLS, TOKENS

DATA = Path(__file__).parents[1] / "data" / "formats" / "swe-agent"


def test_a_replay_of_thoughts_and_actions():
    (trace,) = read_traces(DATA / "ctf-networking.traj")
    assert trace.tool_call_sequence == ["tshark", "tshark", "tshark", "submit"]
    assert trace.tool_calls[0].tool_args == {"command": "tshark -n -r networking.pcap -q -z io,phs"}
    assert "Protocol Hierarchy Statistics" in trace.tool_calls[0].tool_result
    assert trace.tool_calls[0].metadata["cwd"].endswith("__misc__Networking-1")
    assert trace.input.startswith("We're currently solving the following CTF challenge.")
    assert trace.output.startswith("That's great, we see that there is a user named csaw trying")
    assert trace.metadata["submission"] == "flag{d316759c281bf925d600be698a4973d5}"
    # Its statistics are all 0: no model was asked, and nothing is known of tokens.
    assert not {LLM_CALLS, TOKENS} & trace.recorded


def test_function_calls_in_the_history():
    (trace,) = read_traces(DATA / "function-calling-simple.traj")
    assert trace.tool_call_sequence == ["find_file", "open", "edit", "bash", "submit"]
    assert trace.tool_calls[0].tool_args == {"file_name": "missing_colon.py"}
    assert trace.tool_calls[0].tool_result.startswith('Found 1 matches for "missing_colon.py"')
    assert len(trace.llm_calls) == 5 and LLM_CALLS in trace.recorded
    assert trace.output.startswith("The script ran successfully, printing the result `8.2`")


def test_a_demonstration_is_not_part_of_the_run(tmp_path):
    demo = {"role": "user", "content": "An example task.", "is_demo": True}
    asked = {"role": "user", "content": "The task."}
    step = {"action": "", "thought": "I do not know.", "observation": ""}
    run = {"environment": "e", "trajectory": [step], "history": [demo, asked], "info": {}}
    (tmp_path / "a.traj").write_text(json.dumps(run))
    (trace,) = read_traces(tmp_path / "a.traj")
    assert (trace.input, trace.output, trace.tool_calls) == ("The task.", "I do not know.", [])
    assert trace.metadata["imported"]["dropped"] == {"message of a demonstration": 1}
