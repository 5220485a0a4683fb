"""The rows of a bulk result: one attempt a line of JSON, which can be read back as its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from trialrun.model.exchanges import Exchange
from trialrun.model.failed_calls import FailedCall
from trialrun.model.results import (
    LAYERS,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    JudgeSpend,
    LayerResult,
    LayerStatus,
    MetricResult,
    Severity,
    Verdict,
)
from trialrun.model.trace_format import without_surrogates

Redactor = Callable[[Any], Any]


_PASS = CheckStatus.PASS


class RowCheck(Struct, omit_defaults=True):
    """A check in a row."""

    layer: str
    name: str
    status: CheckStatus
    severity: Severity
    reason: str | UnsetType = UNSET
    turn: int | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    verdicts: Sequence[Verdict] | UnsetType = UNSET


class Row(Struct, kw_only=True):
    """An attempt: `attempt` comes first, because its number is known last."""

    attempt: int
    suite: str | None
    case: str
    status: LayerStatus
    trace_id: str | None
    error: str | None
    model: str | None
    day: str | None
    tags: Sequence[str]
    duration_ms: float | None
    total_tokens: int | None
    cost_usd: float | None
    question: str | None
    answer: str | None
    layers: dict[str, LayerStatus]
    checks: Sequence[RowCheck]
    metrics: Sequence[MetricResult]
    earlier_errors: Sequence[str] | UnsetType = UNSET
    failed_calls: Sequence[FailedCall] | UnsetType = UNSET
    turns: Sequence[Exchange] | UnsetType = UNSET
    judge: JudgeSpend | UnsetType = UNSET
    agent: str | UnsetType = UNSET


def row_of(result: EvaluationResult, model: str | None, day: str | None, full: bool = True) -> Row:
    """The row of a result; one that is not `full` has no plain values of checks that passed."""
    return Row(
        attempt=result.attempt,
        suite=result.suite_name,
        case=result.case_name,
        status=result.status,
        trace_id=result.trace_id,
        error=result.error,
        model=model,
        day=day,
        tags=result.tags,
        duration_ms=result.duration_ms,
        total_tokens=result.total_tokens,
        cost_usd=result.cost_usd,
        question=result.question,
        answer=result.answer,
        layers={name: layer.status for name, layer in result.layers.items()},
        checks=[
            RowCheck(
                layer,
                check.name,
                check.status,
                check.severity,
                check.message or UNSET,
                UNSET if check.turn is None else check.turn,
                (check.data or UNSET) if full or check.status is not _PASS else UNSET,
                check.verdicts or UNSET,
            )
            for layer, found in result.layers.items()
            for check in found.checks
        ],
        metrics=result.metrics,
        earlier_errors=result.earlier_errors or UNSET,
        failed_calls=result.failed_calls or UNSET,
        turns=result.turns or UNSET,
        judge=UNSET if result.judge is None else result.judge,
        agent=result.agent or UNSET,
    )


_encode = msgspec.json.Encoder(enc_hook=repr).encode


def encoded(row: Row, redactor: Redactor) -> bytes:
    """The row as a line of JSON, with every secret masked."""
    try:
        given = _of_others(row)
        if redactor(given) is given:
            return _encode(row)
    except (TypeError, ValueError):  # keys other than texts, half a surrogate pair
        pass
    plain = msgspec.to_builtins(row, enc_hook=repr, str_keys=True)
    return _encode(without_surrogates(_masked(plain, redactor), []))


def _of_others(row: Row) -> list[Any]:
    """What in a row may hold a secret: all but our own words, which most of a row consists of."""
    found: list[Any] = [row.suite, row.case, row.trace_id, row.error, row.model]
    found += (row.question, row.answer, *row.tags)
    for check in row.checks:
        if check.reason:
            found.append(check.reason)
        if check.data:
            found.append(check.data)
        if check.verdicts:
            found.append(msgspec.to_builtins(check.verdicts))
        if ":" in check.name:  # a check of the user
            found.append(check.name)
    for metric in row.metrics:
        if metric.details or metric.error or metric.gate is not None:
            found.append(msgspec.to_builtins(metric, enc_hook=repr, str_keys=True))
    for further in (row.earlier_errors, row.failed_calls, row.turns):
        if further:
            found.append(msgspec.to_builtins(further))
    return found


# Our own words and numbers: a user's pattern such as `pass` must not make a row unreadable.
_OURS = frozenset({"attempt", "status", "layers", "day", "severity", "layer", "turn", "judge"})
_PARTS = frozenset({"checks", "metrics"})


def _masked(row: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    clean: dict[str, Any] = {}
    for field, value in row.items():
        if field in _OURS or value is None or isinstance(value, (int, float)):
            clean[field] = value
        elif field in _PARTS:
            clean[field] = [_masked(part, redactor) for part in value]
        elif field == "gate":
            clean[field] = _masked(value, redactor)
        elif field == "failed_calls":
            clean[field] = [redactor(part) for part in value]
        else:
            # With its name: some texts are recognised as secrets by their key only.
            clean[field] = next(iter(redactor({field: value}).values()))
    return clean


_decode = msgspec.json.Decoder(Row).decode


def result_in(line: bytes) -> EvaluationResult:
    """The result of which this is the row; its secrets stay masked."""
    row = _decode(line)
    by_layer: dict[str, list[CheckResult]] = {}
    for one in row.checks:
        check = CheckResult(
            one.name,
            one.status,
            one.severity,
            one.reason or "",
            one.turn or None,
            tuple(one.verdicts or ()),
            one.data or {},
        )
        by_layer.setdefault(one.layer, []).append(check)
    skipped = dict.fromkeys(LAYERS, LayerStatus.SKIP)
    return EvaluationResult(
        case_name=row.case,
        status=row.status,
        layers={
            name: LayerResult(status, tuple(by_layer.get(name, ())))
            for name, status in (skipped | row.layers).items()
        },
        metrics=list(row.metrics),
        error=row.error,
        suite_name=row.suite,
        agent=row.agent or None,
        attempt=row.attempt,
        trace_id=row.trace_id,
        tags=tuple(row.tags),
        duration_ms=row.duration_ms,
        total_tokens=row.total_tokens,
        cost_usd=row.cost_usd,
        question=row.question,
        answer=row.answer,
        earlier_errors=tuple(row.earlier_errors or ()),
        failed_calls=tuple(row.failed_calls or ()),
        turns=tuple(row.turns or ()),
        judge=row.judge or None,
    )


_FIRST = b'{"attempt":'


def with_attempt(line: bytes, number: int) -> bytes:
    """The row with another number of the attempt, without reading the rest of it."""
    return b"%b%d%b" % (_FIRST, number, line[line.index(b",", len(_FIRST)) :])
