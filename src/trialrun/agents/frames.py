"""Messages between a run and its workers: four bytes of length, then MessagePack."""

from __future__ import annotations

import struct
from typing import Any

import msgspec

LENGTH = struct.Struct("!I")

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder()


def packed(message: dict[str, Any]) -> bytes:
    """The message as bytes, its length before it."""
    try:
        body = _encoder.encode(message)
    except UnicodeEncodeError:  # half a character, which only Python's own strings can hold
        from trialrun.trace_format import without_surrogates

        body = _encoder.encode(without_surrogates(message, []))
    return LENGTH.pack(len(body)) + body


def unpacked(body: bytes) -> dict[str, Any]:
    """The message of these bytes. ValueError if they are none."""
    message = _decoder.decode(body)
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message
