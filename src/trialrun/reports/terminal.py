"""The terminal report: one line per case, and the reasons of everything that is not green."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING

from trialrun.model.audit import Audit
from trialrun.model.comparison import Comparison
from trialrun.model.results import (
    LAYERS,
    NO_BASELINE,
    CaseStability,
    CheckStatus,
    EvaluationResult,
    JudgeSpend,
    LayerStatus,
    MetricResult,
    RunResult,
    is_without_baseline,
)
from trialrun.model.verified import Verification
from trialrun.reports.base import Report, View
from trialrun.reports.views.consoles import text_console
from trialrun.reports.views.printable import lines, one_line
from trialrun.reports.views.wording import exchange, notes, status_word
from trialrun.util.money import dollars
from trialrun.util.texts import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {
    LayerStatus.PASS: "green",
    LayerStatus.WARN: "yellow",
    LayerStatus.FAIL: "bold red",
    LayerStatus.ERROR: "bold magenta",
    LayerStatus.SKIP: "dim",
}
_MARKS = {
    LayerStatus.PASS: "✓",
    LayerStatus.WARN: "!",
    LayerStatus.FAIL: "✗",
    LayerStatus.ERROR: "?",
    LayerStatus.SKIP: "–",
}
_LEGEND = "✓ pass  ! warning  ✗ failure  ? no verdict  – nothing checked"
_CHECK_STYLES = {
    CheckStatus.FAIL: "red",
    CheckStatus.UNKNOWN: "magenta",
    CheckStatus.SKIPPED: "dim",
}
_MORE = "       | "  # begins each further line of a text
_PLAIN_WIDTH = 100
_LONGEST_EXCHANGE = 240
_MOST_ANSWERS = 3  # of a case that was repeated
_IS_ANSWER = re.compile(r" {7}(?:turn \d+ )?answer: ")  # "       turn 2 answer: 30 days"


class TerminalReport(Report):
    """Text: one line per case, and the reasons of everything that is not green."""

    name = "terminal"
    suffixes = ("", ".txt", ".log", ".out")
    for_machines = False
    reads_sessions = True
    reads_comparisons = True
    reads_audits = True

    def render(self, run: RunResult, view: View) -> str:
        return render(run, view)

    def render_sessions(self, found: Verification, view: View) -> str:
        from trialrun.reports.views import ledger

        return ledger.render_sessions(found, view.colour, view.quiet, view.verbose)

    def render_comparison(self, found: Comparison, view: View) -> str:
        from trialrun.reports.views import comparison

        return comparison.render(found, colour=view.colour, verbose=view.verbose)

    def render_audit(self, audit: Audit, view: View) -> str:
        from trialrun.reports.views import audit as report

        return report.render(audit, view.colour)


def render(run: RunResult, view: View = View()) -> str:  # noqa: B008
    """The report as text, with escape codes if the view has colour."""
    quiet, verbose = view.quiet, view.verbose
    console, out = text_console(view.colour, _width())
    if not quiet and run.stability:
        _repeated(console, run, verbose)
        _stability_summary(console, run)
    elif not quiet:
        _cases(console, run, verbose)
    if not quiet and run.tally.attempts:
        console.print(_LEGEND, style="dim", soft_wrap=True)
    for line in notes(run, view.strict) if not quiet or view.strict else ():
        console.print(line, soft_wrap=True)
    _summary(console, run)
    return out.getvalue()


def _width() -> int:
    import shutil

    columns = shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns
    return max(60, min(columns, 140))


class _Layout:
    """Column widths and layer columns, computed in one pass over the results."""

    def __init__(self, results: Iterable[EvaluationResult]) -> None:
        longest = longest_with_agent = 0
        suites, agents = set(), set()
        asked = set()
        for result in results:
            suites.add(result.suite_name)
            agents.add(result.agent)
            longest = max(longest, len(_name(result)))
            longest_with_agent = max(longest_with_agent, len(_name(result, with_agent=True)))
            asked |= {
                layer
                for layer, found in result.layers.items()
                if found.status is not LayerStatus.SKIP
            }
        self.several = len(suites) > 1
        self.with_agent = len(agents) > 1
        self.widest = min(40, longest_with_agent if self.with_agent else longest)
        # One column for each layer that some case has checks in, so that the signs line up.
        self.layers = [layer for layer in LAYERS if layer in asked]


def _cases(console: Console, run: RunResult, verbose: bool) -> None:
    from rich.text import Text

    layout = _Layout(run.results)
    suite = None
    for result in run.results:
        if layout.several and result.suite_name != suite:
            suite = result.suite_name
            console.print(Text(one_line(suite or ""), style="bold"))
        line = Text()
        line.append(f"{result.status.value.upper():<6}", style=_STYLES[result.status])
        line.append(_name(result, layout.with_agent).ljust(layout.widest) + "  ")
        for layer in layout.layers:
            status = result.layers[layer].status
            line.append(f"{layer} ", style="dim")
            line.append(f"{_MARKS[status]}  ", style=_STYLES[status])
        line.append(figures(result), style="dim")
        line.rstrip()
        console.print(line, soft_wrap=True)
        for reason in _reasons(result, verbose):
            console.print(reason, soft_wrap=True)


def _name(result: EvaluationResult, with_agent: bool = False) -> str:
    name = one_line(result.case_name)
    if with_agent and result.agent is not None:
        name = f"{one_line(result.agent)}: {name}"
    return name if result.attempt == 1 else f"{name} #{result.attempt}"


def headline(result: EvaluationResult) -> str:
    """The verdict, with the names of the agent and the case."""
    return f"{result.status.value.upper():<6}{_name(result, with_agent=True)}"


def figures(result: EvaluationResult) -> str:
    """Cost, tokens and duration of the attempt, as far as they are known."""
    known = []
    if result.cost_usd is not None:
        known.append(dollars(result.cost_usd))
    if result.total_tokens is not None:
        known.append(f"{result.total_tokens:,} tokens")
    if result.duration_ms is not None:
        known.append(f"{result.duration_ms / 1000:.1f} s")
    return " · ".join(known)


# Repeated cases: one line per case, and the reasons of the attempts that are not green.

_HISTORY = {status.value: mark for status, mark in _MARKS.items()}


def _repeated(console: Console, run: RunResult, verbose: bool) -> None:
    from rich.text import Text

    with_agent = len({case.agent for case in run.stability}) > 1
    widest = min(40, max(len(_case_name(case, with_agent)) for case in run.stability))
    by_case = {_key(case): case for case in run.stability}
    for key, results in groupby(run.results, key=_key_of_result):
        case = by_case.get(key)
        if case is not None:
            name = _case_name(case, with_agent).ljust(widest)
            console.print(_stability_line(case, name), soft_wrap=True)
        else:
            _, agent, case_name = key
            shown = f"{agent}: {case_name}" if with_agent and agent else case_name
            console.print(Text(f"ERROR {one_line(shown)}"), soft_wrap=True)
        # A reason that several attempts share is printed once, with their numbers.
        attempts_by_reason: dict[str, tuple[Text, list[int]]] = {}
        answers: dict[str, set[str]] = {}  # by turn
        for result in results:
            for reason in _reasons(result, verbose):
                answer = _IS_ANSWER.match(reason.plain)
                if answer:
                    given = answers.setdefault(answer[0], set())
                    given.add(reason.plain)
                    if len(given) > _MOST_ANSWERS and reason.plain not in attempts_by_reason:
                        continue
                shared = attempts_by_reason.setdefault(reason.plain, (reason, []))
                shared[1].append(result.attempt)
        for reason, attempts in attempts_by_reason.values():
            console.print(Text("       ") + _numbers(attempts) + reason[6:], soft_wrap=True)


def _numbers(attempts: Sequence[int]) -> Text:
    from rich.text import Text

    shown = " ".join(f"#{number}" for number in attempts[:8])
    return Text(f"{shown} …" if len(attempts) > 8 else shown, style="dim")


def _key_of_result(result: EvaluationResult) -> tuple[str, str | None, str]:
    return result.suite_name or "", result.agent, result.case_name


def _key(case: CaseStability) -> tuple[str, str | None, str]:
    return case.suite_name, case.agent, case.case_name


def _case_name(case: CaseStability, with_agent: bool) -> str:
    name = one_line(case.case_name)
    return f"{one_line(case.agent)}: {name}" if with_agent and case.agent else name


def _stability_line(case: CaseStability, name: str) -> Text:
    from rich.text import Text

    found = case.stability
    warned = sum(status == LayerStatus.WARN.value for status in found.history)
    if found.flips:
        word, style = "FLAKY", _STYLES[LayerStatus.WARN]
    elif found.errors:
        word, style = "ERROR", _STYLES[LayerStatus.ERROR]
    elif found.failures:
        word, style = "FAIL", _STYLES[LayerStatus.FAIL]
    elif warned:
        word, style = "WARN", _STYLES[LayerStatus.WARN]
    else:
        word, style = "PASS", _STYLES[LayerStatus.PASS]
    line = Text()
    line.append(f"{word:<6}", style=style)
    line.append(f"{name}  ")
    line.append("".join(_HISTORY[status] for status in found.history[-40:]) + "  ")
    judged = found.passes + found.failures
    line.append(f"{found.passes} of {judged} passed" if judged else "no verdict")
    if warned:
        line.append(f", {warned} with a warning", style=_STYLES[LayerStatus.WARN])
    if found.interval is not None:
        low, high = found.interval
        line.append(f", 95% interval {low:.0%} to {high:.0%}", style="dim")
    if found.errors:
        line.append(f", {found.errors} in error", style=_STYLES[LayerStatus.ERROR])
    if found.flips:
        sources = ", ".join(dict.fromkeys(flip.source for flip in found.flips))
        line.append(f" · flips: {len(found.flips)} ({sources})", style=style)
    return line


def _stability_summary(console: Console, run: RunResult) -> None:
    """pass@k and pass^k as means over the cases, for every k that all cases have."""
    cases = [case.stability for case in run.stability if case.stability.pass_at]
    if not cases:
        return
    most = min(len(case.pass_at) for case in cases)
    chosen = [k for k in (1, 2, 3, 5, 10, 20, 50, 100) if k < most] + [most]
    at = ", ".join(f"@{k} {fmean(case.pass_at[k] for case in cases):.0%}" for k in chosen)
    hat = ", ".join(f"^{k} {fmean(case.pass_hat[k] for case in cases):.0%}" for k in chosen)
    of_cases = "" if len(cases) == run.planned else f", in {len(cases)} of {run.planned} cases"
    console.print(f"at least one of k attempts passes{of_cases}: pass{at}", soft_wrap=True)
    console.print(f"all of k attempts pass{of_cases}: pass{hat}", soft_wrap=True)


def _reasons(result: EvaluationResult, verbose: bool) -> Iterable[Text]:
    from rich.text import Text

    if result.error:
        shown = lines(result.error, _MORE)
        yield Text.assemble("       ", (shown, _STYLES[LayerStatus.ERROR]))
    if result.tries:
        yield Text(f"       {one_line(result.tries)}", style="dim")
    yield from _check_reasons(result, verbose)
    for metric in result.metrics:
        if metric.error and metric.gate is None:
            yield Text.assemble(
                "       metrics · ",
                (one_line(metric.metric_name), "bold"),
                (" error: ", "magenta"),
                lines(metric.error, _MORE),
            )
        elif verbose:
            yield Text(
                one_line(f"       metrics · {metric.metric_name} {with_unit(metric)}"), style="dim"
            )
    yield from _failed_calls(result)
    for text in exchange(result):
        # Half a key would not be masked: mask and escape first, then cut.
        yield Text(f"       {_short(one_line(text))}", style="dim")


def _failed_calls(result: EvaluationResult) -> Iterable[Text]:
    from rich.text import Text

    for call in result.failed_calls:
        yield Text.assemble("       tool call · ", (one_line(str(call)), "yellow"))


def _check_reasons(result: EvaluationResult, verbose: bool) -> Iterable[Text]:
    """A line for each check that is not green; with `verbose`, for every check."""
    from rich.text import Text

    missing = [check.name for _, check in result.checks() if is_without_baseline(check)]
    if missing:  # one line for all of them
        yield Text.assemble(
            "       ", (one_line(", ".join(missing)), "bold"), (" skipped: ", "dim"), NO_BASELINE
        )
    for layer, check in result.checks():
        if is_without_baseline(check):
            continue
        # A check that is unknown because of the error does not repeat its message.
        repeated = check.status is CheckStatus.UNKNOWN and check.message == result.error
        if check.status in _CHECK_STYLES and not repeated:
            style = _CHECK_STYLES[check.status]
        elif verbose:
            style = "dim"
        else:
            continue
        turn = f" turn {check.turn}" if check.turn else ""
        yield Text.assemble(
            f"       {layer}{turn} · ",
            (one_line(check.name), "bold"),
            (f" {status_word(check)}: ", style),
            lines(check.message, _MORE),
        )


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST_EXCHANGE else f"{line[:_LONGEST_EXCHANGE]}…"


def _judge_spend(spend: JudgeSpend) -> str:
    """`judge: 12 calls, 3 from the cache, $0.0021`: the cost of judges, apart from the agent's."""
    parts = [counted(spend.calls, "call")]
    if spend.cached:
        parts.append(f"{spend.cached} from the cache")
    if spend.calls:
        parts.append("cost unknown" if spend.cost_usd is None else dollars(spend.cost_usd))
    return f"judge: {', '.join(parts)}"


def with_unit(metric: MetricResult) -> str:
    """`3 steps`, `1 step`, `12.5 ms`; `–` if the value is undefined."""
    if metric.value is None:
        return "–"
    unit = metric.unit or ""
    if metric.value == 1 and unit not in ("ms", "s"):
        unit = unit.removesuffix("s")
    return f"{metric.value:,.6g} {unit}".rstrip()


def _gaps(run: RunResult) -> Iterable[tuple[str, str]]:
    """What the verdicts do not rest on, each with its style."""
    tally = run.tally
    if tally.unknown_checks:
        yield f"{counted(tally.unknown_checks, 'check')} unknown", "magenta"
    if tally.without_baseline:
        yield f"{counted(tally.without_baseline, 'case')} without a baseline", "yellow"
    if tally.retried:
        yield f"{counted(tally.retried, 'attempt')} retried", "yellow"
    if run.incomplete:
        yield "incomplete", "magenta"
    if run.unreadable:
        yield f"{counted(run.unreadable, 'trace')} unreadable", "magenta"


def _summary(console: Console, run: RunResult) -> None:
    from rich.text import Text

    words = (
        (LayerStatus.PASS, "passed"),
        (LayerStatus.WARN, "warned"),
        (LayerStatus.FAIL, "failed"),
        (LayerStatus.ERROR, "in error"),
    )
    tally = run.tally
    total = counted(run.planned, "case")
    if tally.attempts != run.planned:
        total += f", {counted(tally.attempts, 'attempt')}"
    line = Text(f"{total}: ", style="bold")
    counts = [(status, word, tally.statuses[status]) for status, word in words]
    for position, (status, word, count) in enumerate(c for c in counts if c[2]):
        line.append(", " if position else "")
        line.append(f"{count} {word}", style=_STYLES[status])
    for gap, style in _gaps(run):
        line.append(f" · {gap}", style=style)
    if tally.known_cost_usd is not None:
        at_least = "at least " if tally.has_unknown_cost else ""
        line.append(f" · {at_least}{dollars(tally.known_cost_usd)}", style="dim")
    if tally.judge is not None:
        line.append(f" · {_judge_spend(tally.judge)}", style="dim")
    console.print(line, soft_wrap=True)
    for gate in run.gates:
        word, status = {
            True: ("holds", LayerStatus.PASS),
            False: ("failed", LayerStatus.FAIL),
            None: ("unknown", LayerStatus.ERROR),
        }[gate.holds]
        style = _STYLES[status]
        text = Text.assemble(f"gate {gate.name} ", (word, style), f": {one_line(gate.message)}")
        console.print(text, soft_wrap=True)
