"""The evidence ledger: a trace in, and out comes what was shown, statement by statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from trialrun.errors import UsageError
from trialrun.measures.patterns import shared_limit
from trialrun.model.ledger import (
    HARMFUL,
    Claim,
    ClaimVerdict,
    Finding,
    Ledger,
    Mutation,
    Obligation,
    Observation,
)
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked
from trialrun.verification.covers import Index
from trialrun.verification.facts import Facts
from trialrun.verification.judging import judged, with_judge
from trialrun.verification.obligations import Duty, duties
from trialrun.verification.rules.base import Rule, Session
from trialrun.verification.runners import default_table
from trialrun.verification.score import advice_of, components_of, reason_of, score_of
from trialrun.verification.settings import Settings
from trialrun.verification.statements import spoken
from trialrun.verification.text_words import hedges_in
from trialrun.verification.timeline import facts_of

Decided = Mapping[str, ClaimVerdict]


def audit(trace: Trace, settings: Settings | None = None, decided: Decided | None = None) -> Ledger:
    """Compare what the agent says with what the session shows.

    A trace without a tool call has only its text, which is then read by itself. `decided` are
    verdicts of a judge on statements that no rule decides.
    """
    if not isinstance(trace, Trace):
        raise UsageError(f"audit: expected a Trace, found {type(trace).__name__}")
    settings = settings or Settings()
    if not trace.tool_calls:
        from trialrun.verification.text import audit_text

        return unless_masked(audit_text(trace.answer_text or "", settings, decided), trace)
    # Four checks and a metric ask for one ledger. Steps are frozen: other ones are another tuple.
    key = (
        settings,
        tuple(sorted((decided or {}).items())),
        trace.answer_text,
        trace.metadata.get("cwd"),
    )
    kept: tuple[object, object, Ledger] | None = trace.__dict__.get("_ledger")
    if kept is not None and kept[0] is trace.steps and kept[1] == key:
        return kept[2]
    with shared_limit():  # of all searches for patterns of the spec
        ledger = unless_masked(_audited(trace, settings, decided or {}), trace)
    trace.__dict__["_ledger"] = (trace.steps, key, ledger)
    return ledger


def kept_ledger(trace: Trace) -> Ledger | None:
    """The ledger that a check of the trace asked for, with that check's settings."""
    kept: tuple[object, object, Ledger] | None = trace.__dict__.get("_ledger")
    return kept[2] if kept is not None and kept[0] is trace.steps else None


def unless_masked(ledger: Ledger, trace: Trace) -> Ledger:
    """The ledger; without a verdict where a secret was masked in what it rests on."""
    if ledger.no_verdict or not (
        is_masked(trace.output)
        or any(
            is_masked([step.tool_name, step.tool_args, step.tool_result])
            for step in trace.tool_calls
        )
    ):
        return ledger
    reason = "parts of the answer, of calls or of results were redacted, and could decide"
    return replace(ledger, compliant=False, reason=reason, no_verdict=reason)


def session_of(trace: Trace, settings: Settings | None = None) -> Session:
    """The facts and messages of a session, as rules get them."""
    settings = settings or Settings()
    table = settings.table or default_table()
    facts = facts_of(trace, table, settings.own_tools())
    messages = [spoken(message, table, settings.phrases) for message in facts.messages]
    return Session(facts, Index(facts), messages)


def _audited(trace: Trace, settings: Settings, decided: Decided) -> Ledger:
    session = session_of(trace, settings)
    facts = session.facts
    rules = settings.rules() if facts.results_recorded else ()
    claims: list[Claim] = []
    earlier: list[Claim] = []
    findings: list[Finding] = []
    for one in session.spoken:
        for statement in one.statements:
            claim, found = judged(statement, session, rules)
            findings += found
            (claims if statement.last else earlier).append(with_judge(claim, decided))
    for rule in rules:
        if rule.survey is not None and facts.finished and session.final is not None:
            findings += rule.survey(session)
    findings = [settings.weighted(found) for found in findings]
    return _concluded(session, claims, earlier, findings, rules, decided)


def _concluded(
    session: Session,
    claims: Sequence[Claim],
    earlier: Sequence[Claim],
    findings: Sequence[Finding],
    rules: Sequence[Rule],
    decided: Decided,
) -> Ledger:
    facts = session.facts
    owed = duties(session)
    if not any(rule.code == "TR101" and rule.is_red for rule in rules):
        owed = [one for one in owed if one.run is not None or one.perhaps]
    unmet = [duty for duty in owed if duty.unmet]
    compliant = not unmet and not any(claim.verdict in HARMFUL for claim in claims)
    no_verdict = _no_verdict(session)
    components = components_of(session, owed, claims)
    obligations = [_obligation(duty, facts) for duty in owed]
    final = session.final
    return Ledger(
        compliant=compliant and not no_verdict,
        score=score_of(components, compliant, claims),
        components=components,
        reason=no_verdict or reason_of(claims, unmet, compliant),
        advice=advice_of(components, claims, unmet),
        claims=claims,
        mutations=[
            Mutation(one.step, "file", short(one.path, facts), one.by) for one in facts.changes
        ],
        observations=[_observation(facts, index) for index in range(len(facts.runs))],
        obligations=obligations,
        hedges=hedges_in(final.message.text) if final is not None else (),
        claims_by="judge" if decided else "phrases",
        silent=final is None,
        findings=findings,
        earlier=earlier,
        statements=final.sentences if final is not None else 0,
        no_verdict=no_verdict,
    )


def _no_verdict(session: Session) -> str:
    facts = session.facts
    if not facts.results_recorded:
        return "arguments or results of calls are not recorded"
    if not facts.finished:
        return "the session is not finished: it ends without a message"
    return ""


def short(path: str, facts: Facts) -> str:
    """The name for people: from the project's folder where the file lies in it."""
    return path.removeprefix(facts.root + "/") if facts.root else path


def _obligation(duty: Duty, facts: Facts) -> Obligation:
    met = duty.run.step if duty.run is not None else ("perhaps" if duty.perhaps else None)
    return Obligation(short(duty.change.path, facts), duty.change.step, met, duty.disclosed)


def _observation(facts: Facts, index: int) -> Observation:
    run = facts.runs[index]
    target = ", ".join(short(path, facts) for path in run.paths[:5]) or short(run.folder, facts)
    return Observation(
        run.step, run.kind, target or ".", run.name, run.outcome, run.counts, run.line or run.why
    )
