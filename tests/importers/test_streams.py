"""Streams of model APIs, put together to bodies."""

from __future__ import annotations

from trialrun.importers._api_usage import api_usage
from trialrun.importers._streams import bodies


class _Piece(str):
    """A text that notes how many characters are copied to append it to another one."""

    copied = 0

    def __new__(cls, text):
        return super().__new__(cls, text)

    def __radd__(self, other):
        _Piece.copied += len(other)
        return _Piece(str(other) + str(self))

    def __add__(self, other):
        _Piece.copied += len(self)
        return _Piece(str(self) + str(other))


def test_a_block_of_many_deltas_is_put_together_once():
    _Piece.copied = 0
    start = {"type": "content_block_start", "index": 0, "content_block": {"text": "Well: "}}
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"text": _Piece("ab")}},
    ] * 100
    events = [{"type": "message_start", "message": {}}, start, *deltas, {"type": "message_stop"}]
    (body,) = bodies(events)
    assert body["content"][0]["text"] == "Well: " + "ab" * 100
    assert _Piece.copied == 0  # 10,500 if each delta copies the text before it


def test_arguments_of_many_deltas_are_put_together_once():
    _Piece.copied = 0
    events = [
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "choices": [{"delta": {"tool_calls": [{"index": 0, "function": function}]}}],
        }
        for function in [{"name": "f"}, *[{"arguments": _Piece("ab")}] * 100]
    ]
    (body,) = bodies(events)
    (call,) = body["choices"][0]["message"]["tool_calls"]
    assert call == {"name": "f", "arguments": "ab" * 100}
    assert _Piece.copied == 0


def test_a_response_that_continues_a_run_of_code_has_its_call_at_the_start():
    call = {"type": "tool_use", "id": "t", "name": "roll", "input": {"n": 1}}
    message = {"id": "m", "content": [call], "stop_reason": "tool_use", "usage": {}}
    start = {"type": "message_start", "message": message}
    (body,) = bodies([start, {"type": "message_stop"}])
    assert body["content"] == [call]


def test_a_compaction_is_paid_beside_the_sums():
    step = {"input_tokens": 100, "output_tokens": 83, "cache_read_input_tokens": 5000}
    usage = {
        "input_tokens": 181,
        "output_tokens": 8,
        "cache_read_input_tokens": 0,
        "iterations": [step | {"type": "compaction"}, {"type": "message", "input_tokens": 181}],
    }
    tokens = api_usage(usage, "claude-sonnet-4-6")
    assert (tokens.prompt_tokens, tokens.completion_tokens) == (281, 91)
    assert tokens.cached_tokens == 5000
