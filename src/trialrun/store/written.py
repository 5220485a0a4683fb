"""What a process knows of the attempts of the run that it writes, apart from the store.

An agent can reach the store: it can delete it, or put a row into it. What is counted and reported
of a run in progress is therefore compared with digests that only this process has.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from trialrun.store.rows import row_digest
from trialrun.util.texts import counted

Key = tuple[int, int]
"""Position and number of an attempt."""

_SHOWN = 5


_SIZE = 16
"""Bytes of a digest."""

_LONGEST_GAP = 1_000_000
"""Most positions that are left out between two attempts, and have their place all the same."""


class Written:
    """The attempts of a run that this process wrote, or found when it took the run over.

    A row lists the columns of `ATTEMPT_CONTENT`: position and attempt first, the trace last. A run
    may have very many attempts: their digests are in one piece of memory.
    """

    def __init__(self, rows: Iterable[Sequence[Any]] = (), plan: bytes = b"") -> None:
        self.plan = plan  # a digest of what the run planned
        self._digests = bytearray()  # of the row without its trace, then of the trace
        self._statuses = array("I")  # of each place, as the index of a text
        self._texts: list[str] = []
        self._first = array("q")  # the place of the first attempt at each position, or -1
        self._others: dict[int, dict[int, int]] = {}  # position → attempt → place
        self.add(rows)

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """These rows are on disk now."""
        for row in rows:
            digests = row_digest(row[:-1]) + row_digest(row[-1:])
            place = self._place((row[0], row[1]))
            if place is None:
                place = self._new_place(row[0], row[1])
                self._statuses.append(0)
                self._digests += digests
            else:
                self._digests[2 * _SIZE * place : 2 * _SIZE * (place + 1)] = digests
            status = str(row[3])
            if status not in self._texts:
                self._texts.append(status)
            self._statuses[place] = self._texts.index(status)

    def _new_place(self, position: int, attempt: int) -> int:
        place = len(self._statuses)
        more = position + 1 - len(self._first)
        if attempt != 1 or position < 0 or more > _LONGEST_GAP:
            self._others.setdefault(position, {})[attempt] = place
            return place
        self._first.extend([-1] * more)
        self._first[position] = place
        return place

    def _place(self, key: Key) -> int | None:
        position, attempt = key
        if attempt == 1 and 0 <= position < len(self._first) and self._first[position] >= 0:
            return self._first[position]
        return self._others.get(position, {}).get(attempt)

    def holds(self, row: Sequence[Any], with_trace: bool = True) -> bool:
        """Whether the row is what was written; without its trace, where that was not read."""
        place = self._place((row[0], row[1]))
        if place is None:
            return False
        start = 2 * _SIZE * place
        if self._digests[start : start + _SIZE] != row_digest(row[:-1]):
            return False
        known = self._digests[start + _SIZE : start + 2 * _SIZE]
        return not with_trace or known == row_digest(row[-1:])

    def keys(self, positions: Iterable[int] | None = None) -> Iterator[Key]:
        """The attempts in order; of these positions, where they are given."""
        if positions is None:
            before = sorted(at for at in self._others if at < 0)
            after = sorted(at for at in self._others if at >= len(self._first))
            positions = chain(before, range(len(self._first)), after)
        else:
            positions = sorted(set(positions))
        for position in positions:
            attempts = set(self._others.get(position, ()))
            if 0 <= position < len(self._first) and self._first[position] >= 0:
                attempts.add(1)
            for attempt in sorted(attempts):
                yield position, attempt

    def made(self) -> Iterator[tuple[int, int, str]]:
        """Position, number and status of each attempt, in order."""
        for key in self.keys():
            place = self._place(key)
            assert place is not None
            yield *key, self._texts[self._statuses[place]]

    def verified(self, rows: Iterable[Sequence[Any]]) -> Differences:
        """What differs between these rows, which the store holds, and what was written."""
        seen = bytearray(len(self._statuses))
        found = Differences()
        for row in rows:
            key = (row[0], row[1])
            place = self._place(key)
            if place is None:
                found.foreign.append(key)
                continue
            if not self.holds(row):
                found.changed.append(key)
            seen[place] = True
        found.missing = [key for key in self.keys() if not seen[self._place(key) or 0]]
        return found

    def merged(
        self, rows: Iterable[Sequence[Any]], positions: Collection[int] | None, with_trace: bool
    ) -> Iterator[tuple[Key, Sequence[Any] | None]]:
        """Every attempt in order with its row; None in place of one that is not what was written.

        Rows of other programs are left out.
        """
        expected = self.keys(positions)
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
