"""A comparison of two runs as text for the terminal and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from trialrun import __version__
from trialrun.measures.comparison import p_text
from trialrun.model.comparison import (
    CaseChange,
    CaseSide,
    Comparison,
    LeftOut,
    Loosened,
)
from trialrun.model.results import REPORT_VERSION
from trialrun.reports.json import cleaned
from trialrun.reports.views.changes import change_lines
from trialrun.reports.views.consoles import Console, Line
from trialrun.reports.views.measures import JUDGEMENTS, measure_lines, number_text
from trialrun.reports.views.origin import origin_line
from trialrun.reports.views.printable import escaped_json, one_line, printable
from trialrun.reports.views.texts import masked_among, texts_lines

_STYLES = {
    "broke": "bold red",
    "loosened": "bold red",
    "fixed": "bold green",
    "mixed": "yellow",
    "not comparable": "magenta",
    **JUDGEMENTS,
    "no difference in verdicts": "green",
}
# How a kind of change is shown; the JSON document has the kind itself.
KINDS = {
    "broke": "BROKE",
    "worse": "WORSE",
    "fixed": "FIXED",
    "better": "BETTER",
    "changed": "CHANGED",
}
_INDENT = " " * 9
_LONGEST_ANSWER = 160
_NAMES_SHOWN = 5
_LINES_SHOWN = 20


def render(
    comparison: Comparison,
    colour: bool = False,
    verbose: bool = False,
    width: int | None = None,
) -> str:
    """The comparison as text: what was loosened, verdict, measures, changed cases, the rest.

    Of what was loosened, and of the changes, the first twenty are shown; `verbose` shows all.
    """
    console = Console(colour, width)
    _loosened(console, comparison.loosened, verbose)
    for part in (_verdict, _measures):
        part(console, comparison)
    _changes(console, comparison.changes, verbose)
    _left_out(console, comparison, verbose)
    for line in texts_lines(masked_among(comparison), comparison.withheld):
        _print(console, (line, "dim"))
    return console.out.getvalue()


def _loosened(console: Console, cases: Sequence[Loosened], verbose: bool) -> None:
    """Whatever is checked less than before comes first: it may be why the rest looks good."""
    owners: dict[str, list[str]] = {}
    several = len({case.suite for case in cases}) > 1
    for case in cases:
        for what in case.what:
            name = f"{case.suite} · {case.case}" if several else case.case
            owners.setdefault(what, []).append(one_line(name))
    if not owners:
        return
    total = _counted(len(cases), "case is", "cases are")
    _print(console, ("loosened", _STYLES["loosened"]), f": {total} checked less than before")
    lines = [f"{one_line(what)}: {_named(names, verbose)}" for what, names in owners.items()]
    shown = lines if verbose else lines[:_LINES_SHOWN]
    for line in shown:
        _print(console, f"  {line}")
    if len(shown) < len(lines):
        _print(console, (f"  and {len(lines) - len(shown)} more: -v shows all", "dim"))
    console.print()


def _named(names: Sequence[str], verbose: bool) -> str:
    shown = names if verbose else names[:_NAMES_SHOWN]
    rest = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return ", ".join(shown) + rest


def _print(console: Console, *parts: str | tuple[str, str]) -> None:
    line = Line.of(*parts)
    line.rstrip()
    console.print(line)


def _verdict(console: Console, comparison: Comparison) -> None:
    word, colon, rest = comparison.sentence.partition(":")
    _print(console, (word, _STYLES[word]), colon, rest)
    _print(
        console,
        (f"{one_line(comparison.before)} → {one_line(comparison.after)}", "dim"),
        (f" · {explained(comparison)}", "dim"),
    )
    for side, origin in (
        ("before", comparison.before_origin),
        ("after", comparison.after_origin),
    ):
        if line := origin_line(origin):
            _print(console, (f"{side}: {line}", "dim"))
    needed = f"{comparison.cases_needed:,} cases are needed to detect a difference of 5 points"
    _print(console, (f"{needed} (power 80%, p < 0.05)", "dim"))


def explained(comparison: Comparison) -> str:
    """The pairs that the p value is computed from, and the two-sided p beside a one-sided one."""
    pairs = _counted(comparison.pairs, "pair of attempts", "pairs of attempts")
    differing = comparison.pairs_worse + comparison.pairs_better
    if not differing:
        beyond = comparison.attempts_beyond
        further = f", {_counted(beyond, 'attempt', 'attempts')} without a pair" if beyond else ""
        return f"{pairs}, {'' if beyond else 'all '}with the same verdict as before{further}"
    split = (
        f"{pairs}: {comparison.pairs_worse} for the worse, {comparison.pairs_better} for the better"
    )
    word, _, rest = comparison.sentence.partition(":")
    if "p =" not in rest and "p <" not in rest:
        return split
    if word in ("worse", "better"):
        return f"{split}; p is one-sided, two-sided {p_text(comparison.test.p_two_sided)}"
    return f"{split}; p is two-sided"


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _measures(console: Console, comparison: Comparison) -> None:
    console.print()
    for line in measure_lines(comparison, console.width):
        console.print(line)


# Cases.


def _changes(console: Console, changes: list[CaseChange], verbose: bool) -> None:
    """Each case whose verdict changed, and the first changes of behaviour, a line each."""
    several = len({change.suite for change in changes}) > 1
    order = list(KINDS)
    left = _LINES_SHOWN
    more = cases = 0
    if changes:
        console.print()
    for change in sorted(changes, key=lambda change: order.index(change.kind)):
        lines = list(behaviour_lines(change))
        shown = lines if verbose else lines[:left]
        left -= len(shown)
        more += len(lines) - len(shown)
        cases += len(lines) > len(shown)
        if shown or verbose or change.status_changed or change.kind != "changed":
            _case(console, change, shown, several)
    if more:
        of_cases = f"{_counted(more, 'change', 'changes')} of {_counted(cases, 'case', 'cases')}"
        console.print()
        _print(console, (f"and {of_cases} more: -v shows all", "dim"))


def _case(console: Console, change: CaseChange, lines: Sequence[str], several: bool) -> None:
    name = f"{change.suite} · {change.case}" if several else change.case
    _print(
        console,
        (f"{KINDS[change.kind]:<9}", _STYLES[change.kind]),
        (one_line(name), "bold"),
        f"  {verdicts_text(change)}",
    )
    for line in lines:
        _print(console, _INDENT, line)
    if took := _took(change):
        _print(console, _INDENT, ("took: ", "dim"), took)


def verdicts_text(change: CaseChange) -> str:
    before, after = change.before.statuses, change.after.statuses
    if len(before) == len(after) == 1:
        same = f"{before[0]} as before"
        return same if before == after else f"{before[0]} → {after[0]}"
    shares = f"{_share(change.before)} → {_share(change.after)}"
    if len(after) == 1:
        return shares
    differing = ""
    if change.differing:
        verb = "behaves" if change.differing == 1 else "behave"
        differing = f"{change.differing} of {len(after)} {verb} differently, "
    return f"{shares} ({differing}attempt {change.attempt} is shown)"


def _share(side: CaseSide) -> str:
    passed = sum(status in ("pass", "warn") for status in side.statuses)
    warned = side.statuses.count("warn")
    return f"{passed}/{len(side.statuses)} passed" + (f", {warned} warned" if warned else "")


def behaviour_lines(change: CaseChange) -> Iterator[str]:
    """What the agent does differently in a case, a line each, the worst first."""
    for name in change.newly_unknown:
        yield f"{one_line(name)} is unknown now"
    if change.behaviour is None:
        yield "tool calls not recorded on both sides"
    else:
        yield from map(one_line, change_lines(change.behaviour))
    if change.stop is not None:
        yield one_line(f"ended: {change.stop[0]} → {change.stop[1]}")
    if change.answer_changed:
        before, after = _answers(change.before.answer, change.after.answer)
        yield f"answer: {before} → {after}"


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
        f"{number_text(name, before)} → {number_text(name, after)}{unit}"
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
    _paragraph(console, "not compared", lines)
    _paragraph(console, "compared, though", list(_asked_otherwise(comparison, verbose)))


def _paragraph(console: Console, heading: str, lines: list[str]) -> None:
    if lines:
        console.print()
        _print(console, (heading, "bold"))
    for line in lines:
        _print(console, f"  {line}")


def _asked_otherwise(comparison: Comparison, verbose: bool) -> Iterable[str]:
    if comparison.attempts_beyond:
        attempts = _counted(comparison.attempts_beyond, "attempt", "attempts")
        counts = "counted in the rates and not in p"
        yield f"{attempts} without a counterpart on the other side: {counts}"
    if comparison.behaviour_unknown:
        cases = _counted(comparison.behaviour_unknown, "case", "cases")
        why = "tool calls are not recorded, or masked, on a side"
        yield f"{why}, so a change may be unseen: {cases}"
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
        "loosened": msgspec.to_builtins(comparison.loosened),
        "regression": comparison.regression,
        "worse": comparison.worse,
        "changed": comparison.changed,
        **msgspec.to_builtins(replace(comparison, masked=masked_among(comparison))),
    }


def render_json(comparison: Comparison) -> str:
    """The comparison as JSON text, with a line break at its end."""
    text = msgspec.json.encode(cleaned(document(comparison)))
    return escaped_json(msgspec.json.format(text, indent=2).decode()) + "\n"
