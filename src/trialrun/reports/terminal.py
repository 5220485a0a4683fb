"""The run for a person at a terminal: a line a case, and the reason of everything not green."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trialrun.measures.money import dollars
from trialrun.reports.printable import one_line
from trialrun.results import (
    LAYERS,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerStatus,
    MetricResult,
    RunResult,
    Severity,
)

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
_CHECK_STYLES = {
    CheckStatus.FAIL: "red",
    CheckStatus.UNKNOWN: "magenta",
    CheckStatus.SKIPPED: "dim",
}
_PLAIN_WIDTH = 100


def render(
    run: RunResult, *, colour: bool | None = None, quiet: bool = False, verbose: bool = False
) -> str:
    """The report as text; with escape codes for colour where that is asked for."""
    import io

    from rich.console import Console

    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=bool(colour),
        no_color=not colour,
        color_system="standard" if colour else None,
        width=_width(),
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    if not quiet:
        _cases(console, run, verbose)
    _summary(console, run)
    return out.getvalue()


def _width() -> int:
    import shutil

    columns = shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns
    return max(60, min(columns, 140))


def wants_colour(is_terminal: bool) -> bool:
    """Colour on a terminal, unless NO_COLOR or CI says otherwise."""
    return is_terminal and not os.environ.get("NO_COLOR") and not os.environ.get("CI")


def _cases(console: Console, run: RunResult, verbose: bool) -> None:
    from rich.text import Text

    several = len({result.suite_name for result in run.results}) > 1
    widest = min(40, max((len(_name(result)) for result in run.results), default=0))
    layers = _asked_layers(run)
    suite = None
    for result in run.results:
        if several and result.suite_name != suite:
            suite = result.suite_name
            console.print(Text(one_line(suite or ""), style="bold"))
        line = Text()
        line.append(f"{result.status.value.upper():<6}", style=_STYLES[result.status])
        line.append(_name(result).ljust(widest) + "  ")
        for layer in layers:
            status = result.layers[layer].status
            line.append(f"{layer} ", style="dim")
            line.append(f"{_MARKS[status]}  ", style=_STYLES[status])
        line.append(_figures(result), style="dim")
        line.rstrip()
        console.print(line, soft_wrap=True)
        for reason in _reasons(result, verbose):
            console.print(reason, soft_wrap=True)


def _asked_layers(run: RunResult) -> list[str]:
    """The layers of which some case asks something: a column each, so that marks line up."""
    return [
        layer
        for layer in LAYERS
        if any(result.layers[layer].status is not LayerStatus.SKIP for result in run.results)
    ]


def _name(result: EvaluationResult) -> str:
    name = one_line(result.case_name)
    return name if result.attempt == 1 else f"{name} #{result.attempt}"


def _figures(result: EvaluationResult) -> str:
    figures = []
    if result.cost_usd is not None:
        figures.append(dollars(result.cost_usd))
    if result.total_tokens is not None:
        figures.append(f"{result.total_tokens:,} tokens")
    if result.duration_ms is not None:
        figures.append(f"{result.duration_ms / 1000:.1f} s")
    return " · ".join(figures)


def _reasons(result: EvaluationResult, verbose: bool) -> Iterable[Text]:
    from rich.text import Text

    if result.error:
        yield Text.assemble("       ", (one_line(result.error), _STYLES[LayerStatus.ERROR]))
    for layer, check in result.checks():
        # What the error line has said already is not said again for every check.
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
            (f" {_word(check)}: ", style),
            one_line(check.message),
        )
    for metric in result.metrics:
        if metric.error and metric.gate is None:
            yield Text.assemble(
                "       metrics · ",
                (one_line(metric.metric_name), "bold"),
                (" error: ", "magenta"),
                one_line(metric.error),
            )
        elif verbose:
            yield Text(
                one_line(f"       metrics · {metric.metric_name} {_value(metric)}"), style="dim"
            )


def _word(check: CheckResult) -> str:
    """`fail` for what fails the case, `warn` for a failure that only warns."""
    soft = check.status is CheckStatus.FAIL and check.severity is Severity.WARN
    return "warn" if soft else check.status.value


def _value(metric: MetricResult) -> str:
    if metric.value is None:
        return "–"
    return f"{metric.value:,.6g} {metric.unit or ''}".rstrip()


def _summary(console: Console, run: RunResult) -> None:
    from rich.text import Text

    words = (
        (LayerStatus.PASS, "passed"),
        (LayerStatus.WARN, "warned"),
        (LayerStatus.FAIL, "failed"),
        (LayerStatus.ERROR, "in error"),
    )
    total = "1 case" if run.planned == 1 else f"{run.planned} cases"
    if len(run.results) != run.planned:
        total += f", {len(run.results)} attempts"
    line = Text(f"{total}: ", style="bold")
    counts = [(status, word, run.count(status)) for status, word in words]
    for position, (status, word, count) in enumerate(c for c in counts if c[2]):
        line.append(", " if position else "")
        line.append(f"{count} {word}", style=_STYLES[status])
    unknown = run.unknown_checks
    if unknown:
        line.append(f" · {unknown} check{'' if unknown == 1 else 's'} unknown", style="magenta")
    if run.unreadable:
        noun = "trace" if run.unreadable == 1 else "traces"
        line.append(f" · {run.unreadable} {noun} unreadable", style="magenta")
    costs = [result.cost_usd for result in run.results]
    known = [cost for cost in costs if cost is not None]
    if known:
        at_least = "at least " if len(known) < len(costs) else ""
        line.append(f" · {at_least}{dollars(sum(known))}", style="dim")
    console.print(line, soft_wrap=True)
