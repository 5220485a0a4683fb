"""Traces, results and runs in a notebook: the same templates, in a frame of their own.

The frame keeps our style from the notebook's page and the other way round. It is sandboxed: no
script runs in it, whatever an agent wrote, and its policy allows nothing to be fetched.
"""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import Any

from msgspec.structs import replace

from trialrun.model.attempts import attempts_of
from trialrun.model.results import EvaluationResult, LayerStatus, RunResult
from trialrun.model.trace import Trace

_MOST_CASES = 50
_MOST_ATTEMPTS = 5000


def notebook_html(value: Any) -> str | None:
    """The value as HTML; None without Jinja2, and for a value without a page."""
    from trialrun.reports.pages.environment import has_jinja

    if not has_jinja():
        return None
    if isinstance(value, Trace):
        return _framed("trace", _trace_page(value), 420)
    if isinstance(value, EvaluationResult):
        return _framed("result", _result_page(value), 360)
    return _framed("run", _run_page(value), 480) if isinstance(value, RunResult) else None


def _framed(title: str, page: str, height: int) -> str:
    return (
        f'<iframe title="trialrun {title}" sandbox="" srcdoc="{escape(page, quote=True)}" '
        f'width="100%" height="{height}" frameborder="0"></iframe>'
    )


def _trace_page(trace: Trace) -> str:
    from trialrun.model.results import LAYERS, LayerResult

    layers = dict.fromkeys(LAYERS, LayerResult(LayerStatus.SKIP))
    result = EvaluationResult(
        case_name=trace.name or trace.id or "a trace",
        status=LayerStatus.SKIP,
        layers=layers,
        metrics=[],
        error=trace.error,
        agent=trace.agent_name,
        duration_ms=trace.total_duration_ms,
        total_tokens=trace.total_tokens,
        cost_usd=trace.total_cost_usd,
    )
    return _case_page(result, trace)


def _result_page(result: EvaluationResult) -> str:
    return _case_page(result, None)


def _case_page(result: EvaluationResult, trace: Trace | None) -> str:
    from trialrun.reports.pages.attempt_part import Made
    from trialrun.reports.pages.case_page import case_page
    from trialrun.reports.pages.environment import Shell, render
    from trialrun.reports.pages.links import Links

    case = case_page(0, [Made(result, trace)])
    if trace is not None:  # no check has judged it
        case = replace(case, word="")
    else:  # a result does not hold its trace: nothing says that there was none
        case = replace(case, attempts=[replace(part, gaps=()) for part in case.attempts])
    shell = Shell(title=case.name, scripts=(), bare=True)
    return render("case_page.html", shell=shell, case=case, links=Links())


def _run_page(run: RunResult) -> str:
    from trialrun.reports.pages import run_page
    from trialrun.reports.pages.environment import Shell, render
    from trialrun.reports.pages.texts import ORDER

    first = list(islice(attempts_of(run), _MOST_ATTEMPTS))
    rows = [row for _, row, _ in run_page.cases_in(first, run)]
    rows.sort(key=lambda row: (ORDER[row.word], row.number))
    return render(
        "run_page.html",
        shell=Shell(title=run.run_id or "run", scripts=(), bare=True),
        head=run_page.head_of(run, rows),
        rows=rows[:_MOST_CASES],
        more=max(0, len(rows) - _MOST_CASES),
        links=NoLinks(),
    )


class NoLinks:
    """Rows of a frame lead nowhere: it has no pages of cases."""

    def case(self, number: int) -> str:
        """No address."""
        return "#"
