"""Which steps of a trace decided a check: where a reader looks first."""

from __future__ import annotations

from collections.abc import Iterator

from trialrun.model.ledger import Finding, Ledger
from trialrun.model.results import CheckResult
from trialrun.model.trace import Trace


def deciding_steps(check: CheckResult) -> list[str]:
    """The ids of the steps that the check names in its data: `step`, or `steps`."""
    data = check.data
    one, many = data.get("step"), data.get("steps")
    found = [one] if isinstance(one, str) else []
    if isinstance(many, (list, tuple)):
        found += [step for step in many if isinstance(step, str)]
    return list(dict.fromkeys(found))


def places_of(trace: Trace) -> dict[str, int]:
    """The number of each step by its id, counted from 1."""
    return {step.id: number for number, step in enumerate(trace.steps, 1)}


def steps_of_findings(ledger: Ledger) -> Iterator[tuple[str, Finding]]:
    """The steps that the ledger's findings rest on."""
    for finding in ledger.findings:
        for step in finding.steps:
            yield step, finding
