"""Conclusions: what was found when a trace was held against a case.

How statuses fold is settled here and nowhere else. A layer is FAIL if a check of severity fail
failed, else ERROR if one of severity fail is unknown, else WARN if any check failed or is unknown,
else PASS; SKIP if nothing was asked or all of it was skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

REPORT_VERSION = 1

LAYERS = ("correctness", "path", "cost", "verification", "retrieval")
"""The layers, in the order in which they are shown. A result always holds every one."""


class CheckStatus(StrEnum):
    """What one check found. `unknown` is lack of evidence: never a pass, never a failure."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


class Severity(StrEnum):
    """What a check that does not pass does to its layer."""

    FAIL = "fail"
    WARN = "warn"


class LayerStatus(StrEnum):
    """What a layer, and a case, amounts to."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    ERROR = "error"
    SKIP = "skip"


# Looking a member up on an Enum class costs ten times a global in Python 3.11.
_FAILED = CheckStatus.FAIL
_UNKNOWN = CheckStatus.UNKNOWN
_PASSED = CheckStatus.PASS
_HARD = Severity.FAIL
_PASS = LayerStatus.PASS
_WARN = LayerStatus.WARN
_FAIL = LayerStatus.FAIL
_ERROR = LayerStatus.ERROR
_SKIP = LayerStatus.SKIP


class CheckResult(Struct, frozen=True, gc=False):
    """What one check found in one trace."""

    name: str
    status: CheckStatus
    severity: Severity
    message: str = ""
    turn: int | None = None


class LayerResult(Struct, frozen=True):
    """The checks of one layer, and what they amount to."""

    status: LayerStatus
    checks: Sequence[CheckResult] = ()


class MetricResult(Struct):
    """A number with a unit. None is undefined; `error` says why a metric could not be computed."""

    metric_name: str
    value: float | int | None
    unit: str | None = None
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    error: str | None = None
    gate: CheckResult | None = None


class EvaluationResult(Struct, kw_only=True):
    """One attempt at one case, judged."""

    case_name: str
    status: LayerStatus
    layers: dict[str, LayerResult]
    metrics: list[MetricResult]
    error: str | None = None
    suite_name: str | None = None
    attempt: int = 1
    trace_id: str | None = None
    tags: Sequence[str] = ()
    duration_ms: float | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def test_case_name(self) -> str:
        """evaldeck's name for `case_name`."""
        return self.case_name

    @property
    def passed(self) -> bool:
        """True for PASS and for WARN: a warning does not fail a case."""
        return self.status in (_PASS, _WARN)

    def checks(self) -> Iterable[tuple[str, CheckResult]]:
        """Every check with the name of its layer; gates of metrics come last, under `metrics`."""
        for layer, result in self.layers.items():
            for check in result.checks:
                yield layer, check
        for metric in self.metrics:
            if metric.gate is not None:
                yield "metrics", metric.gate


class RunResult(Struct, kw_only=True):
    """All that was planned, judged. `planned` cases, each with at least one result.

    `unreadable` traces could not be judged: each may have been an attempt at a case, so a run with
    one is not complete.
    """

    results: list[EvaluationResult]
    planned: int
    unreadable: int = 0
    warnings: list[str] = msgspec.field(default_factory=list)

    def count(self, status: LayerStatus) -> int:
        """How many attempts ended so."""
        return sum(result.status is status for result in self.results)

    @property
    def unknown_checks(self) -> int:
        """How many checks found no evidence."""
        return sum(
            check.status is _UNKNOWN for result in self.results for _, check in result.checks()
        )

    def exit_code(self, strict: bool = False) -> int:
        """0 passed · 1 any FAIL · 3 any ERROR, or a case without a verdict · 5 nothing planned."""
        if self.planned == 0:
            return 5
        if self.count(_FAIL) or (strict and self.count(_WARN)):
            return 1
        judged = sum(result.attempt == 1 for result in self.results)
        if self.count(_ERROR) or self.count(_SKIP) or judged < self.planned or self.unreadable:
            return 3
        return 0


def fold_checks(checks: Sequence[CheckResult]) -> LayerStatus:
    """What the checks of a layer amount to."""
    for check in checks:
        if check.status is not _PASSED:
            break
    else:
        return _PASS if checks else _SKIP
    status = _SKIP
    for check in checks:
        hard = check.severity is _HARD
        if check.status is _FAILED and hard:
            return _FAIL
        if check.status is _UNKNOWN and hard:
            status = _ERROR
        elif check.status in (_FAILED, _UNKNOWN):
            status = _ERROR if status is _ERROR else _WARN
        elif check.status is _PASSED and status is _SKIP:
            status = _PASS
    return status


def fold_layers(statuses: Sequence[LayerStatus]) -> LayerStatus:
    """The worst of them. ERROR where every one was skipped: nothing asked is not a pass."""
    worst = _SKIP
    for status in statuses:
        if status is _PASS or status is _SKIP:
            if worst is _SKIP:
                worst = status
        elif status is _FAIL:
            return _FAIL
        elif worst is not _ERROR:
            worst = status
    return _ERROR if worst is _SKIP else worst
