"""The pages of one run: its cases, failures first, one case with its attempts, and its figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from trialrun.engine.stability import case_stability
from trialrun.engine.stored_run import with_missing
from trialrun.redaction import Redactor
from trialrun.reports.pages.attempt_part import Made
from trialrun.reports.pages.case_page import CasePage, case_page
from trialrun.reports.pages.figures import FigureCounter, Figures
from trialrun.reports.pages.rows import Row, row_of
from trialrun.reports.pages.run_page import RunHead
from trialrun.reports.pages.texts import ORDER
from trialrun.reports.pages.timeline import MOST_STEPS
from trialrun.store.records import Attempt, PlannedCase, RunRecord
from trialrun.store.store import Store
from trialrun.viewer.links import RunLinks, with_query
from trialrun.viewer.summaries import Cache, CaseLine, Details, Summary, details_of

PAGE = 50
_MOST_SEARCHED = 20_000
_HEAVY = 400_000
"""Bytes of compressed traces of a case beyond which its row does not name the step."""

_MOST_FIGURES = 2000
SORTS = ("worst", "plan", "name", "cost", "tokens", "time")
_UNKNOWN = "unknown"
_READ_FOR = ("fail", "error", "warn", "flaky")


class Values(Struct, frozen=True):
    """How the list is filtered and sorted."""

    status: Sequence[str]
    q: str
    sort: str

    @property
    def query(self) -> str:
        """The same as a query of an address, without what is usual."""
        sort = "" if self.sort == "worst" else self.sort
        return with_query("", status=list(self.status), q=self.q, sort=sort).removeprefix("?")


class RunPage(Struct, frozen=True, kw_only=True):
    """The list of a run."""

    head: RunHead
    rows: Sequence[Row]
    shown: str
    newer: str
    older: str
    progress: str


def values_of(asked: Any) -> Values:
    """The fields of the form; what is not known is left out. `asked` are those of an address."""
    sort = asked.get("sort", "worst")
    return Values(
        [word for word in dict.fromkeys(asked.getlist("status")) if word in (*ORDER, _UNKNOWN)],
        asked.get("q", "")[:500],
        sort if sort in SORTS else "worst",
    )


def run_page(
    store: Store, summary: Summary, values: Values, offset: int, cache: Cache, links: RunLinks
) -> RunPage:
    """One part of the list."""
    details = details_of(store, summary, cache)
    chosen = chosen_cases(store, summary, values, details)
    part = chosen[offset : offset + PAGE]
    address = links.run()
    rest = len(chosen) - offset - len(part)
    total = len(summary.cases)
    done, planned = summary.tally.attempts, sum(len(case.statuses) for case in summary.cases)
    return RunPage(
        head=details.head,
        rows=rows_of(store, summary, part),
        shown="" if len(chosen) == total else f"{len(chosen):,} of {total:,} {details.head.noun}s",
        newer=_part(address, max(0, offset - PAGE)) if offset else "",
        older=_part(address, offset + PAGE) if rest > 0 else "",
        progress=f"running: {done:,} of {planned:,} attempts" if summary.live else "",
    )


def _part(address: str, offset: int) -> str:
    sign = "&" if "?" in address else "?"
    return f"{address}{sign}from={offset}" if offset else address


def chosen_cases(
    store: Store, summary: Summary, values: Values, details: Details
) -> list[CaseLine]:
    """The cases that the form asks for, in the order that it asks for."""
    found = list(summary.cases)
    words = [word for word in values.status if word != _UNKNOWN]
    if words:
        found = [case for case in found if case.word in words]
    if _UNKNOWN in values.status:
        found = [case for case in found if details.unknown.get(case.position)]
    names: Mapping[int, str] = {}
    if values.q or values.sort == "name":
        names = _names(store, summary, found[:_MOST_SEARCHED])
    if asked := values.q.lower().split():
        found = [
            case
            for case in found
            if _is_found(asked, (names.get(case.position), details.reasons.get(case.position)))
        ]
    order: dict[str, Callable[[CaseLine], Any]] = {
        "worst": lambda case: ORDER[case.word],
        "plan": lambda case: case.position,
        "name": lambda case: names.get(case.position, "").lower(),
        "cost": lambda case: -(case.cost or 0),
        "tokens": lambda case: -(case.tokens or 0),
        "time": lambda case: -(case.time or 0),
    }
    return sorted(found, key=order[values.sort])


def _is_found(words: Sequence[str], texts: Sequence[str | None]) -> bool:
    text = " ".join(filter(None, texts)).lower()
    return all(word in text for word in words)


def _names(store: Store, summary: Summary, cases: Sequence[CaseLine]) -> dict[int, str]:
    """What a search looks through: the names, agents, suites and tags."""
    planned = store.tallies.planned(summary.record.id, [case.position for case in cases])
    return {
        one.position: " ".join((one.case, one.agent or "", one.suite, *one.tags)) for one in planned
    }


def rows_of(store: Store, summary: Summary, cases: Sequence[CaseLine]) -> list[Row]:
    """The rows of these cases. Traces are read only of those that did not pass."""
    read = {case.position for case in cases if case.word in _READ_FOR and case.size <= _HEAVY}
    others = {case.position for case in cases} - read
    found: dict[int, Row] = {}
    for positions, traces in ((read, True), (others, False)):
        for planned, made in _made(store, summary, positions, traces):
            page = case_page(planned.position, made, private=True)
            found[planned.position] = row_of(page, made)
    return [found[case.position] for case in cases if case.position in found]


def _made(
    store: Store, summary: Summary, positions: set[int], traces: bool
) -> Iterator[tuple[PlannedCase, list[Made]]]:
    """The attempts of these cases, with those that were not made."""
    cases = store.tallies.planned(summary.record.id, positions)
    attempts = with_missing(store, summary.record, traces, cases)
    lengths = {case.position: case for case in summary.cases if case.position in positions}
    for case in cases:
        line = lengths[case.position]
        made = [Made(*one) for one in islice(attempts, len(line.statuses))]
        if made:
            yield case, made


# One case


class OneCase(Struct, frozen=True, kw_only=True):
    """The page of a case, and the addresses of those beside it."""

    case: CasePage
    before: str
    after: str
    back: str
    place: str
    steps: int  # of the longest timeline, where it is not shown whole; else 0


def one_case(
    store: Store,
    summary: Summary,
    position: int,
    values: Values,
    cache: Cache,
    links: RunLinks,
    around: int = 0,
) -> OneCase | None:
    """The page of a case; None if the run has none at this position.

    `around`: a step of which a long timeline must show the surroundings.
    """
    if not 0 <= position < len(summary.cases):
        return None
    record = summary.record
    (planned,) = store.tallies.planned(record.id, [position])
    made = [Made(*one) for one in with_missing(store, record, True, [planned])]
    stability = None
    if len(made) > 1:
        attempts = [
            Attempt(
                position=position, attempt=one.result.attempt, result=one.result, trace=one.trace
            )
            for one in made
        ]
        stability = case_stability(attempts)
    case = case_page(position, made, stability, around=around)
    steps = max((part.timeline.total for part in case.attempts if part.timeline), default=0)
    details = details_of(store, summary, cache)
    order = [case.position for case in chosen_cases(store, summary, values, details)]
    at = order.index(position) if position in order else -1
    return OneCase(
        case=case,
        before=links.case(order[at - 1]) if at > 0 else "",
        after=links.case(order[at + 1]) if 0 <= at < len(order) - 1 else "",
        back=links.run(),
        place=f"{at + 1:,} of {len(order):,}" if at >= 0 else "",
        steps=steps if steps > MOST_STEPS else 0,
    )


def trace_json(store: Store, record: RunRecord, position: int, attempt: int) -> str | None:
    """The trace of an attempt as JSON for people; None if there is none."""
    planned = store.tallies.planned(record.id, [position])
    if not planned:
        return None
    for result, trace in with_missing(store, record, True, planned):
        if result.attempt == attempt and trace is not None:
            plain = Redactor().plain(json.loads(trace.to_json()))
            return json.dumps(plain, indent=2) + "\n"
    return None


# Figures


def figures_of(store: Store, summary: Summary) -> tuple[Figures, str]:
    """The figures of a run, and how much of it they are about."""
    counter = FigureCounter()
    found = with_missing(store, summary.record, True)
    read = 0
    for one in islice(found, _MOST_FIGURES):
        counter.add([Made(*one)])
        read += 1
    total = sum(len(case.statuses) for case in summary.cases)
    note = "" if read == total else f"of the first {read:,} of {total:,} attempts"
    return counter.figures(()), note
