"""The blocks of a case with the defaults behind them, each key at the place where it stood."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trialrun.model.results import CheckResult
from trialrun.spec.validation import LocatedDict, Place, Problems
from trialrun.util.texts import did_you_mean, shown

if TYPE_CHECKING:
    from trialrun.checks.base import Check


class Block(Struct, frozen=True):
    """One block of a case: as it was written, and what it asks.

    `implied` is the check of the match mode that nobody asked for.
    """

    written: LocatedDict
    free: Sequence[Check] = ()
    judges: Sequence[Check] = ()
    settled: Sequence[CheckResult] = ()
    implied: Check | None = None


class Reading:
    """What reading a case needs to know beside the case: where it stands, what it inherits.

    `same` names the layers whose blocks are the same in every case of a table: they are read
    once, and `kept`.
    """

    def __init__(
        self,
        problems: Problems,
        defaults: Mapping[str, Any] | None = None,
        folder: str | None = None,
        same: Collection[str] = (),
        kept: dict[str, Block | None] | None = None,
    ) -> None:
        self.problems = problems
        self.defaults = defaults or {}
        self.folder = folder
        self.same = same
        self.kept = {} if kept is None else kept


def refuse_unknown(
    data: Mapping[str, Any], known: set[str], place: Place, problems: Problems
) -> None:
    """Add a problem for every key that is not known, with the nearest that is."""
    for key in data:
        if key not in known:
            hint = did_you_mean(str(key), known)
            problems.add(place.key(data, key), "unknown key" + hint)  # type: ignore[arg-type]


def merged_block(
    data: dict[str, Any], layer: str, place: Place, reading: Reading
) -> tuple[LocatedDict, Place] | None:
    """The block with the defaults behind it; None if there is neither, or it was set to null."""
    own, default = data.get(layer), reading.defaults.get(layer)
    where = Place(f"{place.path}.{layer}" if place.path else layer, place.mark)
    if layer in data:
        where = place.value(data, layer)
        if own is None:
            default = None
        elif not isinstance(own, dict):
            reading.problems.add(where, f"expected a mapping, found {shown(own)}")
            return None
    inherited = default if isinstance(default, dict) else None
    merged = LocatedDict()
    for key in inherited or ():
        _take(merged, inherited, key, f"defaults.{layer}")
    if layer == "correctness":
        _take_state(merged, reading.defaults, inherited, Place("defaults"), reading.problems)
    for key in own or ():
        _take(merged, own, key, where.path)
    if layer == "correctness":
        _take_state(merged, data, own, place, reading.problems)
    if own is None and inherited is None and not merged:
        return None
    for key in [key for key, value in merged.items() if value is None]:
        del merged[key]
    return merged, where


def _take(merged: LocatedDict, source: Any, key: str, home: str) -> None:
    """A key of the source, with its place there."""
    merged[key] = source[key]
    merged.homes[key] = home
    for marks in ("key_marks", "value_marks"):
        mark = getattr(source, marks, {}).get(key)
        if mark is not None:
            getattr(merged, marks)[key] = mark


def _take_state(
    merged: LocatedDict, holder: Any, block: dict[str, Any] | None, place: Place, problems: Problems
) -> None:
    """`state` may stand beside the correctness block that it is a check of, but not in both."""
    if "state" not in holder:
        return
    if block and "state" in block:
        problems.add(place.key(holder, "state"), "is given in `correctness` too: give it once")
    else:
        _take(merged, holder, "state", place.path)
