"""The results of evaluating a trace against a case; `statuses.py` says how they are combined."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from trialrun.measures.stability import Stability
from trialrun.model.exchanges import Exchange
from trialrun.model.failed_calls import FailedCall
from trialrun.model.ledger import Ledger
from trialrun.model.notebooks import Shown
from trialrun.model.withheld import Withheld

REPORT_VERSION = 1


class CheckStatus(StrEnum):
    """The status of one check. `unknown` is lack of evidence: never a pass, never a failure."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


class Severity(StrEnum):
    """The effect on its layer of a check that does not pass."""

    FAIL = "fail"
    WARN = "warn"


class Layer(Struct, frozen=True):
    """A group of checks: its name in specs and reports, and its checks' default severity."""

    name: str
    severity: Severity


_LAYERS = (
    Layer("correctness", Severity.FAIL),
    Layer("path", Severity.WARN),
    Layer("cost", Severity.WARN),
    Layer("verification", Severity.WARN),
    Layer("retrieval", Severity.WARN),
    Layer("regression", Severity.FAIL),
)
LAYERS = {layer.name: layer for layer in _LAYERS}
"""The layers by name, in display order. A result always contains all of them."""


class LayerStatus(StrEnum):
    """The status of a layer, and of a case."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    ERROR = "error"
    SKIP = "skip"


# Looking a member up on an Enum class costs ten times a global in Python 3.11.
_UNKNOWN = CheckStatus.UNKNOWN
_SKIPPED = CheckStatus.SKIPPED
_PASS = LayerStatus.PASS
_WARN = LayerStatus.WARN
_FAIL = LayerStatus.FAIL
_ERROR = LayerStatus.ERROR
_SKIP = LayerStatus.SKIP


class Vote(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The result of one call of one judge: a score from 1 to 5, or the reason why it has none.

    A `cached` vote was taken from the cache; its tokens and cost are those of the first call.
    """

    model: str
    score: int | None = None
    rationale: str = ""
    error: str | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    calls: int = 1
    cached: bool = False


class Verdict(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The judges' decision on one rubric: the majority decides, `score` is the mean.

    `passed` is None if they are evenly split, or too few gave a score.
    """

    rule: str
    minimum: int
    passed: bool | None
    score: float | None
    prompt_version: str
    votes: Sequence[Vote]


class CheckResult(Struct, frozen=True, gc=False, omit_defaults=True):
    """The result of one check on one trace, with the judges' `verdicts` if it is a judged check.

    `data` says the same as the message in plain values, for programs: `wanted`, `found`, `missing`,
    `limit` (at most), `minimum` (at least) and whatever else the check reports.
    """

    name: str
    status: CheckStatus
    severity: Severity
    message: str = ""
    turn: int | None = None
    verdicts: Sequence[Verdict] = ()
    data: dict[str, Any] = msgspec.field(default_factory=dict)


def is_without_baseline(check: CheckResult) -> bool:
    """Whether the check was skipped because there is no baseline."""
    return check.status is _SKIPPED and check.message == NO_BASELINE


class LayerResult(Struct, frozen=True, omit_defaults=True):
    """The results of one layer's checks, and the status of the layer."""

    status: LayerStatus
    checks: Sequence[CheckResult] = ()

    def settled(self, brief: bool = False) -> LayerResult:
        """The same layer, without a reference to its trace."""
        return self


class MetricResult(Struct, omit_defaults=True):
    """A number with a unit. None: undefined. `error` says why it could not be computed."""

    metric_name: str
    value: float | int | None
    unit: str | None = None
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    error: str | None = None
    gate: CheckResult | None = None


class JudgeSpend(Struct, omit_defaults=True):
    """What the judges cost, apart from the agent's cost. Cached verdicts cost nothing again.

    `cost_usd` is None as soon as the price of one call is unknown.
    """

    calls: int = 0
    cached: int = 0
    total_tokens: int | None = 0
    cost_usd: float | None = 0.0

    def add_vote(self, vote: Vote) -> None:
        """Count one more vote, cached or not."""
        if vote.cached:
            self.cached += 1
            return
        self.add(JudgeSpend(vote.calls, 0, vote.total_tokens, vote.cost_usd))

    def add(self, other: JudgeSpend) -> None:
        """Add another spend to this one."""
        self.calls += other.calls
        self.cached += other.cached
        self.total_tokens = _sum(self.total_tokens, other.total_tokens)
        self.cost_usd = _sum(self.cost_usd, other.cost_usd)


Amount = TypeVar("Amount", int, float)


def _sum(one: Amount | None, other: Amount | None) -> Amount | None:
    return None if one is None or other is None else one + other


NO_BASELINE = "no baseline to compare with; `trialrun baseline save` makes one"
"""The message of a check against a baseline that was skipped because there is none."""

NO_CRASH = "no_crash"
"""Key in the metadata of a trace whose error was not a crash: its text says what happened."""


class EvaluationResult(Struct, Shown, kw_only=True, omit_defaults=True):
    """The result of one attempt at one case."""

    case_name: str
    status: LayerStatus
    layers: dict[str, LayerResult]
    metrics: list[MetricResult]
    error: str | None = None
    suite_name: str | None = None
    agent: str | None = None
    attempt: int = 1
    trace_id: str | None = None
    tags: Sequence[str] = ()
    duration_ms: float | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    question: str | None = None  # shortened, as is the answer: the trace has them in full
    answer: str | None = None
    earlier_errors: Sequence[str] = ()
    """Why earlier tries of this attempt failed: infrastructure errors, which are retried."""

    judge: JudgeSpend | None = None
    turns: Sequence[Exchange] = ()  # of a conversation
    failed_calls: Sequence[FailedCall] = ()  # tool calls, whether or not a check asks for them
    ledger: Ledger | None = None  # of a session that `verify --store` recorded

    @classmethod
    def without_verdict(cls, case_name: str, reason: str, **known: Any) -> EvaluationResult:
        """The ERROR result of a case that could not be judged: it still appears in reports."""
        empty = cls(case_name=case_name, status=_ERROR, layers={}, metrics=[], **known)
        return empty.withdrawn(reason)

    def withdrawn(self, reason: str) -> EvaluationResult:
        """The same attempt as an ERROR with this reason, without results of checks."""
        layers = dict.fromkeys(LAYERS, LayerResult(_SKIP))
        return replace(self, status=_ERROR, layers=layers, metrics=[], error=reason)

    @property
    def tries(self) -> str | None:
        """`3 tries; earlier: refused; refused` for an attempt that was retried."""
        if not self.earlier_errors:
            return None
        return f"{len(self.earlier_errors) + 1} tries; earlier: {'; '.join(self.earlier_errors)}"

    def settle(self, brief: bool = False) -> None:
        """Describe every check now, so that the result no longer refers to the trace.

        `brief`: checks that passed get no data, which takes longer to make than all the rest.
        """
        self.layers = {name: layer.settled(brief) for name, layer in self.layers.items()}

    @property
    def test_case_name(self) -> str:
        """evaldeck's name for `case_name`."""
        return self.case_name

    @property
    def passed(self) -> bool:
        """True for PASS and for WARN: a warning does not fail a case."""
        return self.status in (_PASS, _WARN)

    def assert_passed(self, strict: bool = False) -> None:
        """Raise AssertionError with the question, the answer and the reasons unless it passed.

        With `strict`, a warning does not pass.
        """
        if not self.passed or (strict and self.status is not _PASS):
            from trialrun.model.explained import explained

            raise AssertionError(explained(self))

    def __repr__(self) -> str:
        """Short, with the reasons: pytest shows it for a failed `assert result.passed`."""
        from trialrun.model.explained import summarized

        return summarized(self)

    def checks(self) -> Iterable[tuple[str, CheckResult]]:
        """Every check with its layer's name; gates of metrics come last, as layer `metrics`."""
        for layer, result in self.layers.items():
            for check in result.checks:
                yield layer, check
        for metric in self.metrics:
            if metric.gate is not None:
                yield "metrics", metric.gate


class CaseStability(Struct, frozen=True, kw_only=True):
    """The stability statistics of one case."""

    suite_name: str
    agent: str | None
    case_name: str
    stability: Stability
    retried: int = 0  # attempts that needed more than one try


class Gate(Struct, frozen=True):
    """A condition on the whole run, in addition to its cases' verdicts. None: unknown."""

    name: str
    holds: bool | None
    message: str


class Tally(Struct):
    """Totals of a run's results, counted in one pass, because there may be many."""

    statuses: dict[LayerStatus, int] = msgspec.field(
        default_factory=lambda: dict.fromkeys(LayerStatus, 0)
    )
    attempts: int = 0
    cases: int = 0
    unknown_checks: int = 0
    without_baseline: int = 0  # cases with a check that was skipped for lack of a baseline
    retried: int = 0  # attempts that were made again after an infrastructure error
    known_cost_usd: float | None = None
    has_unknown_cost: bool = False
    total_tokens: int | None = 0
    judge: JudgeSpend | None = None  # None if no judge was called

    def add(self, result: EvaluationResult) -> None:
        """Count one more result."""
        self.statuses[result.status] += 1
        self.attempts += 1
        self.cases += result.attempt == 1
        compared = True
        for _, check in result.checks():
            if check.status is _UNKNOWN:
                self.unknown_checks += 1
            elif is_without_baseline(check):
                compared = False
        self.without_baseline += result.attempt == 1 and not compared
        self.retried += bool(result.earlier_errors)
        if result.cost_usd is None:
            self.has_unknown_cost = True
        else:
            self.known_cost_usd = (self.known_cost_usd or 0.0) + result.cost_usd
        if result.total_tokens is None or self.total_tokens is None:
            self.total_tokens = None
        else:
            self.total_tokens += result.total_tokens
        if result.judge is not None:
            self.judge = self.judge or JudgeSpend()
            self.judge.add(result.judge)

    @property
    def cost_usd(self) -> float | None:
        """Dollars of all results; None as soon as one is unknown."""
        return None if self.has_unknown_cost else self.known_cost_usd


class RunResult(Struct, Shown, kw_only=True, dict=True):
    """The results of a run: each of the `planned` cases has at least one.

    `unreadable` counts traces that could not be read: each may have been an attempt at a case, so
    a run with one is not complete. `results` may be read from a store on each iteration. With
    `by_rate`, a gate on the pass rate decides instead of single failures. `incomplete`: the run was
    stopped, or its record is not what it wrote; such a run has not passed.
    """

    results: Collection[EvaluationResult]
    planned: int
    unreadable: int = 0
    warnings: list[str] = msgspec.field(default_factory=list)
    run_id: str | None = None
    stability: Sequence[CaseStability] = ()
    gates: Sequence[Gate] = ()
    by_rate: bool = False
    incomplete: bool = False
    origin: dict[str, Any] = msgspec.field(default_factory=dict)  # of a recorded run
    # Bulk scoring: traces in all, those without an answer, cases of which no trace has a verdict,
    # and the share of traces that may be unreadable or without an answer.
    traces: int = 0
    incomplete_traces: int = 0
    without_verdict: int = 0
    allow_incomplete: float | None = None
    prices: str | None = None  # the price list, for a recorded run
    counted: Tally | None = None  # the totals, if they were counted during the run
    masked: int | None = None  # masks in the texts of the results, once they were counted
    withheld: Withheld | None = None  # what was left out, if this is made to be shared
    sessions: bool = False  # its cases are sessions that `trialrun verify` read

    @property
    def tally(self) -> Tally:
        """The totals of the results."""
        if self.counted is not None:
            return self.counted
        if isinstance(self.results, list):  # results may still be added, so do not cache
            return self._counted()
        if "tally" not in self.__dict__:
            self.__dict__["tally"] = self._counted()
        kept: Tally = self.__dict__["tally"]
        return kept

    def _counted(self) -> Tally:
        tally = Tally()
        for result in self.results:
            tally.add(result)
        return tally

    def count(self, status: LayerStatus) -> int:
        """The number of attempts with this status."""
        return self.tally.statuses[status]

    @property
    def unknown_checks(self) -> int:
        """The number of checks without evidence."""
        return self.tally.unknown_checks

    @property
    def passed(self) -> bool:
        """Whether `trialrun run` would exit with 0."""
        return self.exit_code() == 0

    def assert_passed(self, strict: bool = False) -> None:
        """Raise AssertionError with the reasons of every case that did not pass, and of gates."""
        if self.exit_code(strict) != 0:
            from trialrun.model.explained import explained_run

            raise AssertionError(explained_run(self, strict))

    def __repr__(self) -> str:
        from trialrun.model.explained import summarized_run

        return summarized_run(self)

    def exit_code(self, strict: bool = False) -> int:
        """0: passed · 1: any FAIL · 3: any ERROR or case without a verdict · 5: no cases."""
        if self.planned == 0:
            return 5
        found = self.tally.statuses
        failed = (found[_FAIL] and not self.by_rate) or (strict and found[_WARN])
        gates = [gate.holds for gate in self.gates]
        if failed or False in gates:
            return 1
        if None in gates or self.incomplete:
            return 3
        errors, unreadable = found[_ERROR], self.unreadable
        if self.tolerates_gaps:
            errors -= self.incomplete_traces
            unreadable = 0
        if errors or found[_SKIP] or self.tally.cases < self.planned or unreadable:
            return 3
        return 0

    @property
    def tolerates_gaps(self) -> bool:
        """Whether `--allow-incomplete` allows the unreadable traces and those without an answer.

        Never if a case is left without any verdict.
        """
        if self.allow_incomplete is None or self.without_verdict:
            return False
        gaps = self.unreadable + self.incomplete_traces
        return gaps <= self.allow_incomplete * self.traces
