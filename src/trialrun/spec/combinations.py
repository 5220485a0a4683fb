"""Reads the parts of `any_of`, `all_of` and `not`: each is a block of checks of the same layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trialrun.model.results import Severity
from trialrun.spec.defaults import Reading, refuse_null
from trialrun.spec.severities import default_severity
from trialrun.spec.validation import LocatedDict, Place, Problems
from trialrun.util.texts import shown

if TYPE_CHECKING:
    from trialrun.checks.base import Check

ReadBlock = Callable[[LocatedDict, Mapping[str, Any], Place], list["Check"]]


def build(
    kind: type[Check],
    key: str,
    layer: str,
    value: Any,
    severity: Severity | None,
    place: Place,
    reading: Reading,
    read_block: ReadBlock,
) -> Check | None:
    """The combination; None after adding the problems of its parts."""
    problems = reading.problems
    before = len(problems.found)
    groups = [
        _checks_of(part, where, problems, read_block)
        for part, where in _parts(kind, value, place, problems)
    ]
    if len(problems.found) > before or not groups:
        return None
    severity = severity or default_severity(kind, layer, reading.severities)
    made = kind(name=key, severity=severity, parts=groups)  # type: ignore[call-arg]
    made.belongs_to(layer)  # type: ignore[attr-defined]
    return made


def with_options(part: Mapping[str, Any], block: LocatedDict, options: set[str]) -> LocatedDict:
    """The part, with those of the options that only the block around it gives."""
    merged = LocatedDict()
    merged.update(part)
    for marks in ("source_paths", "key_marks", "value_marks"):
        getattr(merged, marks).update(getattr(part, marks, {}))
    for key in sorted(options - set(part)):
        if key in block:
            merged[key] = block[key]
            for marks in ("source_paths", "key_marks", "value_marks"):
                if key in getattr(block, marks):
                    getattr(merged, marks)[key] = getattr(block, marks)[key]
    return merged


def blocks_within(value: Any) -> Iterator[Mapping[str, Any]]:
    """The parts of a combination, as far as they have the form of parts."""
    if isinstance(value, Mapping) and "value" in value and set(value) <= {"value", "severity"}:
        value = value["value"]
    for part in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(part, Mapping):
            yield part


def _parts(
    kind: type[Check], value: Any, place: Place, problems: Problems
) -> Iterator[tuple[dict[str, Any], Place]]:
    """The blocks of a combination, each with its place."""
    if not kind.takes_list:  # type: ignore[attr-defined]
        found = [(value, place)]
    elif isinstance(value, (list, tuple)) and value:
        found = [(part, place.item(value, at)) for at, part in enumerate(value)]  # type: ignore[arg-type]
    else:
        wanted = "expected a list of blocks, such as [{exact_match: yes}, {exact_match: no}]"
        problems.add(place, f"{wanted}; found {shown(value)}")
        return
    for part, where in found:
        if isinstance(part, dict) and part:
            yield part, where
        else:
            wanted = "expected a mapping with checks, such as {exact_match: yes}"
            problems.add(where, f"{wanted}; found {shown(part)}")


def _checks_of(
    part: dict[str, Any], place: Place, problems: Problems, read_block: ReadBlock
) -> list[Check]:
    before = len(problems.found)
    for key, value in part.items():
        if value is None:
            refuse_null(part, key, place, problems)
        if isinstance(value, dict) and "severity" in value and set(value) <= {"value", "severity"}:
            problems.add(
                place.value(part, key), "a part has no severity: give it to the combination"
            )
    if len(problems.found) > before:
        return []
    checks = read_block(part, part, place)  # type: ignore[arg-type]
    for check in checks:
        if not check.combinable:
            problems.add(place.key(part, check.name), "cannot be a part of a combination")
    if not checks and len(problems.found) == before:
        problems.add(place, "checks nothing")
    return checks
