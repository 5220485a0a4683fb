"""The measures of a comparison as a table: before, after, the change and its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose

from trialrun.model.comparison import Comparison, MeasureChange
from trialrun.reports.views.consoles import Line, columns
from trialrun.reports.views.printable import one_line
from trialrun.util.money import dollars
from trialrun.util.texts import counted

JUDGEMENTS = {
    "worse": "red",
    "better": "green",
    "changed": "yellow",
    "unknown": "magenta",
    "no clear difference": "dim",
}
"""The judgements of measures, with their styles."""

# Metrics with the same meaning as a figure of the attempts: shown only if the values differ.
_SAME_MEANING = {"token_cost": "cost_usd", "token_usage": "total_tokens", "duration": "duration_ms"}
_HEADER = ("", "before", "after", "change", "95% interval")


def measure_lines(comparison: Comparison, width: int | None) -> Iterator[Line]:
    """The table; each column is as wide as its widest cell.

    Where a line would be too long, what limits the judgements is said below, once for all of them.
    """
    shown = distinct(comparison)
    header, *rows = _aligned([_HEADER, *map(_row, shown)])
    yield Line(header, "dim")
    longest = max((len(measure.judgement + _caveat(measure)) for measure in shown), default=0)
    is_narrow = width is not None and len(header) + 2 + longest > width
    names: dict[str, list[str]] = {}
    for row, measure in zip(rows, shown, strict=True):
        caveat = _caveat(measure)
        names.setdefault(caveat, []).append(one_line(measure.name))
        line = Line.of(f"{row}  ", (measure.judgement, JUDGEMENTS[measure.judgement]))
        yield line if is_narrow else line.append(caveat, "dim")
    for caveat, about in names.items() if is_narrow else ():
        if caveat:
            yield Line(f"{caveat.strip()[1:-1]}: {', '.join(about)}", "dim")


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines: names aligned left, numbers right."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        gaps = [" " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)]
        numbers = [gap + cell for gap, cell in zip(gaps[1:], row[1:], strict=True)]
        lines.append("  ".join([row[0] + gaps[0], *numbers]))
    return lines


def distinct(comparison: Comparison) -> list[MeasureChange]:
    return [measure for measure in comparison.measures if not _is_twin(measure, comparison)]


def measure_rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """The measures as rows of a table, each with its judgement at the end."""
    for measure in distinct(comparison):
        yield *_row(measure), f"{measure.judgement}{_caveat(measure)}"


def _is_twin(measure: MeasureChange, comparison: Comparison) -> bool:
    twin = _SAME_MEANING.get(measure.name)
    return any(
        other.name == twin
        and _is_near(other.before, measure.before)
        and _is_near(other.after, measure.after)
        for other in comparison.measures
    )


def _is_near(one: float | None, other: float | None) -> bool:
    """Whether both would be shown alike: a baseline has rounded durations."""
    if one is None or other is None:
        return one is other
    return isclose(one, other, rel_tol=0.005)


def _row(measure: MeasureChange) -> tuple[str, ...]:
    interval = "–"
    if measure.interval is not None:
        interval = " … ".join(_signed(measure.name, bound) for bound in measure.interval)
    change = "–" if measure.difference is None else _signed(measure.name, measure.difference)
    return (
        one_line(measure.name),
        number_text(measure.name, measure.before),
        number_text(measure.name, measure.after),
        change,
        interval,
    )


def number_text(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    if name in ("cost_usd", "token_cost"):
        return dollars(float(f"{value:.3g}") if value < 1 else value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _signed(name: str, value: float) -> str:
    sign = "+" if value > 0 else "-" if value < 0 else ""
    return sign + number_text(name, abs(value))


def _caveat(measure: MeasureChange) -> str:
    if measure.judgement == "unknown" and measure.cases:
        return f" (only {counted(measure.cases, 'case')})"
    if measure.judgement == "no clear difference" and not _spans_zero(measure):
        differ = "1 case differs" if measure.differing == 1 else f"{measure.differing} cases differ"
        return f" (only {differ})"
    if measure.missing and measure.pairs:
        return f" ({measure.missing} of {measure.missing + measure.pairs} pairs do not have it)"
    return " (no pair has it)" if not measure.pairs else ""


def _spans_zero(measure: MeasureChange) -> bool:
    return measure.interval is not None and measure.interval[0] <= 0 <= measure.interval[1]
