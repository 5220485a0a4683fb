"""An audit of a judge: its measurements, and its verdicts beside facts and a person's labels."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trialrun.measures.agreement import Confusion
from trialrun.model.audit import (
    NEEDS_CALIBRATION,
    TRUSTWORTHY,
    UNRELIABLE,
    Audit,
    Disagreement,
    Opinion,
)
from trialrun.redaction import redact
from trialrun.reports.pages.texts import amount
from trialrun.util.texts import counted

_WORDS = {TRUSTWORTHY: "pass", NEEDS_CALIBRATION: "warn", UNRELIABLE: "fail"}


class Opinions(Struct, frozen=True, kw_only=True):
    """One answer and one rule: what the judge, the facts and a person say; "" says nothing."""

    case: str
    attempt: int
    rule: str
    score: str
    judge: str
    fact: str
    person: str
    disagree: bool


class Wrong(Struct, frozen=True, kw_only=True):
    """An answer that the judge passed although a fact or a person failed it."""

    case: str
    attempt: int
    rule: str
    score: str
    against: str
    rationale: str


class AuditPage(Struct, frozen=True, kw_only=True):
    """The page of an audit."""

    word: str
    verdict: str
    judge: str
    counts: str
    warning: str
    findings: Sequence[tuple[str, str, str, str]]  # word, measurement, figures, rating
    tables: Sequence[tuple[str, Confusion]]
    moves: Sequence[str]
    wrong: Sequence[Wrong]
    opinions: Sequence[Opinions]


def audit_page(audit: Audit) -> AuditPage:
    """The page of an audit; texts are masked."""
    cost = "cost unknown" if audit.cost_usd is None else amount(audit.cost_usd)
    silent = f", {audit.without_verdict} not given each time" if audit.without_verdict else ""
    all_alike = audit.passes in (0, audit.verdicts)
    did = "passed" if audit.passes else "failed"
    return AuditPage(
        word=_WORDS[audit.verdict],
        verdict=audit.verdict,
        judge=redact(audit.identity),
        counts=f"{counted(audit.verdicts, 'verdict')} on {counted(audit.answers, 'answer')}"
        f"{silent} · {counted(audit.calls, 'call')}, {cost}",
        warning=f"It {did} all of them: whether it can tell good from bad is not known."
        if all_alike
        else "",
        findings=[
            (_WORDS.get(rating, "skip"), name, figures, rating)
            for name, figures, rating in audit.findings()
        ],
        tables=[
            (name, table)
            for name, table in (("facts", audit.facts), ("a person", audit.labels))
            if table.total
        ],
        moves=[
            f"{one.name}: the score moved in {one.score_moved} of {one.verdicts}, "
            f"by {one.mean_move:+.2f} on average"
            for one in audit.sensitivity
            if one.verdicts
        ],
        wrong=[_wrong(one) for one in audit.disagreements],
        opinions=sorted(map(_opinions, audit.opinions), key=lambda one: not one.disagree),
    )


def _wrong(one: Disagreement) -> Wrong:
    return Wrong(
        case=redact(one.case),
        attempt=one.attempt,
        rule=redact(one.rule),
        score="–" if one.score is None else f"{one.score:g}",
        against=redact(one.against),
        rationale=redact(one.rationale),
    )


def _opinions(one: Opinion) -> Opinions:
    said = {given for given in (one.judge, one.fact, one.person) if given is not None}
    return Opinions(
        case=redact(one.case),
        attempt=one.attempt,
        rule=redact(one.rule),
        score="–" if one.score is None else f"{one.score:g}",
        judge="unknown" if one.judge is None else _word(one.judge),
        fact=_word(one.fact),
        person=_word(one.person),
        disagree=len(said) > 1,
    )


def _word(passed: bool | None) -> str:
    return {True: "pass", False: "fail", None: ""}[passed]
