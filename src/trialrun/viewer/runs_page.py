"""The first page: the runs of a store, the newest first, and how their figures went."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trialrun.engine.stored_run import state_of
from trialrun.measures.stability import wilson_interval
from trialrun.reports.pages.svg import Markup, Point, shares, trend
from trialrun.reports.pages.texts import amount, duration, number
from trialrun.reports.views.origin import commit_text
from trialrun.store.records import VERIFY, RunRecord
from trialrun.store.store import Store
from trialrun.store.tallies import Figure, RunTally
from trialrun.util.texts import counted
from trialrun.viewer.links import run_address, with_query

MOST_RUNS = 5000
"""Runs that are looked through; what is older is found by `trialrun runs`."""

PAGE = 50
_MOST_POINTS = 60
_ORDER = ("fail", "error", "warn", "pass", "skip")
SORTS = {
    "new": "newest first",
    "rate": "lowest pass rate",
    "cost": "highest cost",
    "tokens": "most tokens",
    "time": "slowest",
}
KINDS = {"run": "runs", VERIFY: "verified sessions", "score": "scored", "regrade": "regraded"}


class RunLine(Struct, frozen=True, kw_only=True):
    """One run in the list."""

    id: str
    href: str
    word: str
    spec: str
    kind: str
    state: str
    when: str
    cases: str
    rate: str
    bar: Markup
    figures: Sequence[str]
    commit: str
    labels: Sequence[str]
    before: str  # the address of its comparison with the run before it


class Trends(Struct, frozen=True):
    """Charts over the runs of one spec."""

    spec: str
    note: str
    charts: Sequence[tuple[str, Markup]]


class RunsPage(Struct, frozen=True, kw_only=True):
    """The first page."""

    runs: Sequence[RunLine]
    total: int
    shown: str
    trends: Trends | None
    specs: Sequence[tuple[str, str]]
    kinds: Sequence[tuple[str, str]]
    sorts: Sequence[tuple[str, str]]
    values: Mapping[str, str]
    newer: str
    older: str
    live: bool
    version: str
    location: str


def runs_page(store: Store, asked: Mapping[str, str]) -> RunsPage:
    """The first page; `asked` are the fields of its form."""
    records = store.runs(limit=MOST_RUNS)
    values = {name: asked.get(name, "") for name in ("q", "spec", "kind")}
    values["sort"] = asked.get("sort", "") if asked.get("sort", "") in SORTS else "new"
    chosen = [record for record in records if _is_asked_for(record, values)]
    of_trend = _of_one_spec(chosen)
    tallies: dict[str, RunTally] = {}
    if values["sort"] != "new":
        tallies = store.tallies.of([record.id for record in chosen])
        chosen.sort(key=lambda record: _rank(tallies[record.id], values["sort"]))
    offset = _whole(asked.get("from", ""))
    shown = chosen[offset : offset + PAGE]
    tallies |= store.tallies.of({record.id for record in (*shown, *of_trend)})
    states = {record.id: state_of(store, record) for record in shown}
    earlier = _earlier(records)
    rest = len(chosen) - offset - len(shown)
    return RunsPage(
        runs=[_line(one, tallies[one.id], states[one.id], earlier) for one in shown],
        total=len(records),
        shown="" if len(chosen) == len(records) else f"{len(chosen):,} of {len(records):,} runs",
        trends=_trends(of_trend, tallies),
        specs=sorted({record.spec_key: record.spec for record in records}.items()),
        kinds=[(kind, KINDS.get(kind, kind)) for kind in sorted({one.kind for one in records})],
        sorts=list(SORTS.items()),
        values=values,
        newer=_address(values, max(0, offset - PAGE)) if offset else "",
        older=_address(values, offset + PAGE) if rest > 0 else "",
        live="running" in states.values(),
        version=list_version(records, tallies, states),
        location=store.location,
    )


def list_version(
    records: Sequence[RunRecord], tallies: Mapping[str, RunTally], states: Mapping[str, str]
) -> str:
    """What changes as soon as the list does."""
    live = [
        f"{name} {tallies[name].attempts}" for name, word in states.items() if word == "running"
    ]
    return " ".join((str(len(records)), records[0].id if records else "", *live))


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _address(values: Mapping[str, str], offset: int) -> str:
    known = {**values, "sort": "" if values["sort"] == "new" else values["sort"]}
    return with_query("/", **known, **{"from": str(offset) if offset else ""})


def _is_asked_for(record: RunRecord, values: Mapping[str, str]) -> bool:
    if values["spec"] and record.spec_key != values["spec"]:
        return False
    if values["kind"] and record.kind != values["kind"]:
        return False
    words = values["q"].lower().split()
    if not words:
        return True
    origin = record.origin
    names = [str(one) for key in ("labels", "agents", "models") for one in origin.get(key, ())]
    known = (record.id, record.spec, record.kind, commit_text(origin), *names)
    text = " ".join(known).lower()
    return all(word in text for word in words)


def _rank(tally: RunTally, sort: str) -> tuple[bool, float]:
    """The place in the list; runs that do not have the figure come last."""
    value = {
        "rate": tally.rate,
        "cost": None if tally.cost.mean is None else -tally.cost.total,
        "tokens": None if tally.tokens.mean is None else -tally.tokens.total,
        "time": None if tally.duration.mean is None else -tally.duration.mean,
    }[sort]
    return value is None, value or 0.0


def _earlier(records: Sequence[RunRecord]) -> dict[str, str]:
    """The run of the same spec before each run, by id."""
    found: dict[str, str] = {}
    last: dict[tuple[str, str], str] = {}
    for record in reversed(records):
        key = record.spec_key, record.kind
        if key in last:
            found[record.id] = last[key]
        last[key] = record.id
    return found


def _line(record: RunRecord, tally: RunTally, state: str, earlier: Mapping[str, str]) -> RunLine:
    counts = [(word, tally.statuses.get(word, 0)) for word in _ORDER]
    before = earlier.get(record.id)
    planned = record.planned if record.repeat == 1 else f"{record.planned:,} × {record.repeat}"
    noun, passed = ("session", "compliant") if record.kind == VERIFY else ("case", "passed")
    return RunLine(
        id=record.id,
        href=run_address(record.id),
        word=word_of_run(tally, state),
        spec=record.spec,
        kind="" if record.kind == "run" else KINDS.get(record.kind, record.kind),
        state="" if state == "finished" else state,
        when=f"{record.created_at:%Y-%m-%d %H:%M} UTC",
        cases=counted(record.planned, noun) if record.repeat == 1 else f"{planned} attempts",
        rate="–" if tally.rate is None else f"{tally.rate:.0%} {passed}",
        bar=shares(counts, "attempts"),
        figures=list(_figures(tally)),
        commit=commit_text(record.origin),
        labels=[str(label) for label in record.origin.get("labels", ())],
        before=with_query("/compare", before=before, after=record.id) if before else "",
    )


def word_of_run(tally: RunTally, state: str) -> str:
    """The word of a run by its attempts: one failure fails it."""
    if state == "running":
        return "skip"
    for word in ("fail", "error"):
        if tally.statuses.get(word):
            return word
    if state != "finished" or not tally.attempts:
        return "error"
    return "warn" if tally.statuses.get("warn") else "pass"


def _figures(tally: RunTally) -> Iterator[str]:
    sums = []
    if tally.cost.known:
        sums.append(_at_least(tally.cost, tally) + amount(tally.cost.total))
    if tally.tokens.known:
        tokens = number(round(tally.tokens.total))
        sums.append(f"{_at_least(tally.tokens, tally)}{tokens} tokens")
    if sums:
        yield " · ".join(sums)
    if tally.duration.mean is not None:
        yield f"{duration(tally.duration.mean)} on average"


def _at_least(figure: Figure, tally: RunTally) -> str:
    return "" if figure.known == tally.attempts else "≥ "


# Trends


def _of_one_spec(chosen: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs of one spec, the oldest first: of the newest run of an agent that has others."""
    of_spec: dict[tuple[str, str], list[RunRecord]] = {}
    for one in chosen:
        of_spec.setdefault((one.spec_key, one.kind), []).append(one)
    several = [runs for runs in of_spec.values() if len(runs) > 1]
    of_agents = [runs for runs in several if runs[0].kind in ("run", "score")]
    found = next(iter(of_agents or several), [])
    return found[:_MOST_POINTS][::-1]


def _trends(records: Sequence[RunRecord], tallies: Mapping[str, RunTally]) -> Trends | None:
    if len(records) < 2:
        return None
    charts = [
        ("Pass rate", trend(_points(records, tallies, _rate), "Pass rate", _percent, share=True))
    ]
    for name, figure, show in (
        ("Cost of an attempt", lambda tally: tally.cost.mean, amount),
        ("Latency of an attempt", lambda tally: tally.duration.mean, duration),
        ("Tokens of an attempt", lambda tally: tally.tokens.mean, lambda v: number(round(v))),
    ):
        points = _points(records, tallies, _plain(figure, show))
        if points:
            charts.append((name, trend(points, name, show)))
    return Trends(records[-1].spec, f"the last {len(records)} runs", charts)


Shown = tuple[float, float | None, float | None, str]


def _rate(tally: RunTally) -> Shown | None:
    interval = wilson_interval(tally.passes, tally.judged)
    if tally.rate is None or interval is None:
        return None
    return tally.rate, *interval, f"{tally.passes} of {tally.judged} passed"


def _plain(
    figure: Callable[[RunTally], float | None], show: Callable[[float], str]
) -> Callable[[RunTally], Shown | None]:
    def found(tally: RunTally) -> Shown | None:
        value = figure(tally)
        return None if value is None else (value, None, None, show(value))

    return found


def _points(
    records: Sequence[RunRecord],
    tallies: Mapping[str, RunTally],
    value: Callable[[RunTally], Shown | None],
) -> list[Point]:
    points = []
    one_day = len({record.created_at.date() for record in records}) == 1
    when = "%H:%M" if one_day else "%b %d"
    for record in records:
        shown = value(tallies[record.id])
        if shown is not None:
            y, low, high, text = shown
            note = " · ".join((text, *_about(record)))
            points.append(
                Point(f"{record.created_at:{when}}", y, low, high, note, run_address(record.id))
            )
    return points


def _about(record: RunRecord) -> Iterator[str]:
    """Where the run came from: its commit, branch and labels."""
    yield record.id
    origin: Mapping[str, Any] = record.origin
    if commit := commit_text(origin):
        yield commit
    yield from (str(label) for label in origin.get("labels", ()))


def _percent(value: float) -> str:
    return f"{value:.0%}"
