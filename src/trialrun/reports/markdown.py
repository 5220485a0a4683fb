"""The Markdown report: for a comment on a pull request, and for the summary of a step on GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from trialrun.model.audit import Audit
from trialrun.model.comparison import Comparison
from trialrun.model.exchanges import exchange_lines
from trialrun.model.results import (
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerStatus,
    RunResult,
)
from trialrun.model.verified import Verification
from trialrun.reports.base import Report, View
from trialrun.reports.views.markdown import Page, code, html_code
from trialrun.reports.views.origin import origin_line
from trialrun.reports.views.paths import path_text
from trialrun.reports.views.texts import masked_in, masked_text
from trialrun.reports.views.wording import (
    case_label,
    notes,
    status_word,
    steps_text,
    summary_text,
)
from trialrun.util.texts import counted

_REGRESSION, _CALLS = "regression", "calls"
_MOST_KEPT = 400  # attempts of a status, and rows of a table, that are kept while results are read
_SHOWN = (CheckStatus.FAIL, CheckStatus.UNKNOWN)
_MOST_NUMBERS = 8
_WRONG = (LayerStatus.FAIL, LayerStatus.ERROR)


class MarkdownReport(Report):
    """Markdown, for a pull request."""

    name = "markdown"
    suffixes = (".md",)
    reads_sessions = True
    reads_comparisons = True
    reads_audits = True

    def render(self, run: RunResult, view: View) -> str:
        return _render(run, view)

    def render_sessions(self, found: Verification, view: View) -> str:
        from trialrun.reports.views.markdown_findings import sessions_page

        return sessions_page(found)

    def render_comparison(self, found: Comparison, view: View) -> str:
        from trialrun.reports.views.markdown_findings import comparison_page

        return comparison_page(found)

    def render_audit(self, audit: Audit, view: View) -> str:
        from trialrun.reports.views.markdown_findings import audit_page

        return audit_page(audit)


class _Reason(Struct):
    """A reason, and the attempts at a case that share it."""

    case: str
    word: str
    name: str
    text: str
    step: str
    path: str
    attempts: list[int]

    @property
    def cells(self) -> list[str]:
        """The row of a table."""
        numbers = self.attempts if self.attempts != [1] else []
        shown = ", ".join(f"{number:,}" for number in numbers[:_MOST_NUMBERS])
        shown += " …" if numbers[_MOST_NUMBERS:] else ""
        case = code(self.case, 80) + (f" attempt {shown}" if shown else "")
        path = f"<br>{self.path}" if self.path else ""
        what = f"{code(self.name, 80)} {self.word}" if self.name else self.word
        return [case, what, code(self.text) + path, code(self.step, 60) if self.step else ""]


class _Found:
    """What a page shows of a run, collected in one pass and in bounded memory."""

    def __init__(self, run: RunResult) -> None:
        self.changes: dict[tuple[str, ...], _Reason] = {}
        self.reasons: dict[LayerStatus, dict[tuple[str, ...], _Reason]] = {
            LayerStatus.FAIL: {},
            LayerStatus.ERROR: {},
            LayerStatus.WARN: {},
        }
        self.total = dict.fromkeys((_REGRESSION, _CALLS, *self.reasons), 0)
        self.calls: dict[tuple[str, ...], _Reason] = {}
        self.wrong: list[EvaluationResult] = []
        self.passed: list[str] = []
        several = len({case.suite_name for case in run.stability}) > 1
        suite = None
        for result in run.results:
            several |= suite not in (None, result.suite_name)
            suite = result.suite_name
            self._add(result, case_label(result, several))

    def _add(self, result: EvaluationResult, case: str) -> None:
        if result.status is LayerStatus.PASS and len(self.passed) < _MOST_KEPT:
            self.passed.append(case)
        if result.status in _WRONG and len(self.wrong) < _MOST_KEPT:
            self.wrong.append(result)
        for call in result.failed_calls:
            key = (case, call.tool, str(call))
            self._count(_CALLS, self.calls, key, result, ("failed", call.step, ""))
        if result.status not in self.reasons:
            return
        reasons = self.reasons[result.status]
        if result.error:
            text = (case, "", result.error)
            self._count(result.status, reasons, text, result, ("error", "", ""))
        for layer, check in result.checks():
            if check.status is CheckStatus.FAIL and layer == _REGRESSION:
                key = (case, check.name, check.message)
                self._count(_REGRESSION, self.changes, key, result, _details(check))
            elif check.status in _SHOWN and check.message != result.error:
                key = (case, check.name, check.message)
                self._count(result.status, reasons, key, result, _details(check))

    def _count(
        self,
        kind: str,
        reasons: dict[tuple[str, ...], _Reason],
        key: tuple[str, ...],
        result: EvaluationResult,
        details: tuple[str, str, str],
    ) -> None:
        """`details`: the word for what happened, the steps, and the path."""
        known = reasons.get(key)
        if known is not None:
            if len(known.attempts) <= _MOST_NUMBERS:
                known.attempts.append(result.attempt)
            return
        self.total[kind] += 1
        if len(reasons) < _MOST_KEPT:
            reasons[key] = _Reason(
                case=key[0],
                word=details[0],
                name=key[1],
                text=key[2],
                step=details[1],
                path=details[2],
                attempts=[result.attempt],
            )


def _details(check: CheckResult) -> tuple[str, str, str]:
    return status_word(check), steps_text(check), path_text(check, code)


_COLUMNS = ("case", "check", "reason", "step")


def _render(run: RunResult, view: View) -> str:
    found, page = _Found(run), Page()
    page.add(f"## trialrun: {summary_text(run)}", "")
    lines = [*notes(run, view.strict), *_gates(run)]
    page.add(*(f"- {line}" for line in lines), "")
    if not view.quiet:
        _tables(page, found, run)
        _collapsed(page, found, run)
    page.end()
    page.add(*_end(run))
    return page.text


def _gates(run: RunResult) -> Iterator[str]:
    words = {True: "holds", False: "**failed**", None: "**unknown**"}
    for gate in run.gates:
        yield f"gate {code(gate.name)} {words[gate.holds]}: {code(gate.message)}"


def _tables(page: Page, found: _Found, run: RunResult) -> None:
    if found.changes:
        page.add("### What changed against the baseline", "")
        rows = [reason.cells for reason in found.changes.values()]
        page.table(_COLUMNS, rows, found.total[_REGRESSION], share=0.3)
    wrong = [*found.reasons[LayerStatus.FAIL].values(), *found.reasons[LayerStatus.ERROR].values()]
    if wrong:
        page.add("### What failed", "")
        total = sum(found.total[status] for status in _WRONG)
        page.table(_COLUMNS, [reason.cells for reason in wrong], total, share=0.7)


def _collapsed(page: Page, found: _Found, run: RunResult) -> None:
    """The questions and answers of what failed, failed calls, the warnings, and what passed."""
    left = 0
    for shown, result in enumerate(found.wrong):
        lines = [f"- {code(line)}" for line in exchange_lines(result)]
        if lines and not page.details(html_code(case_label(result)), *lines):
            left = sum(run.count(status) for status in _WRONG) - shown
            break
    page.more(left, "questions and answers")
    heading = f"<details><summary>{counted(found.total[_CALLS], 'tool call')} failed</summary>"
    if found.calls and page.add(heading, ""):
        rows = [call.cells for call in found.calls.values()]
        page.table(("case", "tool", "reason", "step"), rows, found.total[_CALLS], share=0.3)
        page.end_details()
    warned = found.reasons[LayerStatus.WARN]
    summary = f"<details><summary>{run.count(LayerStatus.WARN):,} warned</summary>"
    if warned and page.add(summary, ""):
        rows = [reason.cells for reason in warned.values()]
        page.table(_COLUMNS, rows, found.total[LayerStatus.WARN], share=0.6)
        page.end_details()
    _passed(page, found.passed, run.count(LayerStatus.PASS))


def _passed(page: Page, names: Sequence[str], total: int) -> None:
    if not names or not page.add(f"<details><summary>{total:,} passed</summary>", ""):
        return
    shown = 0
    for name in names:
        if not page.add(f"- {code(name, 80)}"):
            break
        shown += 1
    page.more(total - shown)
    page.end_details()


def _end(run: RunResult) -> Iterator[str]:
    if run.warnings:
        yield f"{len(run.warnings):,} warnings about the run, the first: {code(run.warnings[0])}"
        yield ""
    parts = [] if run.withheld is None else [str(run.withheld)]
    parts.append(masked_text(masked_in(run)))
    yield f"{'; '.join(parts)}"
    about = [f"run {run.run_id}" if run.run_id else "", origin_line(run.origin)]
    if any(about):
        yield ""
        yield code(" · ".join(filter(None, about)))
