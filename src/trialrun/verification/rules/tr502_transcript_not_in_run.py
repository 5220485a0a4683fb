"""TR502: the message quotes the result of a run that no output of the session has."""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.model.ledger import Finding
from trialrun.verification.outcomes import read_tests
from trialrun.verification.rules.base import GREEN, WARN, Rule, Session, edit, says


def _survey(session: Session) -> Sequence[Finding]:
    final = session.final
    if final is None or session.index.unknown_before(session.facts.end + 1):
        return ()
    outputs = "\n".join(run.text for run in session.facts.runs)
    for block in final.blocks:
        printed = read_tests(block)
        if printed is None or printed.counts is None or not printed.line:
            continue
        if " ".join(printed.line.split()) not in " ".join(outputs.split()):
            message = f"no output of the session has this line: {printed.line}"
            return (RULE.finding(message, ()),)
    return ()


RULE = Rule(
    code="TR502",
    name="transcript-not-in-run",
    severity=WARN,
    what="A block of the message has the summary of a test run that no output of the session has.",
    why="A transcript is believed because it looks like one.",
    silent="where something that is not known ran.",
    fires=(says("It works:\n```\n12 passed in 0.2s\n```", edit("a.py"), GREEN),),
    passes=(says("It works:\n```\n3 passed in 0.1s\n```", edit("a.py"), GREEN),),
    survey=_survey,
)
