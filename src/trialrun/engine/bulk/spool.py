"""Results that are read from their rows at each iteration, so that none is kept in memory."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, overload

from trialrun.engine.bulk.rows import result_in
from trialrun.model.results import EvaluationResult

MOST_SHOWN = 100


class RowIndex:
    """Where the rows of a file begin, and of which case each is."""

    def __init__(self) -> None:
        self._places = array("Q")
        self._numbers = array("L")
        self.red = array("Q")

    def add(self, place: int, number: int, is_red: bool) -> None:
        """Note one more row; the first with a failure or an error can be shown at once."""
        if is_red and len(self.red) < MOST_SHOWN:
            self.red.append(place)
        self._places.append(place)
        self._numbers.append(number)

    def by_case(self, cases: int) -> array[int]:
        """The places in the order of the cases, and within a case in that of the file."""
        following = array("L", bytes(array("L").itemsize * (cases + 1)))
        for number in self._numbers:
            following[number + 1] += 1
        for number in range(cases):
            following[number + 1] += following[number]
        ordered = array("Q", bytes(self._places.itemsize * len(self._places)))
        for place, number in zip(self._places, self._numbers, strict=True):
            ordered[following[number]] = place
            following[number] += 1
        return ordered


class RowFile:
    """A file of rows, which stays open as long as its results are needed."""

    def __init__(self, written: IO[bytes]) -> None:
        # A descriptor of our own: the writer of the rows closes the file, and may rename it.
        self._descriptor = os.dup(written.fileno())
        self._stream = open(self._descriptor, "rb", closefd=False)  # noqa: SIM115

    def at(self, place: int) -> EvaluationResult:
        """The result of which the row begins here."""
        self._stream.seek(place)
        return result_in(self._stream.readline())

    def __del__(self) -> None:
        os.close(self._descriptor)


class SpooledResults(Sequence[EvaluationResult]):
    """The results of which a file has the rows, in the order of their cases."""

    def __init__(self, file: RowFile, places: array[int]) -> None:
        self._file = file
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[EvaluationResult]:
        return map(self._file.at, self._places)

    @overload
    def __getitem__(self, index: int) -> EvaluationResult: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[EvaluationResult]: ...

    def __getitem__(self, index: int | slice) -> EvaluationResult | Sequence[EvaluationResult]:
        if isinstance(index, slice):
            return SpooledResults(self._file, self._places[index])
        return self._file.at(self._places[index])
