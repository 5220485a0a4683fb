"""Stability of a repeated run: cases × attempts as a map, and the chance that all of k pass."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trialrun.measures.stability import AttemptOutcome, stability_of
from trialrun.model.results import CaseStability
from trialrun.reports.pages.figures import FigureCounter
from trialrun.reports.pages.svg import Markup, heat_map
from trialrun.reports.pages.texts import ORDER
from trialrun.store.store import Store
from trialrun.viewer.links import RunLinks
from trialrun.viewer.summaries import CaseLine, Summary

PAGE = 100
_MOST_COUNTED = 5000
_UNSTABLE_FIRST = {"flaky": -1}


class StableCase(Struct, frozen=True):
    """One case: what its attempts show."""

    name: str
    suite: str
    href: str
    word: str
    rate: str
    interval: str
    changes: str


class StabilityPage(Struct, frozen=True, kw_only=True):
    """The page of stability."""

    sentence: str
    map: Markup | None
    cases: Sequence[StableCase]
    curve: Markup | None
    note: str
    newer: int
    older: int


def stability_page(store: Store, summary: Summary, offset: int) -> StabilityPage:
    """One part of the cases, those with mixed verdicts first."""
    order = sorted(summary.cases, key=lambda case: _UNSTABLE_FIRST.get(case.word, ORDER[case.word]))
    part = order[offset : offset + PAGE]
    links = RunLinks(summary.record.id)
    planned = {
        one.position: one
        for one in store.tallies.planned(summary.record.id, [case.position for case in part])
    }
    counted = [(case, _stability(case)) for case in order[:_MOST_COUNTED]]
    figures = FigureCounter().figures([found for _, found in counted])
    shown = {case.position: found for case, found in counted}
    cases = []
    rows = []
    for case in part:
        name, suite = planned[case.position].case, planned[case.position].suite
        found = (shown.get(case.position) or _stability(case)).stability
        judged = found.passes + found.failures
        interval = "–" if found.interval is None else "{:.0%} to {:.0%}".format(*found.interval)
        cases.append(
            StableCase(
                name,
                suite,
                links.case(case.position),
                case.word,
                f"{found.passes} of {judged}" if judged else "no verdict",
                interval,
                f"{len(found.flips)}" if found.flips else "–",
            )
        )
        rows.append((name, links.case(case.position), case.statuses))
    mixed = sum(case.word == "flaky" for case in summary.cases)
    total = len(summary.cases)
    return StabilityPage(
        sentence=f"{mixed:,} of {total:,} cases passed in some attempts and failed in others"
        if mixed
        else f"No verdict differs between attempts at the same case ({total:,} cases)",
        map=heat_map(rows, "Statuses of the attempts") if rows else None,
        cases=cases,
        curve=figures.pass_hat,
        note=figures.pass_hat_note,
        newer=max(0, offset - PAGE) if offset else -1,
        older=offset + PAGE if offset + PAGE < total else -1,
    )


def _stability(case: CaseLine) -> CaseStability:
    outcomes = [AttemptOutcome(word) for word in case.statuses]
    return CaseStability(
        suite_name="",
        agent=None,
        case_name=str(case.position),
        stability=stability_of(outcomes),
    )
