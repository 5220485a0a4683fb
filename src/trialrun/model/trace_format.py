"""Reads the JSON form of a trace, with tolerance for imperfect files.

Unknown fields are kept in the metadata. A value that cannot be used (a negative count, a cost of
NaN, an end before its start) is left out with a note and is then *unknown*; no number is guessed in
its place. What was left out is kept as text under `unusable` in the metadata.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.errors import Problem, TraceError, TraceWarning
from trialrun.model.evidence import EVIDENCE, WITHOUT_STEPS, Derived, derived
from trialrun.model.nested_steps import flatten
from trialrun.model.reading import decoded
from trialrun.model.trace import (
    LARGEST_AMOUNT,
    LARGEST_COUNT,
    TIMINGS,
    UNUSABLE,
    Step,
    StepStatus,
    StepType,
    Trace,
    TraceStatus,
)
from trialrun.model.trace_tree import clean_tree, shown
from trialrun.model.usage_format import read_usage
from trialrun.util import strict_json
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.util.plain import compact
from trialrun.util.texts import nearest

_OF_STEPS = EVIDENCE - WITHOUT_STEPS  # kinds of evidence that only steps hold
TOO_DEEP = "nested too deeply to be read"

# Python's encoder writes NaN, Infinity and lone surrogates, which JSON does not allow. Files with
# them exist, and so do numbers with more digits than Python converts.
_LONGEST_INTEGER = 400


_DECODER = msgspec.json.Decoder(Trace)
_ENCODER = msgspec.json.Encoder(order="deterministic")


def decode(text: bytes | str) -> tuple[Trace, list[str]]:
    """Read one trace from JSON: the trace, and a note for each value that was left out."""
    trace = _decode_typed(text)
    return (trace, []) if trace is not None else decode_with_care(text)


def _decode_typed(text: bytes | str) -> Trace | None:
    """The trace, if nothing in the text needs care; what `decode_with_care` reads is the same."""
    try:
        trace = decoded(_DECODER, text)
        written = _ENCODER.encode(trace)
        if written != text:
            _refuse_duplicates(text, written)
        if not trace.format_version and b"format_version" in _as_bytes(text):
            return None  # a version that was given as 0 counts as given
        return trace if trace.settle_decoded() else None
    except (msgspec.MsgspecError, TraceError, ValueError, OverflowError, RecursionError):
        return None  # the same mistake is found again, and said with its place


def _refuse_duplicates(text: bytes | str, written: bytes) -> None:
    """NotStrict if an object in the text has a key twice; `written`: the decoded trace as JSON.

    A lost key takes its quotation marks along, and so do fields that are given with their default.
    """
    data = _as_bytes(text)
    escapes = b"\\" in data  # a quick search; most texts have none
    if written.count(b'"') != data.count(b'"') or (escapes and b"\\u0022" in data):
        strict_json.decode_quickly(data.decode())


def _as_bytes(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def decode_with_care(text: bytes | str) -> tuple[Trace, list[str]]:
    """The same by way of plain values, for texts with values that cannot be used as they are."""
    plain = decode_plain(text)
    escape = b"\\ud" if isinstance(text, bytes) else "\\ud"
    return _read(plain, escape in text.lower())  # type: ignore[operator]


def decode_plain(text: bytes | str) -> Any:
    """The plain value of a JSON text; TraceError if it is invalid."""
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            found = error.object[error.start]
            raise TraceError(f"not UTF-8: byte 0x{found:02x} at offset {error.start}") from None
    try:
        return strict_json.decode_quickly(text)
    except RecursionError:
        raise TraceError(TOO_DEEP) from None
    except strict_json.NotStrict as error:
        raise TraceError(f"{error}: which of its values is meant is unknown") from None
    except (msgspec.MsgspecError, ValueError):
        return _decode_forgiving(text)


def _decode_forgiving(text: str) -> Any:
    import json

    try:
        return json.loads(
            text, parse_int=_integer, object_pairs_hook=strict_json.without_duplicates
        )
    except RecursionError:
        raise TraceError(TOO_DEEP) from None
    except strict_json.NotStrict as error:
        raise TraceError(f"{error}: which of its values is meant is unknown") from None
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg:
            raise TraceError(f"the JSON is cut off after {len(text):,} characters") from None
        message = error.msg.lower().removesuffix(" at")
        raise TraceError(f"not JSON: {message} at character {error.pos + 1}") from None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else math.inf


def from_plain(data: Any) -> tuple[Trace, list[str]]:
    """Read one trace from plain values: the trace, and a note for each value left out."""
    return _read(data, True)


def _read(data: Any, surrogates: bool) -> tuple[Trace, list[str]]:
    """The trace and its notes. `surrogates`: some texts may hold half of a surrogate pair."""
    if not isinstance(data, dict):
        raise TraceError(f"a trace is a JSON object with `input`, found {_kind(data)}")
    try:
        notes: list[str] = []
        if surrogates:
            data = without_surrogates(data, notes)
        whole, complete = flatten(data, notes)
        clean, timed = _clean_trace(whole, notes)
        trace = msgspec.convert(clean, Trace)
        if "format_version" in clean and trace.recorded == derived(trace):
            trace.recorded = Derived()  # as it was when the trace was written
        if not complete:  # what was nested may have been any kind of step
            trace.recorded -= _OF_STEPS
        if not timed:
            # Without the unusable duration, the others would add up to less than the run took.
            trace.recorded -= {TIMINGS}
        return trace, notes
    except msgspec.ValidationError as error:
        raise TraceError(_readable(str(error))) from None
    except RecursionError:
        raise TraceError(TOO_DEEP) from None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    names |= {int: "a number", float: "a number", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _readable(message: str) -> str:
    """msgspec's message, with the place first: "`steps[0].type`: Invalid enum value 'x'"."""
    text, marker, place = message.partition(" - at `$")
    if not marker:
        return text
    where = place.rstrip("`").lstrip(".")
    if text.startswith("Invalid enum value"):
        in_step = where.startswith("steps")
        kind = StepType if where.endswith("type") else StepStatus if in_step else TraceStatus
        text += f"; expected one of {', '.join(member.value for member in kind)}"
    return f"`{where}`: {text}"


# Other tools' names for our fields.
_MEANT = {"answer": "output", "question": "input", "tool": "tool_name"}
_USAGE = ("usage", "usage_metadata", "usageMetadata")  # read as `tokens` of a step


def _clean_trace(data: dict[str, Any], notes: list[str]) -> tuple[dict[str, Any], bool]:
    """The fields that can be used; False if a duration was not usable."""
    clean = _known_fields(data, Trace, "", notes)
    if "input" not in clean:
        raise TraceError("`input` is missing: a trace needs at least what the agent was asked")
    _error_as_text(clean)
    if isinstance(clean.get("output"), (dict, list, float)):
        clean["output"] = _finite(clean["output"], "output", notes)
    timed = _usable_amount(clean, "duration_ms", "", notes)
    timed &= _usable_times(clean, notes)
    steps = clean.get("steps")
    if isinstance(steps, list):
        plain = [
            _known_fields(step, Step, f"steps[{index}].", notes) if isinstance(step, dict) else step
            for index, step in enumerate(steps)
        ]
        uncounted: dict[str, list[str]] = {}
        for index, step in enumerate(plain):
            if isinstance(step, dict):
                timed &= _clean_step(step, f"steps[{index}].", notes, uncounted)
        # One note for all calls with the same fields: long runs repeat them at every call.
        for names, places in uncounted.items():
            more = f" (and in {len(places) - 1} more)" if len(places) > 1 else ""
            notes.append(f"{places[0]}tokens: not counted: {names}{more}; kept in the metadata")
        clean["steps"] = clean_tree(plain, notes)
    return clean, timed


def _error_as_text(holder: dict[str, Any]) -> None:
    """Programs write an error as an object too, and `false` or `{}` for none."""
    error = holder.get("error")
    if error is not None and not isinstance(error, str):
        if error:
            holder["error"] = compact(error)
        else:
            del holder["error"]


def _finite(value: Any, place: str, notes: list[str]) -> Any:
    """The answer with null for each NaN and infinite number, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item, f"{place}.{key}", notes) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item, f"{place}[{index}]", notes) for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        notes.append(f"{place}: {value} is not a number of JSON; left unknown")
        return None
    return value


def _known_fields(
    data: dict[str, Any], kind: type[Struct], place: str, notes: list[str]
) -> dict[str, Any]:
    """Keep known fields; move unknown ones into the metadata, so that nothing is lost."""
    known = set(kind.__struct_fields__)
    if kind is Step:
        data = _with_tokens(data, place, notes)
    clean = {key: value for key, value in data.items() if key in known and value is not None}
    unknown = {key: value for key, value in data.items() if key not in known}
    for key in unknown:
        meant = _MEANT.get(key) or nearest(str(key)[:100], known, cutoff=0.75)
        if meant is not None and meant not in clean:
            notes.append(f"{place}{shown(key)} is not a field; did you mean {meant!r}?")
    if unknown and isinstance(clean.get("metadata", {}), dict):
        clean["metadata"] = {**unknown, **clean.get("metadata", {})}
    return clean


def _with_tokens(data: dict[str, Any], place: str, notes: list[str]) -> dict[str, Any]:
    """The step, with its usage under the name `tokens`."""
    for name in _USAGE:
        if isinstance(data.get(name), dict):
            if data.get("tokens") is None:
                return {
                    ("tokens" if key == name else key): value
                    for key, value in data.items()
                    if key != "tokens"
                }
            if data["tokens"] != data[name]:
                notes.append(f"{place}{name}: not read, the step has `tokens` too")
    return data


def _leave_out(holder: dict[str, Any], field: str, place: str, why: str, notes: list[str]) -> None:
    """Remove the field, add a note, and keep its value as text."""
    value = holder.pop(field)
    notes.append(f"{place}{field}: {shown(value)} {why}; left unknown")
    _keep_unusable(holder, field, value)


def _keep_unusable(holder: dict[str, Any], field: str, value: Any) -> None:
    metadata = holder.get("metadata", {})
    if isinstance(metadata, dict):
        earlier = metadata.get(UNUSABLE)
        kept = {**(earlier if isinstance(earlier, dict) else {}), field: shown(value)}
        holder["metadata"] = {**metadata, UNUSABLE: kept}


def _clean_step(
    step: dict[str, Any], place: str, notes: list[str], uncounted: dict[str, list[str]]
) -> bool:
    """Leave out unusable numbers; False if a duration was among them."""
    timed = _usable_amount(step, "duration_ms", place, notes)
    if "error" in step:
        _error_as_text(step)
    _usable_amount(step, "cost_usd", place, notes)
    tokens = step.get("tokens")
    if isinstance(tokens, dict):
        _clean_tokens(step, tokens, place, notes, uncounted)
    return timed


def _clean_tokens(
    step: dict[str, Any],
    tokens: dict[str, Any],
    place: str,
    notes: list[str],
    uncounted: dict[str, list[str]],
) -> None:
    model = step.get("model")
    found = read_usage(tokens, model if isinstance(model, str) else None)
    known = found.counts
    if found.left and isinstance(step.get("metadata", {}), dict):
        step["metadata"] = {"tokens": found.left, **step.get("metadata", {})}
    bad = [key for key, value in known.items() if not _is_count(value)]
    parts = 0 if bad else sum(known.get(key, 0) for key in _PARTS)
    if not bad and 0 < known.get("total_tokens", parts) < parts:
        bad = ["total_tokens"]
    # One bad or missing count makes the call's usage unknown: the sum of the rest is too low.
    if bad or found.problem:
        del step["tokens"]
        why = f".{bad[0]}: {shown(known[bad[0]])} is not a usable count" if bad else ""
        notes.append(f"{place}tokens{why or f': {found.problem}'}; left unknown")
        _keep_unusable(step, "tokens", tokens)
    elif "total_tokens" in known or {"prompt_tokens", "completion_tokens"} <= set(known):
        step["tokens"] = {key: int(value) for key, value in known.items()}
        if found.unknown:
            names = ", ".join(name[:60] for name in sorted(found.unknown)[:10])
            uncounted.setdefault(names, []).append(place)
    else:
        del step["tokens"]
        given = sorted(str(key) for key, value in tokens.items() if value is not None)
        if given:
            notes.append(
                f"{place}tokens: expected prompt_tokens and completion_tokens, or total_tokens, "
                f"found {', '.join(given)}; left unknown"
            )


_PARTS = ("prompt_tokens", "completion_tokens")


def _is_count(value: object) -> bool:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def _usable_amount(holder: dict[str, Any], field: str, place: str, notes: list[str]) -> bool:
    """True when the field is absent or usable; otherwise it is left out, with a note."""
    value = holder.get(field)
    if value is None or (type(value) in (int, float) and 0 <= value <= LARGEST_AMOUNT):
        return True
    if type(value) not in (int, float) and not (isinstance(value, str) and _is_number(value)):
        return True  # the decoder refuses a wrong type
    _leave_out(holder, field, place, "is not a usable number", notes)
    return False


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _usable_times(trace: dict[str, Any], notes: list[str]) -> bool:
    """False if the run ends before it starts; the end is then left out."""
    moments = []
    for field in ("started_at", "completed_at"):
        try:
            moments.append(msgspec.convert(trace.get(field), datetime))
        except msgspec.ValidationError:
            return True  # absent, or refused by the decoder
    start, end = moments
    if (start.tzinfo is None) != (end.tzinfo is None) or end >= start:
        return True
    _leave_out(trace, "completed_at", "", "is before started_at", notes)
    return False


_SURROGATE = lazy_pattern("[\ud800-\udfff]")  # half of an emoji in UTF-16: "\ud83d"


def without_surrogates(value: Any, notes: list[str]) -> Any:
    """Replace lone surrogates, which UTF-8 cannot encode, by their escapes, such as `\\ud800`."""
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        notes.append(f"half a surrogate pair in {shown(value)}; kept as an escape")
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {
            without_surrogates(key, notes): without_surrogates(item, notes)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [without_surrogates(item, notes) for item in value]
    return value


def with_warnings(trace: Trace, notes: list[str]) -> Trace:
    """The trace, after issuing each note as a `TraceWarning`."""
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
