"""Two runs side by side: what changed, by how much, and whether chance may explain it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from trialrun.model.comparison import CaseChange, CaseSide, Comparison, LeftOut, MeasureChange
from trialrun.model.paths import CHANGED, EXTRA, MISSING, MOVED
from trialrun.redaction import redact
from trialrun.reports.pages.svg import Interval, Markup, intervals
from trialrun.reports.pages.texts import amount, bounded, duration, line_text, number
from trialrun.reports.views.comparison import (
    KINDS,
    behaviour_lines,
    explained,
    verdicts_text,
)
from trialrun.reports.views.measures import distinct, measure_rows
from trialrun.reports.views.origin import origin_line
from trialrun.util.texts import counted

_WORDS = {"broke": "fail", "worse": "warn", "fixed": "pass", "better": "pass", "changed": "skip"}
_KINDS = {MISSING: "missing", EXTRA: "extra", MOVED: "moved", CHANGED: "changed"}
_VERDICTS = {"worse": "fail", "better": "pass"}
_MOST_CASES = 500
_MOST_NAMES = 200


class Side(Struct, frozen=True):
    """One side of a case: a sign for each attempt, an answer, and figures."""

    marks: Sequence[str]
    answer: str | None
    figures: str


class Call(Struct, frozen=True):
    """A call of the two paths, aligned: the columns that it is in."""

    mark: str
    kind: str
    before: str
    after: str


class ChangedCase(Struct, frozen=True, kw_only=True):
    """A case whose verdict or behaviour changed."""

    word: str
    kind: str
    name: str
    suite: str
    verdicts: str
    lines: Sequence[str]
    before: Side
    after: Side
    answer_changed: bool
    calls: Sequence[Call]


class ComparePage(Struct, frozen=True, kw_only=True):
    """The page of a comparison."""

    word: str
    sentence: str
    explained: str
    before: str
    after: str
    origins: Sequence[tuple[str, str]]
    needed: str
    chips: Sequence[tuple[str, int, str]]
    loosened: Sequence[tuple[str, Sequence[str]]]
    measures: Sequence[tuple[str, ...]]
    chart: Markup | None
    unsure: str
    cases: Sequence[ChangedCase]
    more_cases: int
    left_out: Sequence[tuple[str, Sequence[str]]]


def compare_page(found: Comparison) -> ComparePage:
    """The page of a comparison; texts of agents are masked."""
    order = list(KINDS)
    changes = sorted(found.changes, key=lambda change: order.index(change.kind))
    head = found.sentence.partition(":")[0]
    return ComparePage(
        word="fail" if found.worse or head == "worse" else _VERDICTS.get(head, "skip"),
        sentence=found.sentence,
        explained=explained(found),
        before=redact(found.before),
        after=redact(found.after),
        origins=[
            (name, line)
            for name, origin in (("before", found.before_origin), ("after", found.after_origin))
            if (line := origin_line(origin))
        ],
        needed=f"{found.cases_needed:,} cases are needed to detect a difference of 5 points "
        "(power 80%, p < 0.05)",
        chips=[chip for chip in _chips(found) if chip[1]],
        loosened=[
            (redact(case.case), [redact(what) for what in case.what]) for case in found.loosened
        ],
        measures=list(measure_rows(found)),
        chart=_chart(distinct(found)),
        unsure=_unsure(distinct(found)),
        cases=[_case(change) for change in changes[:_MOST_CASES]],
        more_cases=max(0, len(changes) - _MOST_CASES),
        left_out=[(title, names) for title, names in _left_out(found) if names],
    )


def _chips(found: Comparison) -> Iterator[tuple[str, int, str]]:
    yield "fail", found.broke, "broke"
    yield "warn", found.got_worse, "got worse"
    yield "pass", found.fixed, "fixed"
    yield "pass", found.got_better, "got better"
    yield "flaky", found.behave_differently, "behave differently"
    yield "unknown", found.behaviour_unknown, "behaviour unknown"
    yield "unknown", len(found.lost), "lost their verdict"
    yield "unknown", len(found.not_comparable), "not comparable"


def _relative(measure: MeasureChange) -> Interval | None:
    """The difference as a share of the value before; None where there is no such share."""
    if measure.interval is None or measure.difference is None or not measure.before:
        return None
    base = abs(measure.before)
    word = measure.judgement if measure.judgement in ("better", "worse") else ""
    low, high = measure.interval
    return Interval(
        measure.name.replace("_", " "), measure.difference / base, low / base, high / base, word
    )


def _chart(measures: Sequence[MeasureChange]) -> Markup | None:
    rows = [row for measure in measures if (row := _relative(measure)) is not None]
    return intervals(rows, "change from before, with its 95% interval") if rows else None


def _unsure(measures: Sequence[MeasureChange]) -> str:
    """In words, which measures of the two runs cannot be told apart."""
    names = [
        one.name.replace("_", " ") for one in measures if one.judgement == "no clear difference"
    ]
    if not names:
        return ""
    return (
        f"The two runs cannot be told apart in {', '.join(names)}: chance explains differences "
        "of this size."
    )


def _case(change: CaseChange) -> ChangedCase:
    path = [] if change.behaviour is None else change.behaviour.path
    return ChangedCase(
        word=_WORDS[change.kind],
        kind=KINDS[change.kind],
        name=redact(change.case),
        suite=redact(change.suite),
        verdicts=verdicts_text(change),
        lines=list(behaviour_lines(change)),
        before=_side(change.before),
        after=_side(change.after),
        answer_changed=change.answer_changed,
        calls=[
            Call(
                mark,
                _KINDS.get(mark, "same"),
                "" if mark == EXTRA else redact(name),
                "" if mark == MISSING else redact(name),
            )
            for mark, name in path
        ],
    )


def _side(side: CaseSide) -> Side:
    figures = side.figures
    tokens = "" if figures.total_tokens is None else f"{number(round(figures.total_tokens))} tokens"
    shown = [amount(figures.cost_usd), tokens, duration(figures.duration_ms)]
    answer = None if side.answer is None else bounded(redact(side.answer), 4000)
    return Side(side.statuses[:40], answer, " · ".join(text for text in shown if text))


def _left_out(found: Comparison) -> Iterator[tuple[str, list[str]]]:
    for title, cases in (
        ("Lost their verdict", found.lost),
        ("Not comparable: the question or its checks changed", found.not_comparable),
        ("More or stricter checks than before", found.stricter),
        ("Only in the run before", [one for one in found.only_before if not one.lost]),
        ("Only in the run after", found.only_after),
        ("No verdict before", found.no_verdict_before),
        ("No verdict after", [one for one in found.no_verdict_after if not one.lost]),
    ):
        names = [_named(case) for case in cases[:_MOST_NAMES]]
        if len(cases) > _MOST_NAMES:
            names.append(f"and {counted(len(cases) - _MOST_NAMES, 'case')} more")
        yield title, names


def _named(case: LeftOut) -> str:
    return redact(case.case) + (f": {line_text(redact(case.error), 160)}" if case.error else "")
