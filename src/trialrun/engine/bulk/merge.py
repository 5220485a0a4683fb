"""Put parts together: number attempts, drop what a match by name replaces, add missing cases."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun.engine.baseline_origin import UnlikeBaselines
from trialrun.engine.bulk.chunks import ChunkPlan
from trialrun.engine.bulk.part import MOST_LISTED, Counts, Summary
from trialrun.engine.bulk.work import Scorer
from trialrun.engine.case_results import error_result
from trialrun.errors import Problem
from trialrun.model.results import EvaluationResult, RunResult

NO_TRACE = "no recorded trace belongs to this case"
_MOST_WARNINGS = 1_000
_MOST_GROUPS = 10_000

Summaries = Callable[[], Iterable[Summary]]
"""The summaries in the order of their chunks, again at each call."""


class Totals(Struct, kw_only=True):
    """What all parts together say, and the rows that stay."""

    run: RunResult
    by: dict[str, dict[str, Counts]]
    """By `tag`, `model` and `day`: the attempts of each."""
    left_out: int = 0


class Merger:
    """Makes the totals of a bulk result, and numbers its rows, chunk after chunk."""

    def __init__(
        self, scorer: Scorer, plan: ChunkPlan, summaries: Summaries, empty: Sequence[str] = ()
    ) -> None:
        self._scorer = scorer
        self._plan = plan
        self._summaries = summaries
        self._warnings = list(empty)
        self._numbers = array("L", [0]) * len(scorer.cases)  # attempts of each case
        self._has_named = bytearray(len(scorer.cases))
        self._has_verdict = bytearray(len(scorer.cases))
        self._lacks_baseline = bytearray(len(scorer.cases))
        self._left_out = bytearray(len(scorer.cases))
        self._total = Counts()
        self._by: dict[str, dict[str, Counts]] = {"tag": {}, "model": {}, "day": {}}
        for summary in summaries():
            weak = set(summary.weak)
            for row, number in enumerate(summary.cases):
                if row not in weak:
                    self._has_named[number] = 1
            for number in summary.left_out_of:
                self._left_out[number] = 1
            for number in summary.named_left_out:
                self._has_named[number] = 1

    # Rows

    def kept(self, summary: Summary, rows: Iterable[Any]) -> Iterator[tuple[int, int, Any]]:
        """The rows that stay, each with its case and the number of the attempt."""
        weak = set(summary.weak)
        for place, (number, row) in enumerate(zip(summary.cases, rows, strict=True)):
            if not (place in weak and self._has_named[number]):
                self._numbers[number] += 1
                yield number, self._numbers[number], row

    def missing(self) -> Iterator[tuple[int, EvaluationResult]]:
        """The ERROR of each planned case without a row: every planned case is reported.

        Cases of which the sample left out every trace are not planned.
        """
        has_broken = any(True for summary in self._summaries() if summary.problems)
        reason = NO_TRACE
        if has_broken or self._plan.problems:
            reason += "; some traces could not be read"
        for number in self._scorer.cases.planned:
            if self._numbers[number] or self._left_out[number]:
                continue
            found = self._scorer.prepared(number)
            self._warnings += found.warnings
            made = error_result(found.suite, found.case, found.error or reason)
            self._numbers[number] = 1
            self._fold(number, None, None, Counts(), made)
            yield number, made

    # Totals

    def totals(self, results: Any, allow_incomplete: float | None) -> Totals:
        """The run, when all rows were given out."""
        cases = self._scorer.cases
        listing = _Listing(self._plan)
        traces = left_out = cut = 0
        strays: list[str] = []
        further = 0
        by_case: dict[int, dict[str, None]] = {}
        unlike = UnlikeBaselines()
        for summary in self._summaries():
            listing.add(summary)
            traces += summary.traces
            left_out += summary.left_out
            lines, more = self._strays(summary)
            further += more + max(0, len(lines) - (_MOST_WARNINGS - len(strays)))
            strays += lines[: _MOST_WARNINGS - len(strays)]
            for number, text in summary.warnings:
                by_case.setdefault(number, {})[text] = None
            unlike.update(summary.unlike)
        warnings = [*self._warnings, *listing.notes(), *listing.broken()]
        warnings += [text for number in sorted(by_case) for text in by_case[number]]
        warnings += strays
        if further:
            warnings.append(f"and {further:,} more traces that belong to no case")
        warnings += unlike.lines()
        reported = sum(self._numbers[number] > 0 for number in cases.planned)
        not_sampled = sum(
            bool(self._left_out[number]) and not self._numbers[number] for number in cases.planned
        )
        if left_out:
            warnings.append(_of_sample(left_out, not_sampled))
        if reported + not_sampled != len(cases.planned):
            raise AssertionError("a planned case is not reported")
        lacking = sum(self._lacks_baseline)
        silent = sum(
            self._numbers[number] > 0 and not self._has_verdict[number] for number in cases.planned
        )
        run = RunResult(
            results=results,
            planned=len(cases.planned) - not_sampled,
            unreadable=listing.unreadable,
            warnings=warnings,
            incomplete_traces=self._total.silent + cut,
            without_verdict=silent,
            traces=traces + listing.unreadable,
            allow_incomplete=allow_incomplete,
            counted=self._total.tally(reported, lacking),
        )
        return Totals(run=run, by=self._by, left_out=left_out)

    def count(self, summary: Summary) -> None:
        """Add the attempts of a part that stay."""
        for group in summary.groups:
            if not (group.weak and self._has_named[group.number]):
                self._fold(group.number, group.model, group.day, group.counts)

    def _fold(
        self,
        number: int,
        model: str | None,
        day: str | None,
        counts: Counts,
        result: EvaluationResult | None = None,
    ) -> None:
        if result is not None:
            counts.add(result, False)
        if counts.attempts > counts.statuses.get("error", 0):
            self._has_verdict[number] = 1
        if counts.without_baseline:
            self._lacks_baseline[number] = 1
        self._total.merge(counts)
        tags = self._scorer.cases[number][1].tags or ("(no tag)",)
        keys = {"tag": tags, "model": (model or "(no model)",), "day": (day or "(no day)",)}
        for kind, names in keys.items():
            groups = self._by[kind]
            for name in names:
                if name not in groups and len(groups) >= _MOST_GROUPS:
                    name = "(others)"
                groups.setdefault(name, Counts()).merge(counts)

    def _strays(self, summary: Summary) -> tuple[list[str], int]:
        """Traces without a case, and how many more: a match by input may have been replaced."""
        lines = [
            label
            for label, numbers in summary.strays
            if label and all(self._has_named[number] for number in numbers)
        ]
        return lines, summary.further_strays


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
