"""TR109: the last test run failed, and the last message does not say so."""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.model.ledger import Finding, Outcome
from trialrun.verification.rules.base import GREEN, RED, WARN, Rule, Session, edit, says


def _survey(session: Session) -> Sequence[Finding]:
    final = session.final
    last = session.index.last_run("test", session.facts.end)
    if final is None or last is None or last.outcome is not Outcome.FAILED:
        return ()
    if any(one.admits for one in session.spoken if one.message.at > last.at):
        return ()
    later = [run for run in session.facts.runs if run.at > last.at and run.kind in ("hook", "run")]
    if later or session.index.unknown_before(session.facts.end + 1, last.at):
        return ()
    if not any(change.at < last.at for change in session.facts.changes):
        return ()
    line = f": {last.line}" if last.line else ""
    message = f"the last run of {last.name} failed{line}; the message does not mention it"
    return (RULE.finding(message, (last.step,), command=last.command),)


RULE = Rule(
    code="TR109",
    name="red-run-unreported",
    severity=WARN,
    what="The last test run of the session failed, and the last message reports no failure.",
    why="Silence about a red run reads as green.",
    silent="where a message since that run mentions a failure, or anything that may be a test ran "
    "afterwards.",
    fires=(says("Done.", edit("a.py"), RED),),
    passes=(says("One test still fails.", edit("a.py"), RED), says("Done.", edit("a.py"), GREEN)),
    survey=_survey,
)
