"""Messages between a run and its workers: four bytes of length, then MessagePack."""

from __future__ import annotations

import struct
from typing import Any, TypedDict

import msgspec

LENGTH = struct.Struct("!I")


class Said(TypedDict, total=False):
    """What a worker says, in all its forms: that it is ready or broken, who runs, a reply."""

    ready: bool
    is_async: bool
    parameters: int
    required: int
    broken: str
    running: int | None
    since: float
    id: int
    answer: dict[str, Any]
    failure: str
    returned: bool | str | None
    assertion: bool
    transient: bool
    retry_after: float | None
    traceback: str
    printed: str
    duration_ms: float
    held_up: float
    leftovers: bool


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(dict[str, Any])
_decoder_of_said = msgspec.msgpack.Decoder(Said)


def packed(message: dict[str, Any]) -> bytes:
    """The message as bytes, its length before it."""
    try:
        body = _encoder.encode(message)
    except UnicodeEncodeError:  # half a character, which only Python's own strings can hold
        from trialrun.model.trace_format import without_surrogates

        body = _encoder.encode(without_surrogates(message, []))
    return LENGTH.pack(len(body)) + body


def unpacked(body: bytes) -> dict[str, Any]:
    """What the run says to a worker."""
    message: dict[str, Any] = _decoder.decode(body)
    return message


def said(body: bytes) -> Said:
    """What a worker says. ValueError if no worker says such a thing.

    An agent has the socket in its hands too: what it writes there must not end the run.
    """
    message: Said = _decoder_of_said.decode(body)
    is_reply = {"id", "duration_ms"} <= message.keys() and (
        "answer" in message or "failure" in message or "returned" in message
    )
    if not (
        is_reply
        or "broken" in message
        or {"running", "since"} <= message.keys()
        or {"ready", "is_async", "parameters", "required"} <= message.keys()
    ):
        raise ValueError("not a message")
    return message
