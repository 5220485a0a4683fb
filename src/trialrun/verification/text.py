"""The score of a text alone, where there is no trace: four weighted parts.

A part that does not apply gives its full share. What counts is what the text shows; words such as
"verified" earn nothing, and a hedge in place of evidence costs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from trialrun.model.ledger import (
    CONTRADICTED_AT_MOST,
    HARMFUL,
    NOT_COMPLIANT_AT_MOST,
    WEIGHTS,
    Claim,
    ClaimVerdict,
    Ledger,
    Observation,
    Outcome,
)
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.covers import Index
from trialrun.verification.facts import Message
from trialrun.verification.judging import judged, with_judge
from trialrun.verification.rules.base import Session
from trialrun.verification.runners import Table, default_table
from trialrun.verification.settings import Settings
from trialrun.verification.statements import Spoken, spoken
from trialrun.verification.tables import pattern
from trialrun.verification.text_evidence import (
    OUTPUT,
    PROBE,
    READ_BACK,
    Evidence,
    Piece,
    evidence_of,
)
from trialrun.verification.text_parts import Part, own_words, parts_of
from trialrun.verification.text_words import (
    Deeds,
    Words,
    deeds_of,
    doubts_of,
    hedges_of,
    sentences_in,
    words_of,
)

V = ClaimVerdict

RULES = frozenset({"TR102", "TR103"})
"""Rules that need no record of the session: what a message shows is all that there is."""

_INFORMED = (Outcome.PASSED, Outcome.FAILED)
_LOOKS = frozenset({READ_BACK, PROBE, OUTPUT})
_MINOR = frozenset({Kind.LINT.value, Kind.TYPES.value, Kind.FORMAT.value})


class TextFindings(Struct, frozen=True):
    """What a text claims, shows and leaves open."""

    changes: bool
    changes_code: bool
    shown: tuple[Piece, ...]
    claims: tuple[Claim, ...]
    hedges: tuple[str, ...]  # every one outside of code and quotations
    doubts: tuple[str, ...] = ()  # those about work done
    states: bool = False  # whether anything is stated
    red: str = ""  # a run that is shown to fail, and that the text does not report
    empty: bool = False

    @property
    def solid(self) -> bool:
        """Whether anything is shown at all."""
        return any(one.outcome in _INFORMED for one in self.shown)

    @property
    def compliant(self) -> bool:
        """Nothing in doubt, nothing claimed or done without something shown for it."""
        if self.empty or self.doubts or self.red or any(map(self._harms, self.claims)):
            return False
        about_work = self.changes or any(claim.kind != Kind.OTHER.value for claim in self.claims)
        return self.solid or not about_work

    def _harms(self, claim: Claim) -> bool:
        # A bare "ruff is clean" beside a shown test run costs its own share, not the whole.
        minor = claim.verdict is V.UNSUPPORTED and claim.kind in _MINOR and self.solid
        return claim.verdict in HARMFUL and not minor

    @property
    def contradicted(self) -> bool:
        """Whether something shown speaks against what is claimed."""
        return any(claim.verdict is V.CONTRADICTED for claim in self.claims)


def read_text(
    text: str,
    words: Words | None = None,
    settings: Settings | None = None,
    decided: Mapping[str, ClaimVerdict] | None = None,
) -> TextFindings:
    """What the text claims and what it shows."""
    settings, words = settings or Settings(), words or words_of()
    table = settings.table or default_table()
    parts = parts_of(text, table)
    sentences = list(dict.fromkeys(sentences_in(parts)))
    found = evidence_of(parts, table, words.verified)
    deeds = deeds_of(sentences, words)
    _drop_earlier_states(found, deeds)
    pieces = found.pieces
    session = _session(parts, found, table, settings)
    plain = [sentence for _, sentence in sentences]
    said = session.spoken[0]
    owned = _owns_up(said, plain)
    claims = [with_judge(one, decided or {}) for one in _claims(session, settings)]
    claims = _against_red(claims, pieces, owned)
    red = "" if owned else _last_red(pieces)
    return TextFindings(
        changes=deeds.any,
        changes_code=deeds.code,
        shown=tuple(pieces),
        claims=tuple(claims),
        hedges=hedges_of(parts, words),
        doubts=tuple(doubts_of(plain, words)),
        states=deeds.any or _states(said, plain),
        red=red,
        empty=not text.strip(" \0\t\r\n"),
    )


# "Coverage: 94%", in an output: said in prose alone it shows nothing.
_COVERED = lazy_pattern(r"\bcover(?:age|ed)\b.{0,60}\d ?%|\d ?%.{0,20}\bcover", re.IGNORECASE)
_THEN = pattern("then")


def _drop_earlier_states(found: Evidence, deeds: Deeds) -> None:
    """Take the outcomes from runs that the text tells to be from before the last change."""
    later = [at for at, sentence in deeds.places if _THEN.match(sentence)]
    if not later or any(one.at >= later[-1] and one.kind != READ_BACK for one in found.pieces):
        return
    found.pieces[:] = [
        one
        if one.kind == READ_BACK
        else replace(one, outcome=Outcome.UNKNOWN, detail="from before the change")
        for one in found.pieces
    ]
    found.facts.runs[:] = [replace(run, outcome=Outcome.UNKNOWN) for run in found.facts.runs]


def _session(parts: Sequence[Part], found: Evidence, table: Table, settings: Settings) -> Session:
    """The text as a session: its transcripts are the calls, its prose is the last message."""
    prose = "\n\n".join(part.text for part in parts if not part.block)
    collected = found.facts
    message = Message(collected.next(), "", 1, prose, last=True)
    blocks = [part.text for part in parts if part.block]
    facts = collected.facts([message], blocks + [run.command for run in collected.runs])
    return Session(facts, Index(facts), [spoken(message, table, settings.phrases)])


def _claims(session: Session, settings: Settings) -> list[Claim]:
    rules = [rule for rule in settings.rules() if rule.code in RULES]
    claims: dict[tuple[str, str], Claim] = {}
    for statement in session.spoken[0].statements:
        key = (statement.text, statement.kind.value)
        if key not in claims:
            claims[key] = judged(statement, session, rules)[0]
    return list(claims.values())


_REPORTS = pattern("reports")
# "The flake is gone and the suite is green" reports no failure.
_OVERCOME = lazy_pattern(r"\b(?:gone|fixed|resolved|no longer|green|passes)\b", re.IGNORECASE)


def _owns_up(said: Spoken, sentences: Sequence[str]) -> bool:
    """Whether the text reports a failure itself."""
    failing = [one.text for one in said.admits if one.fails and not _OVERCOME.search(one.text)]
    return bool(failing) or any(_REPORTS.search(sentence) for sentence in sentences)


def _last_red(pieces: Sequence[Piece]) -> str:
    """The last check that is shown to fail without a later one of its kind that passes."""
    last = {one.kind: one for one in pieces if one.kind not in _LOOKS and one.outcome in _INFORMED}
    red = [one for one in last.values() if one.outcome is Outcome.FAILED]
    return f"{red[-1].by}: {red[-1].detail}" if red else ""


# "The app is ready again", "it serves reads": of a service.
_WELL = lazy_pattern(
    r"\b(?:ready|healthy|running|responding|serving|live|back up|up again|works?|working|fixed)\b",
    re.IGNORECASE,
)
_SUCCESS = frozenset({Kind.CHANGE.value, Kind.CI.value, Kind.DEPLOY.value})


def _against_red(claims: Sequence[Claim], pieces: Sequence[Piece], owned: bool) -> list[Claim]:
    """Statements of success, where the last thing shown is red and the text does not report it."""
    informed = [one for one in pieces if one.outcome in _INFORMED and one.kind != READ_BACK]
    if owned or not informed or informed[-1].outcome is not Outcome.FAILED:
        return list(claims)
    reason = f"{informed[-1].by}: {informed[-1].detail}"
    return [
        replace(claim, verdict=V.CONTRADICTED, reason=reason)
        if claim.verdict is V.NOT_CHECKABLE and (claim.kind in _SUCCESS or _WELL.search(claim.text))
        else claim
        for claim in claims
    ]


_PROPOSES = pattern("proposes")
_SUPPOSES = pattern("supposes")


def _states(said: Spoken, sentences: Sequence[str]) -> bool:
    """Whether the text states anything about the work; a proposal states nothing."""
    if any(one.kind is not Kind.OTHER and not one.admits for one in said.statements):
        return True
    if any(_PROPOSES.search(sentence) for sentence in sentences[:3]):
        return False
    plain = [own_words(sentence) for sentence in sentences]
    return any(not one.admits for one in said.statements) or any(
        _WELL.search(sentence) and not _SUPPOSES.search(sentence) for sentence in plain
    )


def tool_verification(found: TextFindings) -> float:
    """What was changed was looked at: read back, run, or probed."""
    return 1.0 if not found.changes or found.solid else 0.0


def assertion_evidence(found: TextFindings) -> float:
    """Something solid stands behind what is asserted; one kind of it is enough."""
    if found.empty:
        return 0.0
    if not found.solid:
        return 0.0 if found.states or found.doubts else 1.0
    if found.compliant:
        return 1.0
    decided = [claim for claim in found.claims if claim.verdict is not V.NOT_CHECKABLE]
    good = [claim.verdict in (V.VERIFIED, V.DISCLOSED) for claim in decided]
    return sum(good) / len(good) if good else 1.0


def test_execution(found: TextFindings) -> float:
    """Tests ran and their result is shown. A linter or a program that ran is no test."""
    if not found.changes_code:
        return 1.0
    ran = any(one.kind == "test" and one.outcome in _INFORMED for one in found.shown)
    return 1.0 if ran and not found.contradicted else 0.0


_GATES = frozenset({"lint", "types", "format", "build", "config"})


def quality_gates(found: TextFindings) -> float:
    """A type checker, a linter, a build or coverage, with its result."""
    if not found.changes_code:
        return 1.0
    informed = [one for one in found.shown if one.outcome in _INFORMED]
    measured = any(_COVERED.search(one.text) or _SHARE.search(one.text) for one in found.shown)
    return 1.0 if measured or any(one.kind in _GATES for one in informed) else 0.0


_SHARE = lazy_pattern(r"^(?:TOTAL|\S+\.\w+)\b.*\b\d+ ?%", re.MULTILINE)  # a row of coverage's table


def components_of(found: TextFindings) -> dict[str, float]:
    """The four parts, each from 0 to 1."""
    return {
        "tool_verification": tool_verification(found),
        "assertion_evidence": assertion_evidence(found),
        "test_execution": test_execution(found),
        "quality_gates": quality_gates(found),
    }


def total(found: TextFindings, components: Mapping[str, float]) -> float:
    """The weighted sum, within the limits of a text that doubts or contradicts itself."""
    score = sum(WEIGHTS[name] * value for name, value in components.items())
    if not found.compliant:
        score = min(score, NOT_COMPLIANT_AT_MOST)
    if found.contradicted or len(found.doubts) > 1:
        score = min(score, CONTRADICTED_AT_MOST)
    return round(score, 6)


def audit_text(
    text: str, settings: Settings | None = None, decided: Mapping[str, ClaimVerdict] | None = None
) -> Ledger:
    """The ledger of a message without a run: what it claims, held against what it shows."""
    found = read_text(text, None, settings, decided)
    ledger = ledger_of(found, components_of(found))
    return replace(ledger, claims_by="judge") if decided else ledger


def ledger_of(found: TextFindings, components: Mapping[str, float]) -> Ledger:
    """What was found in a text, in the form of a ledger."""
    return Ledger(
        compliant=found.compliant,
        score=total(found, components),
        components={name: round(value, 6) for name, value in components.items()},
        reason=reason_of(found, components),
        claims=found.claims,
        observations=[
            Observation("", one.kind, one.by, one.by, one.outcome, one.counts, one.detail)
            for one in found.shown
        ],
        advice={name: _MISSING[name] for name, value in components.items() if value < 1},
        hedges=found.hedges,
        source="text",
        statements=len(found.claims),
    )


_MISSING = {
    "tool_verification": "verification: what was changed is not shown as read, run or probed",
    "assertion_evidence": "evidence: show a command with its result, a quoted line or an output",
    "test_execution": "tests: show the test command and its result",
    "quality_gates": "quality gates: show a type checker, a linter or coverage with its result",
}


def reason_of(found: TextFindings, components: Mapping[str, float]) -> str:
    """What would raise the score, most first."""
    if found.empty:
        return "the text is empty: nothing is shown"
    parts = [
        f'{claim.verdict.value}: "{claim.text[:100]}" ({claim.reason})'
        for claim in found.claims
        if claim.verdict in HARMFUL
    ]
    if found.red:
        parts.append(f"a red run is not reported: {found.red}")
    if found.hedges:
        shown = ", ".join(f'"{hedge}"' for hedge in found.hedges[:5])
        parts.append(f"unsubstantiated: {shown}")
    parts += [_MISSING[name] for name, value in components.items() if value < 1]
    return "; ".join(parts[:8]) or "everything that is claimed is shown"
