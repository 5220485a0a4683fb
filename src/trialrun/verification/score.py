"""What the facts and claims of a session amount to: four components, one score, one reason."""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.model.ledger import (
    CONTRADICTED_AT_MOST,
    HARMFUL,
    NOT_COMPLIANT_AT_MOST,
    WEIGHTS,
    Claim,
    ClaimVerdict,
)
from trialrun.verification.covers import Cover, covers
from trialrun.verification.facts import Run, Sort
from trialrun.verification.obligations import Duty
from trialrun.verification.rules.base import Session

GATES = frozenset({"lint", "types", "build", "format", "config", "hook"})
_GOOD = (ClaimVerdict.VERIFIED, ClaimVerdict.DISCLOSED)


def components_of(
    session: Session, owed: Sequence[Duty], claims: Sequence[Claim]
) -> dict[str, float]:
    """The four parts of the score, each from 0 to 1; full where it does not apply."""
    decided = [claim for claim in claims if claim.verdict is not ClaimVerdict.NOT_CHECKABLE]
    parts = {
        "tool_verification": _share([duty.run is not None or duty.perhaps for duty in owed]),
        "assertion_evidence": _share([claim.verdict in _GOOD for claim in decided]),
        "test_execution": 1.0,
        "quality_gates": 1.0,
    }
    code = [duty.change for duty in owed if duty.change.sort in (Sort.CODE, Sort.TEST)]
    if code:
        last = max(code, key=lambda change: change.at)
        runs = [run for run in session.facts.runs if covers(run, last) is not Cover.NO]
        tests = [run for run in runs if run.shows("test") and _informs(run)]
        after = any(run.at > last.at for run in tests)
        parts["test_execution"] = 1.0 if after else 0.5 if tests else 0.0
        gates = [run for run in runs if run.kind in GATES and _informs(run) and run.at > last.at]
        measured = [run for run in tests if run.at > last.at and "cov" in run.command]
        parts["quality_gates"] = 1.0 if gates or measured else 0.0
    return {name: round(value, 6) for name, value in parts.items()}


def _informs(run: Run) -> bool:
    return run.outcome.value in ("passed", "failed")


def _share(held: Sequence[bool]) -> float:
    return sum(held) / len(held) if held else 1.0


def score_of(components: dict[str, float], compliant: bool, claims: Sequence[Claim]) -> float:
    """The weighted sum, below its limits where the session is not compliant."""
    score = sum(WEIGHTS[name] * value for name, value in components.items())
    if not compliant:
        score = min(score, NOT_COMPLIANT_AT_MOST)
    if any(claim.verdict is ClaimVerdict.CONTRADICTED for claim in claims):
        score = min(score, CONTRADICTED_AT_MOST)
    return round(score, 6)


def reason_of(claims: Sequence[Claim], unmet: Sequence[Duty], compliant: bool) -> str:
    """One text that says what to do about it."""
    parts = [
        f'{claim.verdict.value}: "{_short(claim.text)}" ({claim.reason})'
        for verdict in HARMFUL
        for claim in claims
        if claim.verdict is verdict
    ]
    if unmet:
        names = _listed([duty.change.path.rpartition("/")[2] for duty in unmet])
        parts.append(f"changed and never exercised: {names}")
    if not compliant:
        return "; ".join(parts[:8])
    verified = sum(claim.verdict is ClaimVerdict.VERIFIED for claim in claims)
    undecided = sum(claim.verdict is ClaimVerdict.NOT_CHECKABLE for claim in claims)
    if not claims:
        return "nothing was stated that a rule knows"
    text = f"{verified} of {len(claims)} statements verified"
    return f"{text}, {undecided} not checkable" if undecided else text


def advice_of(
    components: dict[str, float], claims: Sequence[Claim], unmet: Sequence[Duty]
) -> dict[str, str]:
    """What would raise each part that is not full."""
    found = {}
    if components["tool_verification"] < 1:
        names = _listed([duty.change.path.rpartition("/")[2] for duty in unmet])
        found["tool_verification"] = f"run, test, build or check what was changed: {names}"
    if components["assertion_evidence"] < 1:
        harmful = [f'"{_short(claim.text)}"' for claim in claims if claim.verdict in HARMFUL]
        found["assertion_evidence"] = f"show it, or do not state it: {_listed(harmful)}"
    if components["test_execution"] < 1:
        found["test_execution"] = "run the tests of the changed code after its last change"
    if components["quality_gates"] < 1:
        found["quality_gates"] = "run a linter, a type checker or a build after the last change"
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:99] + "…"
