"""What a process knows of the attempts of the run that it writes, apart from the store.

An agent can reach the store: it can delete it, or put a row into it. What is counted and reported
of a run in progress is therefore compared with digests that only this process has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from trialrun.store.rows import row_digest
from trialrun.util.texts import counted

Key = tuple[int, int]
"""Position and number of an attempt."""

_SHOWN = 5


class _Digests(Struct, frozen=True, gc=False):
    status: str
    row: bytes
    trace: bytes


class Written:
    """The attempts of a run that this process wrote, or found when it took the run over.

    A row lists the columns of `ATTEMPT_CONTENT`: position and attempt first, the trace last.
    """

    def __init__(self, rows: Iterable[Sequence[Any]] = (), plan: bytes = b"") -> None:
        self.plan = plan  # a digest of what the run planned
        self._known: dict[Key, _Digests] = {}
        self.add(rows)

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """These rows are on disk now."""
        for row in rows:
            status = str(row[3])
            digests = _Digests(status, row_digest(row[:-1]), row_digest(row[-1:]))
            self._known[row[0], row[1]] = digests

    def holds(self, row: Sequence[Any], with_trace: bool = True) -> bool:
        """Whether the row is what was written; without its trace, where that was not read."""
        known = self._known.get((row[0], row[1]))
        if known is None or known.row != row_digest(row[:-1]):
            return False
        return not with_trace or known.trace == row_digest(row[-1:])

    def keys(self, positions: Collection[int] | None = None) -> list[Key]:
        """The attempts in order; of these positions, where they are given."""
        wanted = None if positions is None else set(positions)
        return sorted(key for key in self._known if wanted is None or key[0] in wanted)

    def recorded(self) -> dict[int, list[tuple[int, str]]]:
        """The attempts with their statuses, by position."""
        found: dict[int, list[tuple[int, str]]] = {}
        for position, attempt in self.keys():
            status = self._known[position, attempt].status
            found.setdefault(position, []).append((attempt, status))
        return found

    def verified(self, rows: Iterable[Sequence[Any]]) -> Differences:
        """What differs between these rows, which the store holds, and what was written."""
        left = set(self._known)
        found = Differences()
        for row in rows:
            key = (row[0], row[1])
            if key not in self._known:
                found.foreign.append(key)
            elif not self.holds(row):
                found.changed.append(key)
            left.discard(key)
        found.missing = sorted(left)
        return found

    def merged(
        self, rows: Iterable[Sequence[Any]], positions: Collection[int] | None, with_trace: bool
    ) -> Iterator[tuple[Key, Sequence[Any] | None]]:
        """Every attempt in order with its row; None in place of one that is not what was written.

        Rows of other programs are left out.
        """
        expected = iter(self.keys(positions))
        key = next(expected, None)
        for row in rows:
            while key is not None and key < (row[0], row[1]):
                yield key, None
                key = next(expected, None)
            if key == (row[0], row[1]):
                yield key, row if self.holds(row, with_trace) else None
                key = next(expected, None)
        while key is not None:
            yield key, None
            key = next(expected, None)


class Differences(Struct):
    """How the record of a run differs from what was written."""

    missing: list[Key] = []
    changed: list[Key] = []
    foreign: list[Key] = []

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.foreign)

    def __str__(self) -> str:
        words = (
            ("no longer there", self.missing),
            ("changed by another program", self.changed),
            ("not written by this run", self.foreign),
        )
        return "; ".join(
            f"{counted(len(keys), 'attempt')} {what} ({_listed(keys)})"
            for what, keys in words
            if keys
        )


def _listed(keys: Sequence[Key]) -> str:
    more = ", …" if len(keys) > _SHOWN else ""
    shown = (f"case {position + 1}, attempt {attempt}" for position, attempt in keys[:_SHOWN])
    return "; ".join(shown) + more
