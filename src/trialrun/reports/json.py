"""The JSON report: a run as one versioned document with a fixed order of keys."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from trialrun import __version__
from trialrun.model.audit import Audit
from trialrun.model.comparison import Comparison
from trialrun.model.failed_calls import FailedCall
from trialrun.model.results import (
    REPORT_VERSION,
    CaseStability,
    CheckResult,
    EvaluationResult,
    JudgeSpend,
    LayerStatus,
    MetricResult,
    RunResult,
)
from trialrun.model.trace_format import without_surrogates
from trialrun.model.verified import Verification
from trialrun.redaction import redacted
from trialrun.reports.base import Report, View
from trialrun.reports.views.printable import escaped_json
from trialrun.reports.views.texts import masked_among, masked_in


class JsonReport(Report):
    """One JSON document, for programs."""

    name = "json"
    suffixes = (".json",)
    reads_sessions = True
    reads_comparisons = True
    reads_audits = True

    def render(self, run: RunResult, view: View) -> str:
        return render(run, strict=view.strict)

    def pieces(self, run: RunResult, view: View) -> Iterator[str]:
        return pieces(run, strict=view.strict)

    def render_sessions(self, found: Verification, view: View) -> str:
        from trialrun.reports.views import ledger

        return ledger.as_json(found)

    def render_comparison(self, found: Comparison, view: View) -> str:
        from trialrun.reports.views import comparison

        return comparison.render_json(found)

    def render_audit(self, audit: Audit, view: View) -> str:
        return replace(audit, masked=masked_among(audit)).to_json().decode()


def render(run: RunResult, strict: bool = False) -> str:
    """The report as JSON text, with a line break at its end."""
    return "".join(pieces(run, strict))


def pieces(run: RunResult, strict: bool = False) -> Iterator[str]:
    """The report in pieces, one a result: a run may have more results than fit into memory."""
    head, end = _formatted(_document(run, strict)).removesuffix("]\n}"), "]\n}\n"
    separator = ""
    yield head
    for result in run.results:
        yield f"{separator}\n    " + _formatted(result_row(result)).replace("\n", "\n    ")
        separator = ","
    yield f"\n  {end}" if separator else end


def _formatted(value: Any) -> str:
    text = msgspec.json.encode(cleaned(value))
    return escaped_json(msgspec.json.format(text, indent=2).decode())


def cleaned(value: Any) -> Any:
    """The same values, with secrets masked and lone surrogates removed in every text."""
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:  # seldom: looking at each text takes longer than encoding them all
        value = without_surrogates(value, [])
    return redacted(value)


def _document(run: RunResult, strict: bool) -> dict[str, Any]:
    """The report as plain values, without results, which come last."""
    return {
        "format_version": REPORT_VERSION,
        "trialrun": __version__,
        "prices": run.prices or _price_source(),
        "run": run.run_id,
        "origin": run.origin or None,
        "summary": summary(run, strict),
        "gates": [msgspec.to_builtins(gate) for gate in run.gates],
        "warnings": run.warnings,
        "stability": [_stability(case) for case in run.stability],
        "results": [],
    }


def summary(run: RunResult, strict: bool = False) -> dict[str, Any]:
    """Counts and totals of the run; a total is None if one result lacks its value."""
    tally = run.tally
    counts = {status.value: tally.statuses[status] for status in LayerStatus}
    del counts[LayerStatus.SKIP.value]
    cost = tally.cost_usd
    return {
        "planned": run.planned,
        "results": tally.attempts,
        "unreadable": run.unreadable,
        "incomplete": run.incomplete_traces,
        **counts,
        "unknown_checks": tally.unknown_checks,
        "without_baseline": tally.without_baseline,
        "retried": tally.retried,
        "complete": not run.incomplete,
        "cost_usd": None if cost is None else round(cost, 9),
        "total_tokens": tally.total_tokens if tally.attempts else None,
        "judge": None if tally.judge is None else _spend(tally.judge),
        "masked": masked_in(run),
        "left_out": None if run.withheld is None else run.withheld.counts,
        "strict": strict,
        "by_rate": run.by_rate,
        "exit_code": run.exit_code(strict),
    }


def _price_source() -> str | None:
    if "genai_prices" not in sys.modules:
        return None
    from trialrun.pricing import source

    return source()


def result_row(result: EvaluationResult) -> dict[str, Any]:
    """One attempt as plain values."""
    return {
        "suite": result.suite_name,
        "agent": result.agent,
        "case": result.case_name,
        "attempt": result.attempt,
        "status": result.status.value,
        "error": result.error,
        "question": result.question,
        "answer": result.answer,
        "turns": [{"question": one.question, "answer": one.answer} for one in result.turns],
        "tries": len(result.earlier_errors) + 1,
        "earlier_errors": list(result.earlier_errors),
        "trace_id": result.trace_id,
        "tags": list(result.tags),
        "duration_ms": result.duration_ms,
        "total_tokens": result.total_tokens,
        "cost_usd": result.cost_usd,
        "judge": None if result.judge is None else _spend(result.judge),
        "failed_calls": [_failed_call(call) for call in result.failed_calls],
        "layers": {
            name: {
                "status": layer.status.value,
                "checks": [_check(check) for check in layer.checks],
            }
            for name, layer in result.layers.items()
        },
        "metrics": [_metric(metric) for metric in result.metrics],
    }


def _metric(metric: MetricResult) -> Any:
    """A metric as plain values; `details` of a plug-in may hold any object, shown by `repr`."""
    return {
        "metric_name": metric.metric_name,
        "value": metric.value,
        "unit": metric.unit,
        "details": msgspec.to_builtins(metric.details, enc_hook=repr, str_keys=True),
        "error": metric.error,
        "gate": None if metric.gate is None else _check(metric.gate),
    }


def _check(check: CheckResult) -> dict[str, Any]:
    return {
        "name": check.name,
        "status": check.status.value,
        "severity": check.severity.value,
        "message": check.message,
        "turn": check.turn,
        "data": check.data,
        **({"verdicts": msgspec.to_builtins(check.verdicts)} if check.verdicts else {}),
    }


def _failed_call(call: FailedCall) -> dict[str, Any]:
    return {"tool": call.tool, "step": call.step, "error": call.error, "retried": call.retried}


def _spend(spend: JudgeSpend) -> dict[str, Any]:
    """What the judges cost, which is reported apart from the agent's cost."""
    cost = spend.cost_usd
    return {
        "calls": spend.calls,
        "cached": spend.cached,
        "total_tokens": spend.total_tokens,
        "cost_usd": None if cost is None else round(cost, 9),
    }


def _stability(case: CaseStability) -> dict[str, Any]:
    figures = msgspec.to_builtins(case.stability, str_keys=True)
    return {
        "suite": case.suite_name,
        "agent": case.agent,
        "case": case.case_name,
        "retried": case.retried,
        **figures,
    }
