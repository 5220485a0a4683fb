"""Merges the defaults into the blocks of a case; each key keeps its place in the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trialrun.model.results import CheckResult
from trialrun.spec.foreign_keys import equivalent
from trialrun.spec.severities import Severities
from trialrun.spec.validation import LocatedDict, Place, Problems
from trialrun.util.texts import did_you_mean, shown

if TYPE_CHECKING:
    from trialrun.checks.base import Check


class Block(Struct, frozen=True):
    """One block of a case: its keys and values, and its checks.

    `implied` is the default `match_mode` check, used if there is a reference.
    """

    written: LocatedDict
    free: Sequence[Check] = ()
    judges: Sequence[Check] = ()
    settled: Sequence[CheckResult] = ()
    implied: Check | None = None


class Reading:
    """The context in which a case is read: problems, defaults, severities, the spec's folder.

    `same` names the layers whose blocks are the same in every case of a table: they are read once
    and stored in `kept`.
    """

    def __init__(
        self,
        problems: Problems,
        defaults: Mapping[str, Any] | None = None,
        folder: str | None = None,
        same: Collection[str] = (),
        kept: dict[str, Block | None] | None = None,
        severities: Severities | None = None,
    ) -> None:
        self.problems = problems
        self.defaults = defaults or {}
        self.folder = folder
        self.same = same
        self.kept = {} if kept is None else kept
        self.severities = severities or {}

    def with_severities(self, severities: Severities) -> Reading:
        """The same context for a case that gives further severities, which come first."""
        if not severities:
            return self
        both = {**self.severities, **severities}
        return Reading(self.problems, self.defaults, self.folder, self.same, self.kept, both)


def refuse_unknown(
    data: Mapping[str, Any], known: set[str], place: Place, problems: Problems
) -> None:
    """Add a problem for every unknown key: what it is called here, or the nearest known one."""
    for key in data:
        if key not in known:
            message = equivalent(str(key), in_case="query" in known)
            message = message or "unknown key" + did_you_mean(str(key), known)
            problems.add(place.key(data, key), message)  # type: ignore[arg-type]


def merged_block(
    data: dict[str, Any], layer: str, place: Place, reading: Reading
) -> tuple[LocatedDict, Place] | None:
    """The block with the defaults merged in; None if there is neither, or it was set to null."""
    own, default = data.get(layer), reading.defaults.get(layer)
    where = Place(f"{place.path}.{layer}" if place.path else layer, place.mark)
    if layer in data:
        where = place.value(data, layer)
        if own is None:
            if not default:
                refuse_null(data, layer, place, reading.problems)
            default = None
        elif not isinstance(own, dict):
            reading.problems.add(where, f"expected a mapping, found {shown(own)}")
            return None
    inherited = default if isinstance(default, dict) else None
    merged = LocatedDict()
    _lay_over(merged, inherited, Place(f"defaults.{layer}"), reading.problems)
    if layer == "correctness":
        _add_state(merged, reading.defaults, inherited, Place("defaults"), reading.problems)
    _lay_over(merged, own, where, reading.problems)
    if layer == "correctness":
        _add_state(merged, data, own, place, reading.problems)
    return None if own is None and inherited is None and not merged else (merged, where)


def refuse_null(data: Mapping[str, Any], key: str, place: Place, problems: Problems) -> None:
    """Report a key of a file that has no value. In code None means "not given"."""
    if isinstance(data, LocatedDict) and key in data and data[key] is None:
        problems.add(place.key(data, key), _NO_VALUE)


MAY_BE_NULL = frozenset({"name", "description", "timeout"})
"""Keys of a case or a suite whose absence asserts nothing less."""

_NO_VALUE = "has no value; null only removes a default that exists"


def _lay_over(
    merged: LocatedDict, block: dict[str, Any] | None, place: Place, problems: Problems
) -> None:
    for key in block or ():
        _copy_key(merged, block, key, place, problems)


def _copy_key(merged: LocatedDict, source: Any, key: str, place: Place, problems: Problems) -> None:
    """Copy a key of the source, with its place there; null removes the key instead."""
    if source[key] is None:
        if merged.pop(key, None) is None:
            problems.add(place.key(source, key), _NO_VALUE)
        return
    merged[key] = source[key]
    merged.source_paths[key] = place.path
    for marks in ("key_marks", "value_marks"):
        mark = getattr(source, marks, {}).get(key)
        if mark is not None:
            getattr(merged, marks)[key] = mark


def _add_state(
    merged: LocatedDict, holder: Any, block: dict[str, Any] | None, place: Place, problems: Problems
) -> None:
    """Copy `state` into the correctness block: it may be given there or next to it, not both."""
    if "state" not in holder:
        return
    if block and "state" in block:
        problems.add(place.key(holder, "state"), "is given in `correctness` too: give it once")
    else:
        _copy_key(merged, holder, "state", place, problems)
