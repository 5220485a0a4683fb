"""The terminal report: the summary, then the cases, what failed first, with reason and step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from trialrun.model.audit import Audit
from trialrun.model.comparison import Comparison
from trialrun.model.paths import CHANGED, MOVED
from trialrun.model.results import LAYERS, EvaluationResult, LayerStatus, RunResult
from trialrun.model.verified import Verification
from trialrun.reports.base import Report, View
from trialrun.reports.views import repeats
from trialrun.reports.views.consoles import Console, Line, columns, padded
from trialrun.reports.views.paths import LEGEND as PATH_LEGEND
from trialrun.reports.views.printable import one_line
from trialrun.reports.views.reasons import MARKS, PATH_HEAD, STYLES, reason_lines
from trialrun.reports.views.texts import masked_in, texts_lines
from trialrun.reports.views.wording import case_label, notes, summary_parts
from trialrun.util.money import dollars

if TYPE_CHECKING:
    Printer = Callable[[Line], None]

_LEGEND = "✓ pass  ! warning  ✗ failure  ? no verdict  – nothing checked"
_WORST_FIRST = (
    LayerStatus.FAIL,
    LayerStatus.ERROR,
    LayerStatus.WARN,
    LayerStatus.PASS,
    LayerStatus.SKIP,
)
_SHORT = 4  # letters of a layer on a narrow terminal
_ONE_SCREEN = 24
_WORDS = {"FAIL": "failed", "FLAKY": "flaky", "ERROR": "in error", "WARN": "warned"}


class TerminalReport(Report):
    """Text: the summary, then one line per case, and the reasons of all that is not green."""

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

        return ledger.render_sessions(found, view.colour, view.quiet, view.verbose, view.width)

    def render_comparison(self, found: Comparison, view: View) -> str:
        from trialrun.reports.views import comparison

        return comparison.render(found, view.colour, view.verbose, view.width)

    def render_audit(self, audit: Audit, view: View) -> str:
        from trialrun.reports.views import audit as report

        return report.render(audit, view.colour, view.width)


def render(run: RunResult, view: View = View()) -> str:  # noqa: B008
    """The report as text, with escape codes if the view has colour."""
    console = Console(view.colour, view.width)
    put = console.print
    summary = _summary(run)
    put(summary)
    for line in _gates(run):
        put(line)
    if not view.quiet:
        _cases(put, run, view)
    for text in texts_lines(masked_in(run), run.withheld):
        put(Line(text, style="dim"))
    for text in notes(run, view.strict) if not view.quiet or view.strict else ():
        put(Line(text))
    if console.out.getvalue().count("\n") > _ONE_SCREEN:
        put(summary)  # the first line is out of sight
    return console.out.getvalue()


def _cases(put: Printer, run: RunResult, view: View) -> None:
    most = None if view.verbose else view.most
    if run.stability:
        shown = repeats.cases(run, view.verbose, most)
        total = run.planned
    else:
        shown = _attempts(run, view, most)
        total = run.tally.attempts
    for _, lines in shown:
        for line in lines:
            put(line)
    if len(shown) < total:
        put(Line(_rest(run, shown, total), style="bold"))
    if run.stability:
        for text in repeats.pass_lines(run):
            put(Line(text))
    if run.tally.attempts:
        put(Line(_LEGEND, style="dim"))
    paths = [line.plain for _, lines in shown for line in lines if PATH_HEAD in line.plain]
    if any(f" {mark}" in path for path in paths for mark in (MOVED, CHANGED)):  # + and - need none
        put(Line(PATH_LEGEND, style="dim"))


def _rest(run: RunResult, shown: Sequence[repeats.Case], total: int) -> str:
    """`and 99,950 more, 12 failed: …`: what is not shown, and how to see it."""
    found = [word for word, _ in shown]
    if run.stability:
        every = [repeats.word_of(case) for case in run.stability]
        every += ["ERROR"] * (run.planned - len(every))  # cases that were not run
        left = {word: every.count(word) - found.count(word) for word in _WORDS}
    else:
        counts = run.tally.statuses
        words = {status.value.upper(): status for status in _WORST_FIRST}
        left = {word: counts[words[word]] - found.count(word) for word in _WORDS if word in words}
    parts = [f"{number:,} {_WORDS[word]}" for word, number in left.items() if number > 0]
    not_green = f" ({', '.join(parts)})" if parts else ", all passed"
    more = "-v shows all, --format json and -o FILE have all"
    return f"and {total - len(shown):,} more{not_green}: {more}"


# Single attempts: one line each.


def _attempts(run: RunResult, view: View, most: int | None) -> list[repeats.Case]:
    """The attempts to show, the worst first; of each status at most so many are kept."""
    kept: dict[LayerStatus, list[EvaluationResult]] = {status: [] for status in _WORST_FIRST}
    for result in run.results:
        if most is None or len(kept[result.status]) < most:
            kept[result.status].append(result)
    chosen = [result for status in _WORST_FIRST for result in kept[status]][:most]
    layout = _Layout(chosen, view.width)
    return [
        (
            result.status.value.upper(),
            [layout.line(result), *reason_lines(result, view.verbose)],
        )
        for result in chosen
    ]


class _Layout:
    """Column widths and layer columns, which all lines share."""

    def __init__(self, results: Sequence[EvaluationResult], width: int | None) -> None:
        self._with_suite = len({result.suite_name for result in results}) > 1
        self._with_agent = len({result.agent for result in results}) > 1
        self._widest = min(40, max((columns(self._name(one)) for one in results), default=0))
        asked = {
            layer
            for result in results
            for layer, found in result.layers.items()
            if found.status is not LayerStatus.SKIP
        }
        # One column for each layer that some case has checks in, so that the signs line up.
        layers = [layer for layer in LAYERS if layer in asked]
        figures = [_known_figures(result) for result in results]
        left = None if width is None else width - self._widest - 8
        self._layers = {layer: layer for layer in layers}
        self._most = _fitting(figures, left and left - sum(len(name) + 4 for name in layers))
        if self._most < max(map(len, figures), default=0):
            self._layers = {layer: layer[:_SHORT] for layer in layers}
            self._most = _fitting(figures, left and left - len(layers) * (_SHORT + 4))

    def _name(self, result: EvaluationResult) -> str:
        return _name(result, self._with_suite, self._with_agent)

    def line(self, result: EvaluationResult) -> Line:
        """The line of an attempt; on a narrow terminal with short names and fewer figures."""

        line = Line()
        line.append(f"{result.status.value.upper():<6}", style=STYLES[result.status])
        line.append(padded(self._name(result), self._widest) + "  ")
        for layer, name in self._layers.items():
            status = result.layers[layer].status
            line.append(f"{name} ", style="dim")
            line.append(f"{MARKS[status]}  ", style=STYLES[status])
        line.append(" · ".join(_known_figures(result)[: self._most]), style="dim")
        line.rstrip()
        return line


def _fitting(figures: Sequence[Sequence[str]], width: int | None) -> int:
    """How many figures, from the first, fit in every line."""
    most = max(map(len, figures), default=0)
    while width is not None and any(len(" · ".join(line[:most])) > width for line in figures):
        most -= 1
        if most == 0:
            break
    return most


def _name(result: EvaluationResult, with_suite: bool = False, with_agent: bool = True) -> str:
    name = one_line(case_label(result, with_suite, with_agent))
    return name if result.attempt == 1 else f"{name} #{result.attempt}"


def headline(result: EvaluationResult) -> str:
    """The verdict, with the names of the agent and the case."""
    return f"{result.status.value.upper():<6}{_name(result)}"


def figures(result: EvaluationResult) -> str:
    """Cost, tokens and duration of the attempt, as far as they are known."""
    return " · ".join(_known_figures(result))


def _known_figures(result: EvaluationResult) -> list[str]:
    known = []
    if result.cost_usd is not None:
        known.append(dollars(result.cost_usd))
    if result.total_tokens is not None:
        known.append(f"{result.total_tokens:,} tokens")
    if result.duration_ms is not None:
        known.append(f"{result.duration_ms / 1000:.1f} s")
    return known


# About the whole run.


def _summary(run: RunResult) -> Line:
    line = Line()
    for number, (text, status) in enumerate(summary_parts(run)):
        style = "bold" if number == 0 else "dim" if status is None else STYLES[status]
        line.append(text, style=style)
    return line


def _gates(run: RunResult) -> Iterable[Line]:
    words = {
        True: ("holds", STYLES[LayerStatus.PASS]),
        False: ("failed", STYLES[LayerStatus.FAIL]),
        None: ("unknown", STYLES[LayerStatus.ERROR]),
    }
    for gate in run.gates:
        name = one_line(gate.name)
        yield Line.of(f"gate {name} ", words[gate.holds], f": {one_line(gate.message)}")
