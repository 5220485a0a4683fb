"""Reads the JSON form of a trace, with tolerance for imperfect files.

Unknown fields are kept in the metadata. A value that cannot be used (a negative count, a cost of
NaN, an end before its start) is left out with a note and is then *unknown*; no number is guessed in
its place. What was left out is kept as text under `unusable` in the metadata.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.errors import Problem, TraceError, TraceWarning
from trialrun.model.trace import (
    EVIDENCE,
    LARGEST_AMOUNT,
    LARGEST_COUNT,
    TIMINGS,
    UNUSABLE,
    Step,
    StepStatus,
    StepType,
    TokenUsage,
    Trace,
    TraceStatus,
)
from trialrun.util.texts import nearest

_TOO_DEEP = "nested too deeply to be read"

# Python's encoder writes NaN, Infinity and lone surrogates, which JSON does not allow. Files with
# them exist, and so do numbers with more digits than Python converts.
_LONGEST_INTEGER = 400


def decode(text: bytes | str) -> tuple[Trace, list[str]]:
    """Read one trace from JSON: the trace, and a note for each value that was left out."""
    return from_plain(decode_plain(text))


def decode_plain(text: bytes | str) -> Any:
    """The plain value of a JSON text; TraceError if it is invalid."""
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            found = error.object[error.start]
            raise TraceError(f"not UTF-8: byte 0x{found:02x} at offset {error.start}") from None
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise TraceError(_TOO_DEEP) from None
    except (msgspec.MsgspecError, ValueError):
        return _decode_forgiving(text)


def _decode_forgiving(text: str) -> Any:
    import json

    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise TraceError(_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg:
            raise TraceError(f"the JSON is cut off after {len(text):,} characters") from None
        message = error.msg.lower().removesuffix(" at")
        raise TraceError(f"not JSON: {message} at character {error.pos + 1}") from None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else math.inf


def from_plain(data: Any) -> tuple[Trace, list[str]]:
    """Read one trace from plain values: the trace, and a note for each value left out."""
    if not isinstance(data, dict):
        raise TraceError(f"a trace is a JSON object with `input`, found {_kind(data)}")
    try:
        notes: list[str] = []
        clean = _clean_trace(without_surrogates(data, notes), notes)
        return msgspec.convert(clean, Trace), notes
    except msgspec.ValidationError as error:
        raise TraceError(_readable(str(error))) from None
    except RecursionError:
        raise TraceError(_TOO_DEEP) from None


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
_MEANT = {"answer": "output", "question": "input", "tool": "tool_name", "usage": "tokens"}


def _clean_trace(data: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    clean = _known_fields(data, Trace, "", notes)
    if "input" not in clean:
        raise TraceError("`input` is missing: a trace needs at least what the agent was asked")
    timed = _usable_amount(clean, "duration_ms", "", notes)
    timed &= _usable_times(clean, notes)
    steps = clean.get("steps")
    if isinstance(steps, list):
        plain = [
            _known_fields(step, Step, f"steps[{index}].", notes) if isinstance(step, dict) else step
            for index, step in enumerate(steps)
        ]
        for index, step in enumerate(plain):
            if isinstance(step, dict):
                timed &= _clean_step(step, f"steps[{index}].", notes)
        clean["steps"] = _clean_tree(plain, notes)
    if "recorded" not in clean and "steps" not in clean:
        # A source without `steps` did not record them: that is not a run without steps.
        clean["recorded"] = [TIMINGS] if _has_times(clean) else []
    recorded = clean.get("recorded", sorted(EVIDENCE))
    if not timed and isinstance(recorded, list):
        # Without the unusable duration, the others would add up to less than the run took.
        clean["recorded"] = [kind for kind in recorded if kind != TIMINGS]
    return clean


def _has_times(trace: dict[str, Any]) -> bool:
    return "duration_ms" in trace or {"started_at", "completed_at"} <= set(trace)


def _known_fields(
    data: dict[str, Any], kind: type[Struct], place: str, notes: list[str]
) -> dict[str, Any]:
    """Keep known fields; move unknown ones into the metadata, so that nothing is lost."""
    known = set(kind.__struct_fields__)
    clean = {key: value for key, value in data.items() if key in known and value is not None}
    unknown = {key: value for key, value in data.items() if key not in known}
    for key in unknown:
        meant = _MEANT.get(key) or nearest(str(key)[:100], known, cutoff=0.75)
        if meant is not None and meant not in clean:
            notes.append(f"{place}{_shown(key)} is not a field; did you mean {meant!r}?")
    if unknown and isinstance(clean.get("metadata", {}), dict):
        clean["metadata"] = {**unknown, **clean.get("metadata", {})}
    return clean


def _leave_out(holder: dict[str, Any], field: str, place: str, why: str, notes: list[str]) -> None:
    """Remove the field, add a note, and keep its value as text."""
    value = holder.pop(field)
    notes.append(f"{place}{field}: {_shown(value)} {why}; left unknown")
    _keep_unusable(holder, field, value)


def _keep_unusable(holder: dict[str, Any], field: str, value: Any) -> None:
    metadata = holder.get("metadata", {})
    if isinstance(metadata, dict):
        earlier = metadata.get(UNUSABLE)
        kept = {**(earlier if isinstance(earlier, dict) else {}), field: _shown(value)}
        holder["metadata"] = {**metadata, UNUSABLE: kept}


def _clean_step(step: dict[str, Any], place: str, notes: list[str]) -> bool:
    """Leave out unusable numbers; False if a duration was among them."""
    timed = _usable_amount(step, "duration_ms", place, notes)
    _usable_amount(step, "cost_usd", place, notes)
    tokens = step.get("tokens")
    if isinstance(tokens, dict):
        _clean_tokens(step, tokens, place, notes)
    return timed


def _clean_tokens(
    step: dict[str, Any], tokens: dict[str, Any], place: str, notes: list[str]
) -> None:
    given = {key: value for key, value in tokens.items() if value is not None}
    known = {key: given[key] for key in TokenUsage.__struct_fields__ if key in given}
    extra = {key: value for key, value in given.items() if key not in known}
    if extra and isinstance(step.get("metadata", {}), dict):
        step["metadata"] = {"tokens": extra, **step.get("metadata", {})}
    bad = [key for key, value in known.items() if not _is_count(value)]
    parts = 0 if bad else sum(known.get(key, 0) for key in _PARTS)
    if not bad and 0 < known.get("total_tokens", parts) < parts:
        bad = ["total_tokens"]
    # One bad or missing count makes the call's usage unknown: the sum of the rest is too low.
    if bad:
        del step["tokens"]
        found = _shown(known[bad[0]])
        notes.append(f"{place}tokens.{bad[0]}: {found} is not a usable count; left unknown")
        _keep_unusable(step, "tokens", tokens)
    elif "total_tokens" in known or {"prompt_tokens", "completion_tokens"} <= set(known):
        step["tokens"] = {key: int(value) for key, value in known.items()}
    else:
        del step["tokens"]
        if given:
            notes.append(
                f"{place}tokens: expected prompt_tokens and completion_tokens, or total_tokens, "
                f"found {', '.join(sorted(map(str, given)))}; left unknown"
            )


_PARTS = ("prompt_tokens", "completion_tokens")


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "a number of thousands of digits"
    return text if len(text) <= 40 else text[:37] + "..."


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


def _clean_tree(steps: list[Any], notes: list[str]) -> list[Any]:
    """Keep only one of identical steps; remove a `parent_id` that is unknown or circular."""
    named: dict[str, Any] = {}
    kept = []
    for index, step in enumerate(steps):
        name = step.get("id") if isinstance(step, dict) else None
        if isinstance(name, str) and name:
            if name in named and named[name] == step:
                notes.append(
                    f"steps[{index}]: the step {_shown(name)} is there twice; counted once"
                )
                continue
            if name in named:
                notes.append(f"steps[{index}]: another step has the id {_shown(name)} too")
            named.setdefault(name, step)
        kept.append(step)
    rooted: set[str] = set()
    for index, step in enumerate(kept):
        parent = step.get("parent_id") if isinstance(step, dict) else None
        if isinstance(parent, str) and not _reaches_a_root(step, named, rooted):
            notes.append(f"steps[{index}].parent_id: {_shown(parent)} is not above it; removed")
            del step["parent_id"]
    return kept


def _reaches_a_root(step: dict[str, Any], named: dict[str, Any], rooted: set[str]) -> bool:
    """Whether the chain of parents ends at a root, without a cycle or an unknown parent.

    `rooted` caches steps that do, so that a long chain is walked once, not once for each link.
    """
    visited: list[str] = []
    seen = {step.get("id")}
    parent = step.get("parent_id")
    while isinstance(parent, str) and parent not in rooted:
        if parent in seen or parent not in named:
            return False
        seen.add(parent)
        visited.append(parent)
        parent = named[parent].get("parent_id")
    rooted.update(visited)
    return True


_SURROGATE = re.compile("[\ud800-\udfff]")  # half of an emoji in UTF-16: "\ud83d"


def without_surrogates(value: Any, notes: list[str]) -> Any:
    """Replace lone surrogates, which UTF-8 cannot encode, by their escapes, such as `\\ud800`."""
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        notes.append(f"half a surrogate pair in {_shown(value)}; kept as an escape")
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {
            without_surrogates(key, notes): without_surrogates(item, notes)
            for key, item in value.items()
        }
    if isinstance(value, list):
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
