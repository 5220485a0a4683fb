"""The evidence ledger of an attempt: each statement with its verdict and the steps behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from trialrun.model.ledger import Claim, ClaimVerdict, Finding, Ledger
from trialrun.redaction import redact
from trialrun.reports.pages.texts import bounded

WORDS = {
    ClaimVerdict.VERIFIED: "pass",
    ClaimVerdict.DISCLOSED: "pass",
    ClaimVerdict.STALE: "warn",
    ClaimVerdict.UNSUPPORTED: "warn",
    ClaimVerdict.CONTRADICTED: "fail",
    ClaimVerdict.NOT_CHECKABLE: "skip",
}
_MOST_ROWS = 500


class Statement(Struct, frozen=True):
    """A statement of the agent, whether the run shows it, and the numbers of the steps."""

    text: str
    word: str
    verdict: str
    reason: str
    steps: Sequence[int]


class Fact(Struct, frozen=True):
    """Something that was changed or observed."""

    step: int
    kind: str
    target: str
    outcome: str
    word: str


class LedgerPart(Struct, frozen=True, kw_only=True):
    """The ledger as a page shows it."""

    word: str
    verdict: str
    score: str
    statements: Sequence[Statement]
    earlier: Sequence[Statement]
    findings: Sequence[Statement]
    facts: Sequence[Fact]
    open: Sequence[str]


_OUTCOMES = {"passed": "pass", "failed": "fail", "nothing": "skip", "unknown": "unknown"}


def ledger_part(ledger: Ledger, places: Mapping[str, int]) -> LedgerPart:
    """The ledger with steps as numbers of the timeline."""
    silent = bool(ledger.no_verdict)
    facts = [
        Fact(places.get(one.step, 0), f"changed {one.kind}", redact(one.target), one.by, "")
        for one in ledger.mutations
    ]
    facts += [
        Fact(
            places.get(one.step, 0),
            one.kind,
            redact(one.target),
            redact(str(one.counts or one.detail or one.outcome.value)),
            _OUTCOMES[one.outcome.value],
        )
        for one in ledger.observations
    ]
    facts.sort(key=lambda fact: fact.step)
    return LedgerPart(
        word="unknown" if silent else "pass" if ledger.compliant else "fail",
        verdict=redact(ledger.no_verdict or ledger.reason),
        score="" if silent else f"{ledger.score:.2f} ({ledger.band})",
        statements=[_statement(claim, places) for claim in ledger.claims[:_MOST_ROWS]],
        earlier=[_statement(claim, places) for claim in ledger.earlier[:_MOST_ROWS]],
        findings=[
            Statement(
                bounded(redact(finding.claim), 2000),
                finding_word(finding),
                f"{finding.code} {finding.name}{'' if finding.stable else ' (preview)'}",
                redact(finding.message) + _to_run(finding),
                _places(finding.steps, places),
            )
            for finding in ledger.findings[:_MOST_ROWS]
        ],
        facts=facts[:_MOST_ROWS],
        open=[redact(target) for target in ledger.open_obligations],
    )


def _statement(claim: Claim, places: Mapping[str, int]) -> Statement:
    return Statement(
        bounded(redact(claim.text), 2000),
        WORDS[claim.verdict],
        claim.verdict.value.replace("_", " "),
        redact(claim.reason),
        _places(claim.evidence, places),
    )


def finding_word(finding: Finding) -> str:
    """`skip` for a finding in preview, which decides nothing."""
    if not finding.stable:
        return "skip"
    return "fail" if finding.is_red else "warn"


def _to_run(finding: Finding) -> str:
    return f" (run: {redact(finding.command)})" if finding.command else ""


def _places(steps: Iterable[str], places: Mapping[str, int]) -> list[int]:
    return [places[step] for step in steps if step in places]
