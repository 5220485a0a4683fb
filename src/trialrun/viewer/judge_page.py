"""Verdicts of the judge beside facts and a person's labels, and the form that takes a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from trialrun.engine.judge_audit import facts_of
from trialrun.engine.stored_run import with_missing
from trialrun.errors import UsageError
from trialrun.model.results import EvaluationResult, Verdict
from trialrun.store.labels import Label, LabelPlace
from trialrun.store.records import PlannedCase
from trialrun.store.store import Store
from trialrun.util.texts import counted
from trialrun.viewer.links import RunLinks
from trialrun.viewer.summaries import Cache, Summary

PAGE = 50
MOST_READ = 5000
"""Attempts of a run that are looked through for verdicts."""

_LONGEST_REASON = 2000
_GIVEN = {"pass": True, "fail": False}


class Judged(Struct, frozen=True, kw_only=True):
    """One verdict of the judge, and what the free checks say of the same answer."""

    place: LabelPlace
    case: str
    question: str
    answer: str
    score: str
    passed: bool | None
    rationale: str
    models: str
    fact: bool | None
    against: str
    can_be_labelled: bool


class JudgedRow(Struct, frozen=True, kw_only=True):
    """A verdict as the page shows it. `number` identifies its form."""

    number: int
    judged: Judged
    judge: str
    fact: str
    person: str
    reason: str
    disagree: bool
    href: str


class JudgePage(Struct, frozen=True, kw_only=True):
    """The page of all verdicts of a run."""

    sentence: str
    note: str
    rows: Sequence[JudgedRow]
    newer: int
    older: int


def judged_in(store: Store, summary: Summary, cache: Cache) -> list[Judged]:
    """Every verdict of the judge in a run, up to a bound."""

    def read() -> list[Judged]:
        found = islice(with_missing(store, summary.record, False), MOST_READ)
        positions = (case.position for case in summary.cases for _ in case.statuses)
        return [
            one
            for position, (result, _) in zip(positions, found, strict=False)
            for one in _verdicts(summary.record.id, position, result)
        ]

    return cache.get("judged", summary.version, read)


def judged_at(store: Store, summary: Summary, planned: PlannedCase) -> list[Judged]:
    """The verdicts on the answers of one case."""
    found = with_missing(store, summary.record, False, [planned])
    return [
        one for result, _ in found for one in _verdicts(summary.record.id, planned.position, result)
    ]


def _verdicts(run_id: str, position: int, result: EvaluationResult) -> Iterator[Judged]:
    for _, check in result.checks():
        rules = [verdict.rule for verdict in check.verdicts]
        for verdict in check.verdicts:
            turn = check.turn or 0
            asked = result.turns[turn - 1] if 0 < turn <= len(result.turns) else None
            fact, against = facts_of(result, check.turn)
            place = LabelPlace(
                run_id, position, result.attempt, check.name, turn, verdict.rule.strip()
            )
            yield Judged(
                place=place,
                case=result.case_name,
                question=(asked.question if asked else result.question) or "",
                answer=(asked.answer if asked else result.answer) or "",
                score="no score" if verdict.score is None else f"{verdict.score:g} of 5",
                passed=verdict.passed,
                rationale=_rationale(verdict),
                models=", ".join(dict.fromkeys(vote.model for vote in verdict.votes)),
                fact=fact,
                against=against,
                # One rule about several statements: which of them a verdict is about is not kept.
                can_be_labelled=rules.count(verdict.rule) == 1,
            )


def _rationale(verdict: Verdict) -> str:
    return next((vote.rationale or vote.error or "" for vote in verdict.votes), "")


def rows_of(found: Sequence[Judged], labels: Mapping[LabelPlace, Label]) -> list[JudgedRow]:
    """The verdicts with their labels: disagreements first, then what has no label."""
    rows = []
    for number, one in enumerate(found):
        label = labels.get(one.place)
        person = None if label is None else label.follows
        said = {given for given in (one.passed, one.fact, person) if given is not None}
        links = RunLinks(one.place.run_id)
        rows.append(
            JudgedRow(
                number=number,
                judged=one,
                judge="unknown" if one.passed is None else _word(one.passed),
                fact=_word(one.fact),
                person=_word(person),
                reason="" if label is None else label.reason,
                disagree=len(said) > 1,
                href=links.attempt(one.place.position, one.place.attempt),
            )
        )
    return sorted(rows, key=lambda row: (not row.disagree, bool(row.person)))


def _word(passed: bool | None) -> str:
    return {True: "pass", False: "fail", None: ""}[passed]


def judge_page(store: Store, summary: Summary, offset: int, cache: Cache) -> JudgePage:
    """One part of the verdicts of a run."""
    found = judged_in(store, summary, cache)
    rows = rows_of(found, store.labels.of([summary.record.id]))
    read = sum(len(case.statuses) for case in summary.cases)
    return JudgePage(
        sentence=_sentence(rows),
        note=f"in the first {MOST_READ:,} of {read:,} attempts" if read > MOST_READ else "",
        rows=rows[offset : offset + PAGE],
        newer=max(0, offset - PAGE) if offset else -1,
        older=offset + PAGE if offset + PAGE < len(rows) else -1,
    )


def _sentence(rows: Sequence[JudgedRow]) -> str:
    if not rows:
        return "No judge gave a verdict in this run"
    text = counted(len(rows), "verdict")
    facts = [row for row in rows if row.fact and row.judge != "unknown"]
    wrong = sum(row.fact != row.judge for row in facts)
    if facts:
        text += f", {wrong} against the facts"
    labelled = [row for row in rows if row.person and row.judge != "unknown"]
    if labelled:
        agreed = sum(row.person == row.judge for row in labelled)
        text += f"; a person agrees with {agreed} of {len(labelled)}"
    return text


def take_label(store: Store, found: Sequence[Judged], fields: Mapping[str, str]) -> LabelPlace:
    """Record the label of a form: `agree`, `disagree`, `pass`, `fail` or `withdraw`."""
    place = _place(found, fields)
    given = fields.get("label", "")
    if given == "withdraw":
        store.labels.take_back(place.place)
        return place.place
    follows = _GIVEN.get(given)
    if follows is None and place.passed is not None and given in ("agree", "disagree"):
        follows = place.passed is (given == "agree")
    if follows is None:
        raise UsageError("a label says agree, disagree, pass, fail or withdraw")
    reason = fields.get("reason", "").strip()[:_LONGEST_REASON]
    store.labels.give(Label(place.place, follows, reason))
    return place.place


def _place(found: Sequence[Judged], fields: Mapping[str, str]) -> Judged:
    """The verdict that the form is about: one that is in the run."""
    wanted = [fields.get(name, "") for name in ("position", "attempt", "check", "turn", "rule")]
    for one in found:
        place = one.place
        if not one.can_be_labelled:
            continue
        known = (place.position, place.attempt, place.check, place.turn, place.rule)
        # A browser sends the line ends of a hidden field as they are in no store.
        if [" ".join(str(part).split()) for part in known] == [" ".join(w.split()) for w in wanted]:
            return one
    raise UsageError("this run has no such verdict of a judge")
