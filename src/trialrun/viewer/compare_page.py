"""Two runs side by side: the page of `trialrun compare -o`, with links and distributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from msgspec import Struct

from trialrun.engine.compare import compare
from trialrun.engine.comparison_sides import run_side
from trialrun.errors import UsageError
from trialrun.reports.pages.compare_page import ComparePage, compare_page
from trialrun.reports.pages.svg import Markup, histogram
from trialrun.reports.pages.texts import amount, duration, number
from trialrun.store.records import RunRecord
from trialrun.store.store import Store
from trialrun.viewer.links import RunLinks
from trialrun.viewer.summaries import Cache, Summary, summary_of

_MOST_CHOICES = 200

Addresses = Callable[[str, str], Sequence[tuple[str, str]]]
"""The pages of a case, by its suite and name: (text, address)."""


class Distribution(Struct, frozen=True):
    """One figure of all attempts, before and after, on one axis."""

    name: str
    before: Markup
    after: Markup


class Compared(Struct, frozen=True, kw_only=True):
    """The page of a comparison."""

    page: ComparePage
    addresses: Addresses
    distributions: Sequence[Distribution]


class Choice(Struct, frozen=True):
    """A run that can be chosen."""

    id: str
    text: str


def choices_of(store: Store) -> list[Choice]:
    """The runs that can be chosen, the newest first."""
    records = store.runs(limit=_MOST_CHOICES)
    return [
        Choice(one.id, f"{one.spec} · {one.id}")
        for one in records  # its id has the time
    ]


def run_before(store: Store, record: RunRecord) -> str:
    """The run of the same spec and kind before this one; "" if there is none."""
    runs = [one.id for one in store.runs(record.spec_key, _MOST_CHOICES) if one.kind == record.kind]
    at = runs.index(record.id) + 1 if record.id in runs else len(runs)
    return runs[at] if at < len(runs) else ""


def chosen_runs(store: Store, given: Sequence[str], before: str, after: str) -> tuple[str, str]:
    """The two runs that were asked for; of two that were ticked, the older one comes first."""
    if given:
        if len(given) != 2:
            raise UsageError(f"two runs can be compared, {len(given)} were chosen")
        newer, older = sorted(given, key=[one.id for one in _records(store, given)].index)
        return older, newer
    return before, after


def _records(store: Store, ids: Sequence[str]) -> list[RunRecord]:
    found = [one for one in store.runs() if one.id in ids]
    if len(found) != len(set(ids)):
        raise UsageError("one of the chosen runs is not in the store")
    return found


def compared(store: Store, before: str, after: str, cache: Cache) -> Compared:
    """The comparison of two runs."""
    summaries = [summary_of(store, _record(store, name), cache) for name in (before, after)]
    key = " | ".join((before, after, *(one.version for one in summaries)))
    return cache.get("compared", key, lambda: _compared(store, before, after, summaries))


def _record(store: Store, reference: str) -> RunRecord:
    return store.find_run(reference.partition("/")[0])


def _compared(store: Store, before: str, after: str, summaries: Sequence[Summary]) -> Compared:
    earlier, older = run_side(store, before)
    later, newer = run_side(store, after)
    if earlier.id == later.id and older.label == newer.label:
        raise UsageError(f"{before} and {after} are the same run, {later.id}")
    directions = {**earlier.settings.get("directions", {}), **later.settings.get("directions", {})}
    found = compare(older, newer, directions)
    return Compared(
        page=compare_page(found),
        addresses=_addresses(store, earlier, later),
        distributions=_distributions(store, [one.record for one in summaries]),
    )


def _addresses(store: Store, earlier: RunRecord, later: RunRecord) -> Addresses:
    sides = [
        (text, RunLinks(record.id), _positions(store, record))
        for text, record in (("case before", earlier), ("case after", later))
    ]

    def of(suite: str, case: str) -> list[tuple[str, str]]:
        return [
            (text, links.case(positions[suite, case]))
            for text, links, positions in sides
            if (suite, case) in positions
        ]

    return of


def _positions(store: Store, record: RunRecord) -> Mapping[tuple[str, str], int]:
    """Where the cases are, by suite and name; with several agents the suite names the agent."""
    found: dict[tuple[str, str], int] = {}
    for case in store.plan(record.id):
        found.setdefault((case.suite, case.case), case.position)
        found.setdefault((f"{case.suite}/{case.agent}", case.case), case.position)
    return found


def _distributions(store: Store, records: Sequence[RunRecord]) -> list[Distribution]:
    sides = [store.tallies.attempts(record.id) for record in records]
    found = []
    for name, field, show in (
        ("Cost", "cost", amount),
        ("Tokens", "tokens", lambda value: number(round(value))),
        ("Latency", "duration", duration),
    ):
        values = [
            [value for one in side if (value := getattr(one, field)) is not None] for side in sides
        ]
        known = [value for side in values for value in side if isfinite(value)]
        if all(values) and known:
            within = min(known), max(known)
            before, after = (
                histogram(side, f"{name}, {word}", show, within=within)
                for side, word in zip(values, ("before", "after"), strict=True)
            )
            found.append(Distribution(name, before, after))
    return found
