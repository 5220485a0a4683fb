"""The JSON form of a trace: one object, strict where we wrote it, forgiving where others did.

The strict decoder takes what we write ourselves. Everything else goes through `from_plain`, which
keeps unknown fields in the metadata and leaves unusable numbers out with a note. Nothing is ever
repaired into a number: a value that was left out is unknown.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.errors import Problem, TraceError, TraceWarning
from trialrun.trace import EVIDENCE, LARGEST_COUNT, TIMINGS, Step, TokenUsage, Trace

_STRICT = msgspec.json.Decoder(Trace)


def decode(text: bytes | str) -> tuple[Trace, list[str]]:
    """Read one trace from JSON: the trace, and a note for each value that was left out."""
    try:
        return _STRICT.decode(text), []
    except (msgspec.MsgspecError, UnicodeError, TraceError):
        return from_plain(_decode_plain(text))
    except RecursionError:
        raise TraceError("nested too deeply to be read") from None


def _decode_plain(text: bytes | str) -> Any:
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise TraceError("nested too deeply to be read") from None
    except UnicodeDecodeError:
        raise _not_utf8(text) from None
    except msgspec.MsgspecError:
        pass
    # Python's own encoder writes NaN, Infinity and lone surrogates, which JSON does not have.
    # Files with them exist, so the slower reader that knows them has the last word.
    import json

    try:
        return json.loads(text)
    except RecursionError:
        raise TraceError("nested too deeply to be read") from None
    except UnicodeDecodeError:
        raise _not_utf8(text) from None
    except json.JSONDecodeError as error:
        length = len(text)
        if error.pos >= length or "Unterminated" in error.msg:
            raise TraceError(f"the JSON is cut off after {length:,} characters") from None
        raise TraceError(f"not JSON: {error.msg.lower()} at character {error.pos + 1}") from None
    except ValueError as error:  # a number of more digits than Python converts
        raise TraceError(f"not readable as JSON: {error}") from None


def _not_utf8(text: bytes | str) -> TraceError:
    try:
        assert isinstance(text, bytes)
        text.decode()
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        return TraceError(f"not UTF-8: byte 0x{found:02x} at offset {error.start}")
    raise AssertionError("unreachable")


def from_plain(data: Any) -> tuple[Trace, list[str]]:
    """Read one trace from plain values: the trace, and a note for each value left out."""
    if not isinstance(data, dict):
        raise TraceError(f"a trace is a JSON object with `input`, found {_kind(data)}")
    notes: list[str] = []
    data = without_surrogates(data, notes)
    clean = _sorted_fields(data, Trace, "metadata")
    if "input" not in clean:
        raise TraceError("`input` is missing: a trace needs at least what the agent was asked")
    timed = _drop_bad_amount(clean, "duration_ms", "", notes)
    if clean.get("format_version") is None:
        clean.pop("format_version", None)
    steps = clean.get("steps")
    if isinstance(steps, list):
        clean["steps"] = plain_steps = [
            _sorted_fields(step, Step, "metadata") if isinstance(step, dict) else step
            for step in steps
        ]
        for index, step in enumerate(plain_steps):
            if isinstance(step, dict):
                timed &= _clean_step(step, f"steps[{index}].", notes)
    if not timed:
        # Without the dropped one, the remaining durations add up to less than the run took.
        clean["recorded"] = sorted(set(clean.get("recorded", EVIDENCE)) - {TIMINGS})
    try:
        return msgspec.convert(clean, Trace), notes
    except msgspec.ValidationError as error:
        raise TraceError(_readable(str(error))) from None
    except RecursionError:
        raise TraceError("nested too deeply to be read") from None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    names |= {int: "a number", float: "a number", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _readable(message: str) -> str:
    """msgspec's message, with the place first: "`steps[0].type`: Invalid enum value 'x'"."""
    text, marker, place = message.partition(" - at `$")
    if not marker:
        return text
    return f"`{place.rstrip('`').lstrip('.')}`: {text}"


def _sorted_fields(data: dict[str, Any], kind: type[Struct], catch_all: str) -> dict[str, Any]:
    """Known fields as they are; unknown ones move into the metadata, so that nothing is lost."""
    known = set(kind.__struct_fields__)
    clean = {key: value for key, value in data.items() if key in known and value is not None}
    unknown = {key: value for key, value in data.items() if key not in known}
    if unknown:
        metadata = clean.get(catch_all, {})
        if isinstance(metadata, dict):
            clean[catch_all] = {**unknown, **metadata}
    return clean


def _clean_step(step: dict[str, Any], place: str, notes: list[str]) -> bool:
    timed = _drop_bad_amount(step, "duration_ms", place, notes)
    _drop_bad_amount(step, "cost_usd", place, notes)
    tokens = step.get("tokens")
    if isinstance(tokens, dict):
        known = {key: tokens[key] for key in TokenUsage.__struct_fields__ if key in tokens}
        known = {key: value for key, value in known.items() if value is not None}
        extra = {key: value for key, value in tokens.items() if key not in known}
        extra = {key: value for key, value in extra.items() if value is not None}
        bad = [key for key, value in known.items() if not _is_count(value)]
        for key in bad:
            notes.append(f"{place}tokens.{key}: {_shown(known[key])} is not a count; left unknown")
        # One bad count makes the call's usage unknown: the rest of it would be a smaller sum.
        if bad or not known:
            step.pop("tokens")
        else:
            step["tokens"] = {key: int(value) for key, value in known.items()}
        if extra:
            step["metadata"] = {"tokens": extra, **step.get("metadata", {})}
    return timed


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _is_count(value: object) -> bool:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def _drop_bad_amount(holder: dict[str, Any], field: str, place: str, notes: list[str]) -> bool:
    """True when the field is absent or usable; otherwise it is left out, with a note."""
    value = holder.get(field)
    if value is None:
        return True
    if type(value) in (int, float):
        try:
            if 0 <= float(value) < math.inf:
                return True
        except OverflowError:
            pass
    elif not isinstance(value, str) or not _is_number(value):
        return True  # a wrong type is for the decoder to refuse
    notes.append(f"{place}{field}: {_shown(value)} is not a usable number; left unknown")
    del holder[field]
    return False


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def without_surrogates(value: Any, notes: list[str]) -> Any:
    """Half a character cannot be written as UTF-8: it is kept as its escape, such as `\\ud800`."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            notes.append(f"half a surrogate pair in {_shown(value)}; kept as an escape")
            return value.encode("utf-8", "backslashreplace").decode()
        return value
    if isinstance(value, dict):
        return {
            without_surrogates(key, notes): without_surrogates(item, notes)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [without_surrogates(item, notes) for item in value]
    return value


def warned(trace: Trace, notes: list[str]) -> Trace:
    """The trace, after a `TraceWarning` for each note: for callers that keep no list of them."""
    if notes:
        import warnings

        for note in notes:
            warnings.warn(note, TraceWarning, stacklevel=3)
    return trace


def located(error: TraceError, file: str, line: int | None) -> list[Problem]:
    """The same problems, with the file and line in which they were found."""
    return [
        Problem(problem.message, problem.path, file=file, line=line) for problem in error.problems
    ]
