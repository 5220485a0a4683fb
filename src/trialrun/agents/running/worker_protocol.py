"""Encode and decode messages between a run and its workers: 4-byte length, then MessagePack."""

from __future__ import annotations

import struct
from typing import Any, TypedDict

import msgspec

LENGTH = struct.Struct("!I")

FRAME_OVERHEAD = 1 << 20
"""Most bytes of a message beside the answer in it."""


class WorkerMessage(TypedDict, total=False):
    """Any message of a worker: ready, broken, which question runs, or a reply."""

    ready: bool
    is_async: bool
    parameters: int
    required: int
    why_shared: str | None
    broken: str
    running: int | None
    since: float
    id: int
    key: int
    answer: dict[str, Any]
    failure: str
    crashed: bool
    died: int
    returned: bool | str | None
    assertion: bool
    transient: bool
    retry_after: float | None
    traceback: str
    printed: str
    duration_ms: float
    delayed: float
    leftovers: bool


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(dict[str, Any])
_worker_decoder = msgspec.msgpack.Decoder(WorkerMessage)


def encoded(message: dict[str, Any]) -> bytes:
    """The message as bytes, preceded by its length."""
    try:
        body = _encoder.encode(message)
    except UnicodeEncodeError:  # a lone surrogate, which only Python strings can hold
        from trialrun.model.trace_format import without_surrogates

        body = _encoder.encode(without_surrogates(message, []))
    return LENGTH.pack(len(body)) + body


def decoded(body: bytes) -> dict[str, Any]:
    """Decode a message of the run to a worker."""
    message: dict[str, Any] = _decoder.decode(body)
    return message


def decoded_from_worker(body: bytes) -> WorkerMessage:
    """Decode a message of a worker. Raises ValueError if it is not a valid message.

    The agent can write to the socket too: what it writes must not end the run.
    """
    message: WorkerMessage = _worker_decoder.decode(body)
    is_reply = {"id", "key", "duration_ms"} <= message.keys() and not message.keys().isdisjoint(
        ("answer", "failure", "returned", "died")
    )
    if not (
        is_reply
        or "broken" in message
        or {"running", "since"} <= message.keys()
        or {"ready", "is_async", "parameters", "required"} <= message.keys()
    ):
        raise ValueError("not a message")
    return message
