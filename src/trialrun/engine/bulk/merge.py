"""Put parts together: number attempts, drop what a match by name replaces, add missing cases."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun.engine.baseline_origin import UnlikeBaselines
from trialrun.engine.bulk.chunks import ChunkPlan
from trialrun.engine.bulk.part import MOST_LISTED, Counts, Summary, Sums
from trialrun.engine.bulk.work import Scorer
from trialrun.engine.case_results import error_result
from trialrun.errors import Problem
from trialrun.model.results import EvaluationResult, RunResult
from trialrun.util.texts import counted

NO_TRACE = "no recorded trace belongs to this case"
_MOST_WARNINGS = 1_000


class Totals(Struct, kw_only=True):
    """What all parts together say."""

    run: RunResult
    sums: Sums
    red: Sequence[EvaluationResult] = ()  # the first with a failure or an error, of a large run
    left_out: int = 0  # traces that are not in the sample


class Merger:
    """Makes the totals of a bulk result, and numbers its rows, chunk after chunk.

    The summaries are read twice: what stays of a chunk depends on all chunks.
    """

    def __init__(
        self, scorer: Scorer, plan: ChunkPlan, summaries: Iterable[Summary], empty: Sequence[str]
    ) -> None:
        self._scorer = scorer
        self._warnings = list(empty)
        self._numbers = array("L", [0]) * len(scorer.cases)  # attempts of each case
        self._rows = array("L", [0]) * len(scorer.cases)
        self._has_named = bytearray(len(scorer.cases))
        self._has_verdict = bytearray(len(scorer.cases))
        self._lacks_baseline = bytearray(len(scorer.cases))
        self._left_out_of = bytearray(len(scorer.cases))
        self._sums = Sums()
        self._traces = self._left_out = 0
        self._strays: list[str] = []
        self._by_input: dict[tuple[int, ...], int] = {}
        self._further_strays = 0
        self._by_case: dict[int, dict[str, None]] = {}
        self._unlike = UnlikeBaselines()
        self._listing = _Listing(plan)
        for summary in summaries:
            self._look_at(summary)

    def _look_at(self, summary: Summary) -> None:
        self._listing.add(summary)
        self._traces += summary.traces
        self._left_out += summary.left_out
        weak = set(summary.weak)
        for row, number in enumerate(summary.cases):
            if row not in weak:
                self._has_named[number] = 1
            self._rows[number] += 1
        for number in summary.left_out_of:
            self._left_out_of[number] = 1
        for number in summary.named_left_out:
            self._has_named[number] = 1
        space = MOST_LISTED - len(self._strays)
        self._strays += summary.strays[:space]
        self._further_strays += summary.further_strays + len(summary.strays[space:])
        for numbers, count in summary.by_input:
            key = tuple(numbers)
            self._by_input[key] = self._by_input.get(key, 0) + count
        for number, text in summary.warnings:
            self._by_case.setdefault(number, {})[text] = None
        self._unlike.update(summary.unlike)

    @property
    def most_attempts(self) -> int:
        """At most so many attempts does a case have."""
        return max(self._rows)

    # Rows

    def kept(self, summary: Summary, rows: Iterable[Any]) -> Iterator[tuple[int, int, int, Any]]:
        """The rows that stay: place in the chunk, case, number of the attempt, and the row."""
        self._count(summary)
        weak, named, numbers = set(summary.weak), self._has_named, self._numbers
        for place, (number, row) in enumerate(zip(summary.cases, rows, strict=True)):
            if not (place in weak and named[number]):
                numbers[number] += 1
                yield place, number, numbers[number], row

    def missing(self) -> Iterator[tuple[int, EvaluationResult]]:
        """The ERROR of each planned case without a row: every planned case is reported.

        Cases of which the sample left out every trace are not planned.
        """
        reason = NO_TRACE
        if self._listing.unreadable:
            reason += "; some traces could not be read"
        for number in self._scorer.cases.planned:
            if self._numbers[number] or self._left_out_of[number]:
                continue
            found = self._scorer.prepared(number)
            self._by_case.setdefault(number, {}).update(dict.fromkeys(found.warnings))
            made = error_result(found.suite, found.case, found.error or reason)
            self._numbers[number] = 1
            counts = Counts()
            counts.add(made, False)
            self._sums.add(counts, found.case.tags, None, None)
            yield number, made

    def _count(self, summary: Summary) -> None:
        self._sums.merge(summary.sums)
        for number in summary.with_verdict:
            self._has_verdict[number] = 1
        for number in summary.without_baseline:
            self._lacks_baseline[number] = 1
        for number, sums in summary.sums_by_input.items():
            if not self._has_named[number]:
                self._sums.merge(sums)
                self._has_verdict[number] |= sums.counts.has_verdict
                self._lacks_baseline[number] |= bool(sums.counts.without_baseline)

    # Totals

    def totals(self, results: Any, allow_incomplete: float | None) -> Totals:
        """The run, when all rows were given out."""
        planned = self._scorer.cases.planned
        reported = sum(self._numbers[number] > 0 for number in planned)
        not_sampled = sum(
            bool(self._left_out_of[number]) and not self._numbers[number] for number in planned
        )
        if reported + not_sampled != len(planned):
            raise AssertionError("a planned case is not reported")
        silent = sum(
            self._numbers[number] > 0 and not self._has_verdict[number] for number in planned
        )
        counts, unreadable = self._sums.counts, self._listing.unreadable
        run = RunResult(
            results=results,
            planned=len(planned) - not_sampled,
            unreadable=unreadable,
            warnings=self._all_warnings(not_sampled),
            incomplete_traces=counts.silent,
            without_verdict=silent,
            traces=self._traces + unreadable,
            allow_incomplete=allow_incomplete,
            counted=counts.tally(reported, sum(self._lacks_baseline)),
        )
        return Totals(run=run, sums=self._sums, left_out=self._left_out)

    def _all_warnings(self, not_sampled: int) -> list[str]:
        warnings = [*self._warnings, *self._listing.notes(), *self._listing.broken()]
        warnings += [text for number in sorted(self._by_case) for text in self._by_case[number]]
        warnings += self._strays
        if self._further_strays:
            warnings.append(f"and {self._further_strays:,} more traces that belong to no case")
        warnings += self._replaced()
        warnings += self._unlike.lines()
        if self._left_out:
            warnings.append(_of_sample(self._left_out, not_sampled))
        return warnings

    def _replaced(self) -> Iterator[str]:
        """Traces matched by their input to cases that have traces of their names."""
        for numbers, count in self._by_input.items():
            if all(self._has_named[number] for number in numbers):
                names = ", ".join(self._scorer.cases[number][1].name for number in numbers)
                verb = "belongs" if count == 1 else "belong"
                yield (
                    f"{counted(count, 'trace')} {verb} to no case: the input is that of {names}, "
                    "but there are traces of that name"
                )


def _of_sample(left_out: int, not_sampled: int) -> str:
    text = f"{left_out:,} traces are not in the sample"
    if not_sampled:
        text += f"; {not_sampled} cases of which no trace is in it are not judged"
    return text


class _Listing:
    """Collects problems and notes of all parts, with the numbers of lines in whole files."""

    def __init__(self, plan: ChunkPlan) -> None:
        self._chunks = {chunk.number: chunk for chunk in plan.chunks}
        self._notes = [str(note) for note in plan.notes]
        self._further_notes = 0
        self._problems: dict[int, list[Problem]] = {}
        self._further: dict[str, int] = {}
        self._lines_before: dict[str, int] = {}
        self.unreadable = 0
        for source, problem in plan.problems:
            self._problem(source, problem)

    def add(self, summary: Summary) -> None:
        pieces = self._chunks[summary.chunk].pieces
        offsets = []
        for piece, lines in zip(pieces, summary.lines, strict=False):
            before = self._lines_before.get(piece.file, 0) if piece.end is not None else 0
            offsets.append(before)
            if piece.end is not None:
                self._lines_before[piece.file] = before + lines
        for place, problem in summary.problems:
            self._problem(pieces[place].source, _moved(problem, offsets[place]))
        for place, count in summary.further.items():
            self._count(pieces[place].file, count)
        for place, note in summary.notes:
            if len(self._notes) < _MOST_WARNINGS:
                self._notes.append(str(_moved(note, offsets[place])))
            else:
                self._further_notes += 1
        self._further_notes += summary.further_notes

    def _problem(self, source: int, problem: Problem) -> None:
        # The first problems of a damaged file say enough; the rest are counted.
        listed = self._problems.setdefault(source, [])
        if len(listed) < MOST_LISTED:
            listed.append(problem)
            self.unreadable += problem.count
        else:
            self._count(str(problem.file), problem.count)

    def _count(self, file: str, count: int) -> None:
        self._further[file] = self._further.get(file, 0) + count
        self.unreadable += count

    def notes(self) -> list[str]:
        """What was left out, a line each."""
        if self._further_notes:
            return [*self._notes, f"and {self._further_notes:,} more notes like these"]
        return self._notes

    def broken(self) -> list[str]:
        """What cannot be read, a line each."""
        listed = [one for _, found in sorted(self._problems.items()) for one in found]
        lines = [f"{one} (not judged)" for one in listed]
        for file, count in self._further.items():
            text = f"and {count:,} more that cannot be read"
            lines.append(f"{Problem(text, file=file, count=count)} (not judged)")
        return lines


def _moved(problem: Problem, lines: int) -> Problem:
    if not lines or problem.line is None:
        return problem
    return replace(problem, line=problem.line + lines)
