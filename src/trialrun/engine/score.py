"""Evaluate recorded traces: match each trace to a case, and give every case a result.

Every planned case is reported: one without a trace, with an unreadable trace or with a broken
baseline is an ERROR, and the others are evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from trialrun.engine.baseline_lookup import Baselines
from trialrun.engine.case_results import completed, error_result
from trialrun.engine.evaluate import evaluate, evaluate_async, run_coroutine
from trialrun.engine.judges import Judges, map_concurrently, rubrics_of_case
from trialrun.engine.plan import Selection, why_nothing
from trialrun.engine.recorded_traces import named_traces
from trialrun.errors import NothingSelected, Problem, TrialrunError
from trialrun.importers import scan
from trialrun.model.case import EvalCase, Rubric, Suite
from trialrun.model.results import EvaluationResult, RunResult
from trialrun.model.trace import Trace
from trialrun.pricing import PriceBook
from trialrun.redaction import Redactor
from trialrun.util.texts import excerpt


def score(
    suites: Sequence[Suite],
    trace_paths: Iterable[str | Path] = (),
    *,
    baselines: Path | None = None,
    tags: Sequence[str] = (),
    names: Sequence[str] = (),
    prices: PriceBook | None = None,
    judge_cache: bool = True,
) -> RunResult:
    """Evaluate recorded traces. Raises NothingSelected if there is no case to evaluate."""
    plan = [(suite, case) for suite in suites for case in suite.selected(tags, names)]
    if not plan:
        raise NothingSelected(why_nothing(suites, Selection(tags=tags, names=names)))
    empty = [suite for suite in suites if not suite.cases]
    warnings = [f"{suite.file or suite.name}: the spec has no cases" for suite in empty]
    pool, broken = _read_pool(trace_paths, warnings)
    matches = _Matches(suites, pool)
    known = Baselines(baselines)
    found: list[EvaluationResult | _Attempt] = []
    for suite, case in plan:
        if prices is not None:
            case = replace(case, prices=prices)
        found += _attempts(suite, case, matches, known, broken, warnings)
    if any(True for one in found for _ in _rubrics(one)):
        redactor = Redactor([pattern for suite in suites for pattern in suite.redact]).plain
        judges = Judges(suites, cached=judge_cache, redactor=redactor)
        results = run_coroutine(_judge_together(found, judges))
    else:
        results = [one.judged() if isinstance(one, _Attempt) else one for one in found]
    warnings += matches.orphans()
    return RunResult(results=results, planned=len(plan), unreadable=len(broken), warnings=warnings)


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


class _Matches:
    """Matches traces to cases: by equal name, else by equal input."""

    def __init__(self, suites: Sequence[Suite], pool: Sequence[Trace]) -> None:
        cases = [case for suite in suites for case in suite.cases if case.trace is None]
        names = {case.name for case in cases}
        self.by_name: dict[str, list[Trace]] = {}
        by_input: dict[str, list[Trace]] = {}
        for trace in pool:
            if trace.name is not None and trace.name in names:
                self.by_name.setdefault(trace.name, []).append(trace)
            else:
                by_input.setdefault(trace.input, []).append(trace)
        nameless = {case.input for case in cases if case.name not in self.by_name}
        self.by_input = {text: by_input[text] for text in by_input if text in nameless}
        self.strays = [
            trace for text, traces in by_input.items() if text not in nameless for trace in traces
        ]

    def of(self, case: EvalCase) -> list[Trace]:
        """The traces of this case; several are attempts."""
        return self.by_name.get(case.name) or self.by_input.get(case.input) or []

    def orphans(self) -> list[str]:
        """Warnings about traces without a case: the name of a case may be misspelt."""
        return [
            f"a trace belongs to no case: {excerpt(trace.name or trace.id or 'unnamed', 60)}, "
            f"input {excerpt(trace.input, 60)}"
            for trace in self.strays
        ]


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
            result = error_result(self.suite, self.case, str(error))
        return self._completed(result)

    def _completed(self, result: EvaluationResult) -> EvaluationResult:
        return completed(result, self.suite, self.case, self.trace, self.number)


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
    matches: _Matches,
    baselines: Baselines,
    broken: Sequence[Problem],
    warnings: list[str],
) -> list[EvaluationResult | _Attempt]:
    try:
        traces = named_traces(suite, case, warnings) if case.trace else matches.of(case)
        baseline = baselines.find(suite, case, warnings)
    except TrialrunError as error:
        return [error_result(suite, case, str(error))]
    if not traces:
        reason = "no recorded trace belongs to this case"
        if broken:
            reason += "; some traces could not be read"
        return [error_result(suite, case, reason)]
    several = len(traces) > 1
    return [
        _Attempt(suite, case, trace, baseline, number, several)
        for number, trace in enumerate(traces, 1)
    ]
