"""Continue: a real session, with one sum of tokens and costs."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces

DATA = Path(__file__).parents[1] / "data" / "formats"


def read(name):
    (trace,) = read_traces(DATA / name)
    return trace


def test_continue_has_one_sum():
    """1,813 fresh, 4,366 cached and 2,183 written to the cache were read; 305 were written."""
    trace = read("continue-cli/session.json")
    assert trace.tool_call_sequence == ["Read", "MultiEdit"]
    assert trace.tool_calls[0].tool_args["filepath"].endswith("/index.ts")
    assert trace.tool_calls[1].tool_result.startswith("Successfully edited")
    assert trace.total_tokens == 1813 + 4366 + 2183 + 305
    assert trace.llm_calls[-1].cost_usd == 0.002423
    assert trace.output.startswith("Done! I've added another")


def test_few_cached_tokens_are_not_taken_off_the_input(tmp_path):
    usage = {"promptTokens": 9, "completionTokens": 2, "promptTokensDetails": {"cachedTokens": 4}}
    history = [{"message": {"role": "user", "content": "Go"}}]
    history.append({"message": {"role": "assistant", "content": "Done."}})
    document = {"sessionId": "s", "workspaceDirectory": "/app", "history": history}
    file = tmp_path / "session.json"
    file.write_text(json.dumps({**document, "usage": usage}), encoding="utf-8")
    (trace,) = read_traces(file)
    assert trace.total_tokens == 9 + 4 + 2
