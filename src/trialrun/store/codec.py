"""Between what a run found and what a database keeps.

Results and traces are kept as compressed JSON. It is JSON as Python writes it: NaN, Infinity and
halves of surrogate pairs occur in what agents pass to tools, and a trace that lost them would be
judged differently the second time. zlib's checksum tells a damaged record from a whole one.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from trialrun.errors import CannotMask
from trialrun.model.results import EvaluationResult, LayerResult
from trialrun.model.trace import Trace
from trialrun.redaction import MASK, redact
from trialrun.store.records import Attempt

Redactor = Callable[[Any], Any]

_LEVEL = 3  # 6 takes up to four times as long, and saves 4 %

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


class Damaged(Exception):
    """The bytes of a record are not what was written."""


class Unwritable(Exception):
    """A value has no JSON form: an object of the agent's own, or nested without end."""


class PackedAttempt(NamedTuple):
    """An attempt as it is stored: its result as plain values, and the bytes of result and trace."""

    plain: dict[str, Any]
    result: bytes
    trace: bytes | None
    has_masks: bool  # in the result


def _compressed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def _unpack(blob: bytes) -> Any:
    text = zlib.decompress(blob)
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError):  # NaN, Infinity or half a character
        return json.loads(text.decode("utf-8", "surrogatepass"))


def pack_attempt(attempt: Attempt, redactor: Redactor) -> PackedAttempt:
    """The attempt as it is stored; all of it redacted."""
    attempt.result.settle()
    try:
        trace = None if attempt.trace is None else attempt.trace.to_dict()
        records = [msgspec.to_builtins(attempt.result), trace]
        # One look at all of it first: most records hold no secret, and stay as they are.
        if redactor(records) is not records:
            records = [record and redacted(record, redactor) for record in records]
        result, trace = records
        text = _encode(result)
        packed_trace = None if trace is None else _compressed(_encode(trace))
        return PackedAttempt(result, _compressed(text), packed_trace, MASK in text)
    except CannotMask:
        raise
    except RecursionError:
        raise Unwritable("nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise Unwritable(str(error)) from None


def unpack_result(blob: bytes) -> EvaluationResult:
    """The result, equal to the one that was written."""
    try:
        result = msgspec.convert(_unpack(blob), EvaluationResult)
    except (zlib.error, ValueError, msgspec.MsgspecError) as error:
        raise Damaged(str(error)) from None
    # The engine makes tuples, and a layer that was read back should equal one that was not.
    result.tags = tuple(result.tags)
    result.turns = tuple(result.turns)
    result.earlier_errors = tuple(result.earlier_errors)
    result.failed_calls = tuple(result.failed_calls)
    for name, layer in result.layers.items():
        result.layers[name] = LayerResult(layer.status, tuple(layer.checks))
    return result


def unpack_trace(blob: bytes) -> Trace:
    """The trace, equal to the one that was written.

    Not by `trace_format.from_plain`: it repairs the files of others, and would take two steps that
    redaction made equal for one.
    """
    try:
        return msgspec.convert(_unpack(blob), Trace)
    except (zlib.error, ValueError, msgspec.MsgspecError) as error:
        raise Damaged(str(error)) from None


# Words, times and counts of this format. A user's pattern such as `pass` or `\d{4}` would make
# the record unreadable if it were applied to them, and they hold nothing that an agent wrote.
_OUR_WORDS = frozenset(
    {"status", "severity", "type", "recorded", "tokens", "judge", "prompt_version"}
    | {"started_at", "completed_at", "timestamp"}
)
_PARTS = frozenset({"steps", "checks", "metrics", "verdicts", "votes", "turns", "failed_calls"})


def redacted(record: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """The plain form of a result or trace; all but our fixed words passes through `redactor`."""
    clean: dict[str, Any] = {}
    for field, value in record.items():
        if value is None or field in _OUR_WORDS or isinstance(value, (int, float)):
            clean[field] = value
        elif field in _PARTS:
            clean[field] = [redacted(part, redactor) for part in value]
        elif field == "layers":
            clean[field] = {name: redacted(layer, redactor) for name, layer in value.items()}
        elif field == "gate":
            clean[field] = redacted(value, redactor)
        else:
            clean[field] = redactor(value)
    return clean


def redact_plain(value: Any) -> Any:
    """Every text in a plain value without the secrets that are known by their form."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact_plain(key): redact_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact_plain(item) for item in value]
    return value


_UNSAFE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(\\|u[0-9a-f]{4})")


def safe_text(text: str) -> str:
    """Text that every database takes: NUL and halves of characters as escapes, reversibly."""
    if not _UNSAFE.search(text):
        return text
    return _UNSAFE.sub(
        lambda found: "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", text
    )


def original_text(text: str) -> str:
    """What `safe_text` was given."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), text)
