"""From a chunk of traces to its rows and its summary: a pure function for every engine.

The rows of a chunk depend on the spec, the options and the chunk alone. What only the whole shows
(the number of an attempt, whether a case has a trace of its name) is left to `merge`.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.baseline_origin import differences
from trialrun.engine.bulk.chunks import Chunk, Reader
from trialrun.engine.bulk.folder import PartsFolder, Rows
from trialrun.engine.bulk.part import About, Summary, Tallying
from trialrun.engine.bulk.rows import encoded, row_of
from trialrun.engine.case_results import add_exchange, completed, error_result
from trialrun.engine.evaluate import evaluate, evaluate_async
from trialrun.engine.recorded_traces import named_traces
from trialrun.engine.trace_matches import CaseIndex, Cases, Match
from trialrun.errors import Problem, TrialrunError, UsageError
from trialrun.model.case import EvalCase, Suite
from trialrun.model.results import EvaluationResult, LayerStatus
from trialrun.model.steps import StepType
from trialrun.model.trace import Trace
from trialrun.pricing import PriceBook
from trialrun.redaction import Redactor

if TYPE_CHECKING:
    from trialrun.engine.judges import Judges

_MOST_KEPT = 1_000
_LLM_CALL = StepType.LLM_CALL

Sink = Callable[[EvaluationResult, About, "Attempt"], None]
"""Takes each result with its model, its day, and the attempt with its trace."""


class Options(Struct, frozen=True, kw_only=True):
    """The options of `score` that can change a row."""

    baselines: Path | None = None
    require_baseline: bool = False
    tags: Sequence[str] = ()
    names: Sequence[str] = ()
    prices: PriceBook | None = None
    sample: float | None = None


class Attempt(Struct, frozen=True):
    """A trace with its case and its baseline; `refused` says why it has no verdict."""

    match: Match
    suite: Suite
    case: EvalCase
    trace: Trace | None
    baseline: Trace | None
    number: int
    refused: str | None = None
    is_comparable: bool = True

    def judged(self, brief: bool) -> EvaluationResult:
        """The result if no judge is asked; `brief`: without data of checks that passed."""
        if self.trace is None or self.refused is not None:
            return self._without_verdict()
        result = evaluate(self.case, self.trace, self.baseline)
        return completed(result, self.suite, self.number, brief)

    async def judged_by(self, judges: Judges, counts: Mapping[int, int]) -> EvaluationResult:
        """The result, rubrics included."""
        if self.trace is None or self.refused is not None:
            return self._without_verdict()
        judge = judges.of(self.suite)
        if counts.get(self.match.number, 0) > 1:  # attempts show whether verdicts differ: no cache
            judge = judge.without_cache()
        try:
            result = await evaluate_async(self.case, self.trace, self.baseline, judge=judge)
        except TrialrunError as error:
            result = error_result(self.suite, self.case, str(error), self.trace)
        return completed(result, self.suite, self.number)

    def _without_verdict(self) -> EvaluationResult:
        reason = self.refused or ""
        if self.is_comparable:
            result = error_result(self.suite, self.case, reason, self.trace)
        else:  # an answer to another question: its totals are not those of this case
            result = error_result(self.suite, self.case, reason)
            add_exchange(result, self.case, self.trace)
        result.attempt = self.number
        if self.trace is not None:
            result.trace_id = self.trace.id
        return result


class Scorer:
    """Everything that judging a chunk needs besides the chunk: made once in each process."""

    def __init__(self, suites: Sequence[Suite], options: Options) -> None:
        self.suites = suites
        self.options = options
        self.cases = Cases(suites, options.tags, options.names)
        self.index = CaseIndex(self.cases)
        self.known = Baselines(options.baselines)
        self.redactor = Redactor([pattern for suite in suites for pattern in suite.redact]).plain
        self.full_rows = True
        self._prepared: OrderedDict[int, _Prepared] = OrderedDict()

    def case(self, number: int) -> tuple[Suite, EvalCase]:
        """The case with the options of the run."""
        suite, case = self.cases[number]
        return suite, case.with_options(self.options.prices, self.options.require_baseline)

    def prepared(self, number: int) -> _Prepared:
        """The case with its baseline; the latest are kept, since traces come in any order."""
        found = self._prepared.get(number)
        if found is None:
            suite, case = self.case(number)
            warnings: list[str] = []
            try:
                found = _Prepared(suite, case, self.known.find(suite, case, warnings))
            except TrialrunError as error:
                found = _Prepared(suite, case, None, str(error))
            found.warnings += warnings
            self._prepared[number] = found
            if len(self._prepared) > _MOST_KEPT:
                self._prepared.popitem(last=False)
        return found

    @property
    def with_file(self) -> list[int]:
        """The planned cases that name their own traces."""
        return [number for number in self.index.with_file if self.cases.is_planned[number]]


class _Prepared(Struct):
    suite: Suite
    case: EvalCase
    baseline: Trace | None
    error: str | None = None
    warnings: list[str] = msgspec.field(default_factory=list)


def judge_chunk(scorer: Scorer, chunk: Chunk, sink: Sink) -> Summary:
    """Judge the traces of a chunk, one after the other, and give each result to `sink`."""
    tallying = Tallying(chunk.number)
    for attempt in attempts_in(scorer, chunk, tallying):
        _add(tallying, attempt, attempt.judged(not scorer.full_rows), sink)
    return tallying.done()


async def judge_chunk_with(
    scorer: Scorer,
    chunk: Chunk,
    sink: Sink,
    judges: Judges,
    counts: Mapping[int, int],
    named: Collection[int],
) -> Summary:
    """The same with judges, which are asked about several traces at once.

    `counts`: the traces of each case; `named`: the cases that have traces of their names. Traces
    that these replace are left out: judges cost money.
    """
    from trialrun.engine.judges import map_concurrently

    async def judged(one: Attempt) -> EvaluationResult:
        return await one.judged_by(judges, counts)

    tallying = Tallying(chunk.number)
    attempts = list(without_replaced(attempts_in(scorer, chunk, tallying), named))
    results = await map_concurrently(attempts, judged, judges.concurrency)
    for attempt, result in zip(attempts, results, strict=True):
        _add(tallying, attempt, result, sink)
    return tallying.done()


def without_replaced(attempts: Iterable[Attempt], named: Collection[int]) -> Iterator[Attempt]:
    """The attempts but those by input of these cases, which have traces of their names."""
    return (one for one in attempts if not (one.match.weak and one.match.number in named))


def _add(tallying: Tallying, attempt: Attempt, result: EvaluationResult, sink: Sink) -> None:
    trace = attempt.trace
    about: About = (None, None)
    if trace is not None:
        about = model_of(trace), day_of(trace)
        if attempt.baseline is not None and attempt.refused is None:
            for text in differences(attempt.baseline, trace):
                tallying.summary.unlike.setdefault(text, set()).add(attempt.case.name)
    is_silent = (
        trace is not None
        and trace.output is None
        and attempt.refused is None
        and result.status is LayerStatus.ERROR
    )
    tallying.row(attempt.match, attempt.case, about, result, is_silent)
    sink(result, about, attempt)


def attempts_in(scorer: Scorer, chunk: Chunk, tallying: Tallying) -> Iterator[Attempt]:
    """The traces of a chunk with their cases; what cannot be read is noted."""
    made: Counter[tuple[int, bool]] = Counter()
    for match, trace in _matched(scorer, chunk, tallying):
        yield _attempt(scorer, match, trace, made, tallying)


def matches_in(scorer: Scorer, chunk: Chunk) -> Iterator[Match]:
    """Only which cases the traces of a chunk belong to: for judges, who cost money."""
    return (match for match, _ in _matched(scorer, chunk, Tallying(chunk.number)))


def _matched(
    scorer: Scorer, chunk: Chunk, tallying: Tallying
) -> Iterator[tuple[Match, Trace | None]]:
    for number in chunk.cases:
        yield from _of_named(scorer, number, tallying)
    for place, piece in enumerate(chunk.pieces):
        reader = Reader(piece)
        try:
            for found in reader:
                if found.problem is not None:
                    tallying.problem(place, found.problem)
                if found.notes:
                    tallying.note(place, found.notes)
                if found.trace is not None:
                    tallying.summary.traces += 1
                    for match in _cases_of(scorer, found.trace, tallying):
                        yield match, found.trace
        except (OSError, UsageError) as error:
            if not piece.among_others:
                raise
            tallying.problem(place, Problem(str(error), file=piece.file))
        tallying.summary.lines.append(reader.lines)


def _of_named(
    scorer: Scorer, number: int, tallying: Tallying
) -> Iterator[tuple[Match, Trace | None]]:
    """The traces of a case that names its own; without one if they cannot be read."""
    suite, case = scorer.case(number)
    warnings: list[str] = []
    try:
        traces: Sequence[Trace | None] = named_traces(suite, case, warnings)
    except TrialrunError as error:
        scorer.prepared(number).error = str(error)
        traces = [None]
    tallying.summary.warnings += [(number, text) for text in warnings]
    for trace in traces:
        yield Match(number), trace


def _cases_of(scorer: Scorer, trace: Trace, tallying: Tallying) -> Iterator[Match]:
    matches = scorer.index.of(trace)
    share = scorer.options.sample
    if share is not None and not in_sample(trace, share):
        tallying.summary.left_out += 1
        left_out = tallying.summary.left_out_of
        for match in matches:
            left_out[match.number] = left_out.get(match.number, 0) + 1
            if not match.weak:
                tallying.summary.named_left_out.add(match.number)
        return
    if not matches:
        tallying.stray(trace)
    elif all(match.weak for match in matches):
        tallying.by_input(matches)
    for match in matches:
        if scorer.cases.is_planned[match.number]:
            yield match


def _attempt(
    scorer: Scorer,
    match: Match,
    trace: Trace | None,
    made: Counter[tuple[int, bool]],
    tallying: Tallying,
) -> Attempt:
    key = (match.number, match.weak)
    made[key] += 1
    found = scorer.prepared(match.number)
    if made[key] == 1:
        tallying.summary.warnings += [(match.number, text) for text in found.warnings]
    suite, case = found.suite, found.case
    if found.error is not None:
        return Attempt(match, suite, case, trace, None, made[key], found.error)
    wrong = None
    if case.trace is None and trace is not None:
        wrong = scorer.index.why_not(match.number, trace)
    return Attempt(match, suite, case, trace, found.baseline, made[key], wrong, wrong is None)


# What a row says about its trace


def model_of(trace: Trace) -> str | None:
    """The model that was called most often; the first of several that were called as often."""
    called: dict[str, int] = {}
    for step in trace.steps:
        if step.type is _LLM_CALL and step.model:
            called[step.model] = called.get(step.model, 0) + 1
    return max(called, key=called.__getitem__) if called else None


def day_of(trace: Trace) -> str | None:
    """The day on which the run began, in UTC: `2026-07-18`."""
    began = trace.started_at
    if began is None:
        return None
    try:
        return (began if began.tzinfo is None else began.astimezone(UTC)).date().isoformat()
    except OverflowError:  # the first or the last day that there is
        return began.date().isoformat()


_PARTS = 1 << 32


def in_sample(trace: Trace, share: float) -> bool:
    """Whether the trace is in the sample: the same for the same id, wherever it is read."""
    key = trace.id if trace.id is not None else f"{trace.name}\n{trace.input}\n{trace.answer_text}"
    from hashlib import blake2b

    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") < share * _PARTS


# The part of a chunk


class RowSink:
    """Encodes results as rows."""

    def __init__(self, rows: Rows, scorer: Scorer) -> None:
        self._rows = rows
        self._redactor = scorer.redactor
        self._full = scorer.full_rows

    def __call__(self, result: EvaluationResult, about: About, attempt: Attempt) -> None:
        """Add the row of a result."""
        self._rows.add(encoded(row_of(result, *about, full=self._full), self._redactor))


def make_part(scorer: Scorer, chunk: Chunk, folder: PartsFolder) -> Summary:
    """Judge a chunk and put its rows and its summary into the folder."""
    with folder.writing(chunk.number) as rows:
        summary = judge_chunk(scorer, chunk, RowSink(rows, scorer))
        rows.describe(summary)
    folder.finish(summary)
    return summary
