"""Evaluate recorded traces: match each trace to a case, and give every case a result.

Every planned case is reported: one without a trace, with an unreadable trace or with a broken
baseline is an ERROR, and the others are evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from msgspec import Struct

from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.baseline_origin import UnlikeBaselines
from trialrun.engine.case_results import add_exchange, completed, error_result
from trialrun.engine.evaluate import evaluate, evaluate_async, run_coroutine
from trialrun.engine.judges import Judges, map_concurrently, rubrics_of_case
from trialrun.engine.plan import Selection, require_matches, why_nothing
from trialrun.engine.recorded_traces import named_traces
from trialrun.engine.trace_matches import Matches
from trialrun.errors import NothingSelected, Problem, TrialrunError
from trialrun.importers import scan
from trialrun.model.attempts import Recorded
from trialrun.model.case import EvalCase, Rubric, Suite
from trialrun.model.results import EvaluationResult, LayerStatus, RunResult
from trialrun.model.trace import Trace
from trialrun.pricing import PriceBook
from trialrun.redaction import Redactor

_NO_TRACE = "no recorded trace belongs to this case"


def score(
    suites: Sequence[Suite],
    trace_paths: Iterable[str | Path] = (),
    *,
    baselines: Path | None = None,
    require_baseline: bool = False,
    tags: Sequence[str] = (),
    names: Sequence[str] = (),
    prices: PriceBook | None = None,
    judge_cache: bool = True,
    allow_incomplete: float | None = None,
) -> RunResult:
    """Evaluate recorded traces. `allow_incomplete`: the share of traces that may have no answer.

    Raises NothingSelected if there is no case to evaluate."""
    plan = [(suite, case) for suite in suites for case in suite.selected(tags, names)]
    if not plan:
        raise NothingSelected(why_nothing(suites, Selection(tags=tags, names=names)))
    require_matches(suites, Selection(tags=tags, names=names))
    empty = [suite for suite in suites if not suite.cases]
    warnings = [f"{suite.file or suite.name}: the spec has no cases" for suite in empty]
    pool, broken = _read_pool(trace_paths, warnings)
    matches = Matches(suites, pool)
    known = Baselines(baselines)
    found: list[EvaluationResult | _Attempt] = []
    for suite, case in plan:
        case = case.with_options(prices, require_baseline)
        found += _attempts(suite, case, matches, known, broken, warnings)
    if any(True for one in found for _ in _rubrics(one)):
        redactor = Redactor([pattern for suite in suites for pattern in suite.redact]).plain
        judges = Judges(suites, cached=judge_cache, redactor=redactor)
        results = run_coroutine(_judge_together(found, judges))
    else:
        results = [one.judged() if isinstance(one, _Attempt) else one for one in found]
    unlike = UnlikeBaselines()
    for one in found:
        if isinstance(one, _Attempt):
            unlike.add(one.case, one.trace, one.baseline)
    warnings += [*matches.orphans(), *unlike.lines()]
    unreadable = sum(problem.count for problem in broken)
    return RunResult(
        results=_Scored(results, found),
        planned=len(plan),
        unreadable=unreadable,
        warnings=warnings,
        incomplete_traces=_incomplete(found, results),
        without_verdict=_without_verdict(results),
        traces=len(pool) + unreadable,
        allow_incomplete=allow_incomplete,
    )


class _Scored(list[EvaluationResult]):
    """Results with the traces that they are of, for reports that show what the agent did."""

    def __init__(
        self,
        results: Sequence[EvaluationResult],
        found: Sequence[EvaluationResult | _Attempt],
    ) -> None:
        super().__init__(results)
        self._found = found

    def attempts(self) -> Iterator[Recorded]:
        """Every result with its trace and its baseline."""
        for result, one in zip_longest(self, self._found):
            if isinstance(one, _Attempt):
                yield result, one.trace, one.baseline
            else:
                yield result, None, None


def _read_pool(
    paths: Iterable[str | Path], warnings: list[str]
) -> tuple[list[Trace], list[Problem]]:
    traces: list[Trace] = []
    broken: list[Problem] = []
    for path in paths:
        found, problems, notes = scan(path)
        traces += found
        broken += problems
        warnings += [str(note) for note in notes]
    warnings += [f"{problem} (not judged)" for problem in broken]
    return traces, broken


class _Attempt(Struct, frozen=True):
    """A trace with its case and baseline."""

    suite: Suite
    case: EvalCase
    trace: Trace
    baseline: Trace | None
    number: int
    is_repeated: bool  # there are other attempts at the case

    def judged(self) -> EvaluationResult:
        """The result if no judge is asked."""
        return self._completed(evaluate(self.case, self.trace, self.baseline))

    async def judged_by(self, judges: Judges) -> EvaluationResult:
        """The result, rubrics included."""
        judge = judges.of(self.suite)
        if self.is_repeated:  # attempts show whether verdicts differ: no cache
            judge = judge.without_cache()
        try:
            result = await evaluate_async(self.case, self.trace, self.baseline, judge=judge)
        except TrialrunError as error:
            result = error_result(self.suite, self.case, str(error), self.trace)
        return self._completed(result)

    def _completed(self, result: EvaluationResult) -> EvaluationResult:
        return completed(result, self.suite, self.number)


def _rubrics(one: EvaluationResult | _Attempt) -> Iterator[Rubric]:
    """The rubrics that a judge is asked about."""
    if isinstance(one, _Attempt):
        for part in (one.case, *one.case.turns):
            yield from rubrics_of_case(part)


async def _judge_together(
    found: Sequence[EvaluationResult | _Attempt], judges: Judges
) -> list[EvaluationResult]:
    async def judged(one: EvaluationResult | _Attempt) -> EvaluationResult:
        return await one.judged_by(judges) if isinstance(one, _Attempt) else one

    models = {
        (one.suite.name, rubric.model): (one.suite, rubric)
        for one in found
        if isinstance(one, _Attempt)
        for rubric in _rubrics(one)
    }
    async with judges:
        for suite, rubric in models.values():  # report an unusable model before any is asked
            await judges.of(suite).prepare([rubric])
        return await map_concurrently(found, judged, judges.concurrency)


def _attempts(
    suite: Suite,
    case: EvalCase,
    matches: Matches,
    baselines: Baselines,
    broken: Sequence[Problem],
    warnings: list[str],
) -> list[EvaluationResult | _Attempt]:
    traces: Sequence[Trace] = ()
    try:
        traces = named_traces(suite, case, warnings) if case.trace else matches.of(suite, case)
        baseline = baselines.find(suite, case, warnings)
    except TrialrunError as error:
        only = traces[0] if len(traces) == 1 else None
        return [error_result(suite, case, str(error), only)]
    if not traces:
        reason = _NO_TRACE
        if broken:
            reason += "; some traces could not be read"
        return [error_result(suite, case, reason)]
    several = len(traces) > 1
    attempts: list[EvaluationResult | _Attempt] = []
    for number, trace in enumerate(traces, 1):
        wrong = None if case.trace else matches.why_not(suite, case, trace)
        if wrong is None:
            attempts.append(_Attempt(suite, case, trace, baseline, number, several))
        else:
            refused = error_result(suite, case, wrong)
            add_exchange(refused, case, trace)
            refused.attempt = number
            attempts.append(refused)
    return attempts


def _incomplete(
    found: Sequence[EvaluationResult | _Attempt], results: Sequence[EvaluationResult]
) -> int:
    """How many traces were read, but hold no answer that could be judged."""
    return sum(
        isinstance(one, _Attempt)
        and one.trace.output is None
        and result.status is LayerStatus.ERROR
        for one, result in zip(found, results, strict=True)
    )


def _without_verdict(results: Sequence[EvaluationResult]) -> int:
    """How many cases have no attempt with a verdict. The attempts of a case follow each other."""
    silent, judged = 0, True
    for one in results:
        has_verdict = one.status is not LayerStatus.ERROR
        if one.attempt == 1:
            silent, judged = silent + (not judged), has_verdict
        judged = judged or has_verdict
    return silent + (not judged)
