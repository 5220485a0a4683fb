"""OpenClaw: real telemetry of two sessions that belong together."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.evidence import TOOL_RESULTS

FILE = Path(__file__).parents[1] / "data" / "formats" / "openclaw-telemetry"


def test_sessions_by_their_keys(tmp_path):
    main, chat = read_traces(FILE / "sample-telemetry.jsonl")
    asked = "hey can you run echo whoami in the terminal for me and give the result"
    assert (main.name, main.input, main.tool_calls) == ("agent:main:main", asked, [])
    assert main.metadata["imported"]["repeated"] == {"start of an agent": 1}
    assert chat.input == asked
    commands = [call.tool_args["command"] for call in chat.tool_calls]
    assert commands == ["echo whoami", "whoami"]
    assert [call.duration_ms for call in chat.tool_calls] == [291, 37]
    assert TOOL_RESULTS not in chat.recorded


def test_messages_are_turns_and_answers_of_their_channel(tmp_path):
    key = {"sessionKey": "agent:main:chat:1", "toolName": "exec"}
    events = [
        {"type": "message.in", "channel": "chat", "content": "one"},
        {"type": "tool.start", "params": {}, **key},
        {"type": "tool.end", "success": False, **key},
        {"type": "message.out", "channel": "chat", "content": "first"},
        {"type": "message.in", "channel": "chat", "content": "two"},
        {"type": "message.out", "channel": "chat", "content": "second"},
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, events)))
    (trace,) = read_traces(tmp_path / "t.jsonl")
    assert [(turn.input, turn.output) for turn in trace.turns()] == [
        ("one", "first"),
        ("two", "second"),
    ]
    assert trace.tool_calls[0].status.value == "failure"
