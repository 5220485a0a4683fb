"""A comparison of two runs as text for the terminal and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from trialrun import __version__
from trialrun.measures.comparison import p_text
from trialrun.model.comparison import CaseChange, CaseSide, Comparison, LeftOut, MeasureChange
from trialrun.model.results import REPORT_VERSION
from trialrun.reports.json import cleaned
from trialrun.reports.views.consoles import text_console
from trialrun.reports.views.origin import origin_line
from trialrun.reports.views.printable import escaped_json, one_line, printable
from trialrun.util.money import dollars

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {
    "broke": "bold red",
    "worse": "red",
    "fixed": "bold green",
    "better": "green",
    "changed": "yellow",
    "mixed": "yellow",
    "not comparable": "magenta",
    "unknown": "magenta",
    "no clear difference": "dim",
    "no difference in verdicts": "green",
}
# Metrics with the same meaning as a figure of the attempts: shown only if the values differ.
_SAME_MEANING = {"token_cost": "cost_usd", "token_usage": "total_tokens", "duration": "duration_ms"}
# How a kind of change is shown; the JSON document has the kind itself.
_KIND_SHOWN = {"broke": "BROKE", "fixed": "FIXED", "changed": "CHANGED"}
_INDENT = " " * 9
_LONGEST_ANSWER = 160
_NAMES_SHOWN = 5


def render(comparison: Comparison, colour: bool = False, verbose: bool = False) -> str:
    """The comparison as text: verdict, measures, changed cases, and cases that were not compared.

    Cases with the same verdict but another answer or path are counted; `verbose` shows them.
    """
    console, out = text_console(colour)
    for part in (_verdict, _measures):
        part(console, comparison)
    _changes(console, comparison.changes, verbose)
    _left_out(console, comparison, verbose)
    return out.getvalue()


def _print(console: Console, *parts: str | tuple[str, str]) -> None:
    from rich.text import Text

    line = Text.assemble(*parts)
    line.rstrip()
    console.print(line, soft_wrap=True)


def _verdict(console: Console, comparison: Comparison) -> None:
    word, colon, rest = comparison.sentence.partition(":")
    _print(console, (word, _STYLES[word]), colon, rest)
    _print(
        console,
        (f"{one_line(comparison.before)} → {one_line(comparison.after)}", "dim"),
        (f" · {_explained(comparison)}", "dim"),
    )
    for side, origin in (
        ("before", comparison.before_origin),
        ("after", comparison.after_origin),
    ):
        if line := origin_line(origin):
            _print(console, (f"{side}: {line}", "dim"))
    needed = f"{comparison.cases_needed:,} cases are needed to detect a difference of 5 points"
    _print(console, (f"{needed} (power 80%, p < 0.05)", "dim"))


def _explained(comparison: Comparison) -> str:
    """The pairs that the p value is computed from, and the two-sided p beside a one-sided one."""
    pairs = _counted(comparison.pairs, "pair of attempts", "pairs of attempts")
    differing = comparison.pairs_broke + comparison.pairs_fixed
    if not differing:
        return f"{pairs}, all with the same verdict as before"
    split = (
        f"{pairs}: {comparison.pairs_broke} for the worse, {comparison.pairs_fixed} for the better"
    )
    if comparison.sentence.startswith(("worse", "better")):
        return f"{split}; p is one-sided, two-sided {p_text(comparison.test.p_two_sided)}"
    return f"{split}; p is two-sided" if "p =" in comparison.sentence else split


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


# Measures: a table; each column is as wide as its widest cell.


def _measures(console: Console, comparison: Comparison) -> None:
    from rich.cells import cell_len

    shown = [measure for measure in comparison.measures if not _is_twin(measure, comparison)]
    rows = [("", "before", "after", "change", "95% interval"), *map(_row, shown)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    console.print()
    for number, row in enumerate(rows):
        # Names are aligned left, numbers right.
        cells = [row[0] + " " * (widths[0] - cell_len(row[0]))]
        cells += [
            " " * (width - cell_len(cell)) + cell
            for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        if number == 0:
            _print(console, ("  ".join(cells), "dim"))
            continue
        measure = shown[number - 1]
        _print(
            console,
            "  ".join(cells) + "  ",
            (measure.judgement, _STYLES[measure.judgement]),
            (_caveat(measure), "dim"),
        )


def _is_twin(measure: MeasureChange, comparison: Comparison) -> bool:
    twin = _SAME_MEANING.get(measure.name)
    return any(
        other.name == twin and (other.before, other.after) == (measure.before, measure.after)
        for other in comparison.measures
    )


def _row(measure: MeasureChange) -> tuple[str, ...]:
    interval = "–"
    if measure.interval is not None:
        interval = " … ".join(_signed(measure.name, bound) for bound in measure.interval)
    change = "–" if measure.difference is None else _signed(measure.name, measure.difference)
    return (
        one_line(measure.name),
        _number(measure.name, measure.before),
        _number(measure.name, measure.after),
        change,
        interval,
    )


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    if name in ("cost_usd", "token_cost"):
        return dollars(float(f"{value:.3g}") if value < 1 else value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _signed(name: str, value: float) -> str:
    sign = "+" if value > 0 else "-" if value < 0 else ""
    return sign + _number(name, abs(value))


def _caveat(measure: MeasureChange) -> str:
    if measure.judgement == "unknown" and measure.cases:
        return f" (only {_counted(measure.cases, 'case', 'cases')})"
    if measure.judgement == "no clear difference" and not _spans_zero(measure):
        return f" (only {_counted(measure.differing, 'case differs', 'cases differ')})"
    if measure.missing and measure.pairs:
        return f" ({measure.missing} of {measure.missing + measure.pairs} pairs do not have it)"
    return " (no pair has it)" if not measure.pairs else ""


def _spans_zero(measure: MeasureChange) -> bool:
    return measure.interval is not None and measure.interval[0] <= 0 <= measure.interval[1]


# Cases.


def _changes(console: Console, changes: list[CaseChange], verbose: bool) -> None:
    several = len({change.suite for change in changes}) > 1
    order = list(_KIND_SHOWN)
    ordered = sorted(changes, key=lambda change: order.index(change.kind))
    shown = [change for change in ordered if verbose or change.status_changed]
    if shown:
        console.print()
    for change in shown:
        name = f"{change.suite} · {change.case}" if several else change.case
        _print(
            console,
            (f"{_KIND_SHOWN[change.kind]:<9}", _STYLES[change.kind]),
            (one_line(name), "bold"),
            f"  {_verdicts(change)}",
        )
        for line in _details(change):
            console.print(line, soft_wrap=True)
    hidden = len(changes) - len(shown)
    if hidden:
        console.print()
        cases = _counted(hidden, "case", "cases")
        _print(console, (f"{cases} with the same verdict but another answer or path: -v", "dim"))


def _verdicts(change: CaseChange) -> str:
    if not change.status_changed and len(set(change.before.statuses)) == 1:
        return f"{change.before.statuses[0]} as before"
    if len(change.before.statuses) == 1:
        return f"{change.before.statuses[0]} → {change.after.statuses[0]}"
    return f"{_share(change.before)} → {_share(change.after)} (attempt {change.attempt} is shown)"


def _share(side: CaseSide) -> str:
    passed = sum(status in ("pass", "warn") for status in side.statuses)
    warned = side.statuses.count("warn")
    return f"{passed}/{len(side.statuses)} passed" + (f", {warned} warned" if warned else "")


def _details(change: CaseChange) -> Iterable[Text]:
    from rich.text import Text

    if change.answer_changed:
        before, after = _answers(change.before.answer, change.after.answer)
        yield Text.assemble(_INDENT, ("answer  ", "dim"), before)
        yield Text.assemble(_INDENT, ("     →  ", "dim"), after)
    if change.path_changes:
        for number, step in enumerate(change.path_changes):
            heading = "        " if number else "path    "
            yield Text.assemble(_INDENT, (heading, "dim"), one_line(step))
    elif change.path_changes is None:
        yield Text.assemble(_INDENT, ("path    not recorded on both sides", "dim"))
    took = _took(change)
    if took:
        yield Text.assemble(_INDENT, ("took    ", "dim"), took)


def _answers(before: str | None, after: str | None) -> tuple[str, str]:
    """Both answers, cut so that their first difference is shown."""
    # Secrets are masked before the cut: half of a key would not be recognised.
    texts = ["–" if text is None else printable(text) for text in (before, after)]
    start = 0
    for old, new in zip(*texts, strict=False):
        if old != new:
            break
        start += 1
    start = max(0, start - 40) if start > 80 else 0
    first, second = (one_line(("…" if start else "") + text[start:]) for text in texts)
    return _cut(first), _cut(second)


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_ANSWER else line[:_LONGEST_ANSWER] + "…"


def _took(change: CaseChange) -> str:
    old, new = change.before.figures, change.after.figures
    figures = (
        ("cost_usd", old.cost_usd, new.cost_usd, ""),
        ("total_tokens", old.total_tokens, new.total_tokens, " tokens"),
        ("duration_ms", old.duration_ms, new.duration_ms, " ms"),
    )
    return " · ".join(
        f"{_number(name, before)} → {_number(name, after)}{unit}"
        for name, before, after, unit in figures
        if before is not None or after is not None
    )


# Cases that were not compared: listed, so that a case that crashed does not just disappear.


def _left_out(console: Console, comparison: Comparison, verbose: bool) -> None:
    lines = [
        *_cases_left_out("not comparable", comparison.not_comparable, verbose),
        *_cases_left_out("only before", comparison.only_before, verbose),
        *_cases_left_out("only after", comparison.only_after, verbose),
        *_cases_left_out("no verdict before", comparison.no_verdict_before, verbose),
        *_cases_left_out("no verdict after", comparison.no_verdict_after, verbose),
    ]
    if comparison.pairs_without_verdict:
        pairs = _counted(comparison.pairs_without_verdict, "pair", "pairs")
        lines.append(f"{pairs} of attempts without a verdict on both sides")
    if comparison.attempts_beyond:
        attempts = _counted(comparison.attempts_beyond, "attempt", "attempts")
        lines.append(f"{attempts} without a counterpart on the other side")
    _paragraph(console, "not compared", lines)
    _paragraph(console, "compared, though", list(_asked_otherwise(comparison, verbose)))


def _paragraph(console: Console, heading: str, lines: list[str]) -> None:
    if lines:
        console.print()
        _print(console, (heading, "bold"))
    for line in lines:
        _print(console, f"  {line}")


def _asked_otherwise(comparison: Comparison, verbose: bool) -> Iterable[str]:
    yield from _cases_left_out("with more or stricter checks", comparison.stricter, verbose)
    if comparison.not_recorded:
        cases = _counted(comparison.not_recorded, "case", "cases")
        yield f"what was asked is not recorded: {cases}, of a run by an older trialrun"


def _cases_left_out(heading: str, cases: list[LeftOut], verbose: bool) -> Iterable[str]:
    if not cases:
        return
    shown = cases if verbose else cases[:_NAMES_SHOWN]
    names = ", ".join(one_line(case.case) + _because(case) for case in shown)
    rest = f" and {len(cases) - len(shown)} more" if len(shown) < len(cases) else ""
    yield f"{heading} ({len(cases)}): {names}{rest}"


def _because(case: LeftOut) -> str:
    return f" ({one_line(case.error)})" if case.error else ""


# JSON.


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values, with a fixed order of keys."""
    return {
        "format_version": REPORT_VERSION,
        "trialrun": __version__,
        "regression": comparison.regression,
        "worse": comparison.worse,
        **msgspec.to_builtins(comparison),
    }


def render_json(comparison: Comparison) -> str:
    """The comparison as JSON text, with a line break at its end."""
    text = msgspec.json.encode(cleaned(document(comparison)))
    return escaped_json(msgspec.json.format(text, indent=2).decode()) + "\n"
