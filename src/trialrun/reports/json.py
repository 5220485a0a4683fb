"""The run as one JSON document: ordered, versioned, for machines."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from trialrun import __version__
from trialrun.results import REPORT_VERSION, EvaluationResult, LayerStatus, RunResult
from trialrun.trace_format import without_surrogates


def render(run: RunResult, strict: bool = False) -> str:
    """The whole document, with a line break at its end."""
    plain = document(run, strict)
    try:
        text = msgspec.json.encode(plain)
    except UnicodeEncodeError:  # half a character in something that an agent said
        text = msgspec.json.encode(without_surrogates(plain, []))
    return msgspec.json.format(text, indent=2).decode() + "\n"


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
        "metrics": [msgspec.to_builtins(metric) for metric in result.metrics],
    }
