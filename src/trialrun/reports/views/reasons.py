"""Why an attempt is not green, line by line: reason, step and path, then question and answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trialrun.model.results import (
    NO_BASELINE,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerStatus,
    MetricResult,
    is_without_baseline,
)
from trialrun.reports.views.consoles import Line
from trialrun.reports.views.paths import STYLES as PATH_STYLES
from trialrun.reports.views.paths import call_text, path_steps
from trialrun.reports.views.printable import lines, one_line
from trialrun.reports.views.wording import exchange, status_word, steps_text

STYLES = {
    LayerStatus.PASS: "green",
    LayerStatus.WARN: "yellow",
    LayerStatus.FAIL: "bold red",
    LayerStatus.ERROR: "bold magenta",
    LayerStatus.SKIP: "dim",
}
MARKS = {
    LayerStatus.PASS: "✓",
    LayerStatus.WARN: "!",
    LayerStatus.FAIL: "✗",
    LayerStatus.ERROR: "?",
    LayerStatus.SKIP: "–",
}
INDENT = " " * 7
PATH_HEAD = "  path:"
CHECK_STYLES = {
    CheckStatus.FAIL: "red",
    CheckStatus.UNKNOWN: "magenta",
    CheckStatus.SKIPPED: "dim",
}
_MORE = f"{INDENT}| "  # begins each further line of a text
_LONGEST_EXCHANGE = 240


def reason_lines(result: EvaluationResult, verbose: bool) -> Iterator[Line]:
    """The reasons, each with its step and path; then what was asked and answered."""
    if result.error:
        shown = lines(result.error, _MORE)
        yield Line.of(INDENT, (shown, STYLES[LayerStatus.ERROR]))
    if result.tries:
        yield Line(f"{INDENT}{one_line(result.tries)}", style="dim")
    yield from _check_reasons(result, verbose)
    for metric in result.metrics:
        if metric.error and metric.gate is None:
            yield Line.of(
                f"{INDENT}metrics · ",
                (one_line(metric.metric_name), "bold"),
                (" error: ", "magenta"),
                lines(metric.error, _MORE),
            )
        elif verbose:
            name = one_line(metric.metric_name)
            yield Line(f"{INDENT}metrics · {name} {one_line(with_unit(metric))}", style="dim")
    yield from _failed_calls(result)
    for text in exchange(result):
        # Half a key would not be masked: mask and escape first, then cut.
        yield Line(f"{INDENT}{_short(one_line(text))}", style="dim")


def _failed_calls(result: EvaluationResult) -> Iterable[Line]:
    for call in result.failed_calls:
        step = f" (step {one_line(call.step)})" if call.step else ""
        yield Line.of(f"{INDENT}tool call · ", (one_line(str(call)), "yellow"), (step, "dim"))


def _check_reasons(result: EvaluationResult, verbose: bool) -> Iterable[Line]:
    """A line for each check that is not green; with `verbose`, for every check."""
    missing = [check.name for _, check in result.checks() if is_without_baseline(check)]
    if missing:  # one line for all of them
        yield Line.of(
            INDENT, (one_line(", ".join(missing)), "bold"), (" skipped: ", "dim"), NO_BASELINE
        )
    for layer, check in result.checks():
        if is_without_baseline(check):
            continue
        # A check that is unknown because of the error does not repeat its message.
        repeated = check.status is CheckStatus.UNKNOWN and check.message == result.error
        if check.status in CHECK_STYLES and not repeated:
            style = CHECK_STYLES[check.status]
        elif verbose:
            style = "dim"
        else:
            continue
        turn = f" turn {check.turn}" if check.turn else ""
        yield Line.of(
            f"{INDENT}{layer}{turn} · ",
            (one_line(check.name), "bold"),
            (f" {status_word(check)}: ", style),
            lines(check.message, _MORE),
            (step_text(check), "dim"),
        )
        yield from _path(check)


def step_text(check: CheckResult) -> str:
    """` (step s4)` of a check that failed, unless its message says it."""
    text = steps_text(check)
    if check.status is not CheckStatus.FAIL or not text or text in check.message:
        return ""
    return f" ({one_line(text)})"


def _path(check: CheckResult) -> Iterator[Line]:
    line = Line(INDENT + PATH_HEAD)
    for mark, name, times in path_steps(check.data):
        line.append("  ")
        line.append(call_text(mark, name, times, one_line), style=PATH_STYLES[mark])
    if len(line) > len(INDENT + PATH_HEAD):
        yield line


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST_EXCHANGE else f"{line[:_LONGEST_EXCHANGE]}…"


def with_unit(metric: MetricResult) -> str:
    """`3 steps`, `1 step`, `12.5 ms`; `–` if the value is undefined."""
    if metric.value is None:
        return "–"
    unit = metric.unit or ""
    if metric.value == 1 and unit not in ("ms", "s"):
        unit = unit.removesuffix("s")
    return f"{metric.value:,.6g} {unit}".rstrip()
