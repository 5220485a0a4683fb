"""What `trialrun verify` found in sessions: findings first, then each session's ledger."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trialrun.model.verified import Session, Verification
from trialrun.redaction import redact
from trialrun.reports.pages.ledger_part import LedgerPart, ledger_part
from trialrun.reports.views.ledger import (
    finding_place,
    finding_text,
    summary_lines,
    verdict_of,
    weight_of,
)

_WORDS = {"": "fail", "warning": "warn"}


class FoundLine(Struct, frozen=True):
    """A finding of a session."""

    word: str
    code: str
    name: str
    place: str
    text: str


class SessionPart(Struct, frozen=True, kw_only=True):
    """One session."""

    word: str
    name: str
    file: str
    verdict: str
    findings: Sequence[FoundLine]
    known: int
    ledger: LedgerPart


class SessionsPage(Struct, frozen=True, kw_only=True):
    """The page of all sessions of a call."""

    word: str
    lines: Sequence[str]
    sessions: Sequence[SessionPart]
    problems: Sequence[str]


def sessions_page(found: Verification) -> SessionsPage:
    """The page; sessions with findings come first."""
    parts = [_session(session) for session in found.sessions]
    order = ("fail", "unknown", "warn", "pass")
    parts.sort(key=lambda part: order.index(part.word))
    worst = parts[0].word if parts else "unknown"
    return SessionsPage(
        word="error" if found.problems and worst == "pass" else worst,
        lines=summary_lines(found),
        sessions=parts,
        problems=[redact(problem) for problem in found.problems],
    )


def _session(session: Session) -> SessionPart:
    findings = [
        FoundLine(
            _WORDS.get(weight_of(finding), "skip"),
            finding.code,
            finding.name,
            redact(finding_place(session, finding)),
            redact(finding_text(finding)),
        )
        for finding in session.findings
    ]
    words = {finding.word for finding in findings}
    silent = session.ledger.no_verdict
    word = "fail" if "fail" in words else "unknown" if silent else "warn" if words else "pass"
    return SessionPart(
        word=word,
        name=redact(session.name),
        file=redact(session.file),
        verdict=verdict_of(session.ledger),
        findings=findings,
        known=session.known_findings,
        ledger=ledger_part(session.ledger, {}),
    )
