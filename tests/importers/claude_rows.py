"""Rows of Claude Code sessions, for tests."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.model.trace import StepType

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


def prompts(trace):
    return [trace.input, *(s.input for s in trace.steps if s.type is StepType.HUMAN_INPUT)]


def at(row, key, parent):
    return {**row, "uuid": key, "parentUuid": parent}
