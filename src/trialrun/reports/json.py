"""The run as one JSON document: ordered, versioned, for machines."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from trialrun import __version__
from trialrun.redaction import redact
from trialrun.reports.printable import escaped_json
from trialrun.results import REPORT_VERSION, EvaluationResult, LayerStatus, MetricResult, RunResult
from trialrun.trace_format import without_surrogates


def render(run: RunResult, strict: bool = False) -> str:
    """The whole document, with a line break at its end."""
    text = msgspec.json.encode(_cleaned(document(run, strict)))
    return escaped_json(msgspec.json.format(text, indent=2).decode()) + "\n"


def _cleaned(value: Any) -> Any:
    """The same values, every text without secrets and without halves of characters."""
    if isinstance(value, str):
        return redact(without_surrogates(value, []))
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return value


def document(run: RunResult, strict: bool = False) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "format_version": REPORT_VERSION,
        "trialrun": __version__,
        "prices": _price_source(),
        "summary": summary(run, strict),
        "warnings": run.warnings,
        "results": [_result(result) for result in run.results],
    }


def summary(run: RunResult, strict: bool = False) -> dict[str, Any]:
    """How many of what; None where something is not known of every result."""
    counts = {status.value: run.count(status) for status in LayerStatus if status.value != "skip"}
    return {
        "planned": run.planned,
        "results": len(run.results),
        "unreadable": run.unreadable,
        **counts,
        "unknown_checks": run.unknown_checks,
        "cost_usd": _total(run, "cost_usd"),
        "total_tokens": _total(run, "total_tokens"),
        "exit_code": run.exit_code(strict),
    }


def _total(run: RunResult, field: str) -> float | int | None:
    values = [getattr(result, field) for result in run.results]
    return None if not values or None in values else round(sum(values), 9)


def _price_source() -> str | None:
    if "genai_prices" not in sys.modules:
        return None
    from trialrun.pricing import source

    return source()


def _result(result: EvaluationResult) -> dict[str, Any]:
    return {
        "suite": result.suite_name,
        "case": result.case_name,
        "attempt": result.attempt,
        "status": result.status.value,
        "error": result.error,
        "trace_id": result.trace_id,
        "tags": list(result.tags),
        "duration_ms": result.duration_ms,
        "total_tokens": result.total_tokens,
        "cost_usd": result.cost_usd,
        "layers": {
            name: {
                "status": layer.status.value,
                "checks": [
                    {
                        "name": check.name,
                        "status": check.status.value,
                        "severity": check.severity.value,
                        "message": check.message,
                        "turn": check.turn,
                    }
                    for check in layer.checks
                ],
            }
            for name, layer in result.layers.items()
        },
        "metrics": [_metric(metric) for metric in result.metrics],
    }


def _metric(metric: MetricResult) -> Any:
    """As plain values; what a metric of somebody's puts into its details may be anything."""
    return msgspec.to_builtins(metric, enc_hook=repr, str_keys=True)
