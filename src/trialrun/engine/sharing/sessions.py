"""What `trialrun verify` found as it may be shared: verdicts and rules, without what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from trialrun.engine.sharing.traces import shared_trace
from trialrun.model.ledger import Claim, Finding, Ledger
from trialrun.model.trace import Trace
from trialrun.model.verified import Session, Verification
from trialrun.model.withheld import LEFT_OUT, Withheld
from trialrun.redaction import masks_in


def shared_verification(found: Verification) -> Verification:
    """The sessions without statements, files, commands and output; findings keep their rule."""
    withheld = Withheld()
    said = {rule.code: rule.what for rule in found.rules}
    withheld.add("problem", len(found.problems))
    for trace in found.traces:
        shared_trace(trace, withheld)
    return replace(
        found,
        sessions=[
            _session(session, number, said, withheld)
            for number, session in enumerate(found.sessions, 1)
        ],
        problems=[LEFT_OUT] * len(found.problems),
        masked=masks_in(found.texts),
        withheld=withheld,
        traces=_SharedTraces(found.traces),
    )


class _SharedTraces(Iterable[Trace]):
    """The traces of the sessions, each made fit to be shared when it is read."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._traces = traces

    def __iter__(self) -> Iterator[Trace]:
        return map(shared_trace, self._traces)


def _session(session: Session, number: int, said: Mapping[str, str], withheld: Withheld) -> Session:
    """The session under a number: its name may be its first question, its file a folder's name."""
    ledger = session.ledger
    # Findings name their statement by its text: numbers keep the two together.
    texts = dict.fromkeys(
        [*(claim.text for claim in (*ledger.claims, *ledger.earlier))]
        + [finding.claim for finding in ledger.findings if finding.claim]
    )
    claims = {text: f"statement {place} {LEFT_OUT}" for place, text in enumerate(texts, 1)}
    withheld.add("statement", len(claims))
    targets = {one.target for one in ledger.obligations}
    targets |= {finding.target for finding in ledger.findings if finding.target}
    files = {name: f"file {place} {LEFT_OUT}" for place, name in enumerate(sorted(targets), 1)}
    withheld.add("file", len(files))
    findings = [_finding(one, said, claims, files, withheld) for one in ledger.findings]
    known = {
        made.fingerprint("")
        for made, one in zip(findings, ledger.findings, strict=True)
        if session.is_known(one)
    }
    withheld.add("name")
    return Session(
        name=f"session {number}",
        id="",
        file="",
        ledger=_ledger(ledger, claims, files, findings, withheld),
        known=frozenset(known),
    )


def _ledger(
    ledger: Ledger,
    claims: Mapping[str, str],
    files: Mapping[str, str],
    findings: Sequence[Finding],
    withheld: Withheld,
) -> Ledger:
    withheld.add("observation", len(ledger.observations) + len(ledger.mutations))
    withheld.add("text", len(ledger.hedges) + len(ledger.advice))
    return replace(
        ledger,
        reason=withheld.text("reason", ledger.reason),
        claims=[_claim(one, claims, withheld) for one in ledger.claims],
        earlier=[_claim(one, claims, withheld) for one in ledger.earlier],
        mutations=[replace(one, target=LEFT_OUT, by=LEFT_OUT) for one in ledger.mutations],
        observations=[
            replace(one, target=LEFT_OUT, by=LEFT_OUT, detail="") for one in ledger.observations
        ],
        obligations=[replace(one, target=files[one.target]) for one in ledger.obligations],
        advice={},
        hedges=[LEFT_OUT] * len(ledger.hedges),
        findings=findings,
        no_verdict=withheld.text("reason", ledger.no_verdict),
    )


def _claim(claim: Claim, claims: Mapping[str, str], withheld: Withheld) -> Claim:
    return replace(
        claim, text=claims[claim.text], reason=withheld.text("reason", claim.reason) or ""
    )


def _finding(
    finding: Finding,
    said: Mapping[str, str],
    claims: Mapping[str, str],
    files: Mapping[str, str],
    withheld: Withheld,
) -> Finding:
    withheld.add("reason")
    withheld.add("command", bool(finding.command))
    return replace(
        finding,
        message=said.get(finding.code, LEFT_OUT),
        claim=claims[finding.claim] if finding.claim else "",
        target=files[finding.target] if finding.target else "",
        command="",
    )
