"""Ask a judge about rubric checks, in the order of their cost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from trialrun.checks.base import JudgedCheck
from trialrun.engine.evaluate import NO_JUDGE
from trialrun.judge import Judge, JudgeRequest
from trialrun.model.case import JudgeSettings
from trialrun.model.results import CheckResult, CheckStatus, JudgeSpend, Severity, Verdict
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked

if TYPE_CHECKING:
    from trialrun.checks.base import Check

_NO_MODEL = "the judge has no model: set `model` in its block"

_LARGEST_TEXT = 400_000
"""Most characters of an answer, a question or the context for a judge: models miss facts in longer
texts, a cut could remove one, and every character is paid for."""


class RubricChecks(Struct, frozen=True):
    """The rubric checks of a case or of one of its turns, with the whole trace."""

    checks: Sequence[Check]
    trace: Trace
    turn: int | None = None


async def ask(rubric_checks: RubricChecks, judge: Judge) -> list[CheckResult]:
    """The results of the checks; after one has failed the case, the others are skipped.

    A check that only warns does not count: the next one may still fail the case.
    """
    found: list[CheckResult] = []
    failed: str | None = None
    for check in rubric_checks.checks:
        if failed is not None:
            found.append(check.skipped(f"{failed} failed"))
            continue
        result = await _ask_one(check, rubric_checks, judge)
        found.append(result)
        if result.status is CheckStatus.FAIL and result.severity is Severity.FAIL:
            failed = check.name
    return found


async def _ask_one(check: Check, rubric_checks: RubricChecks, judge: Judge) -> CheckResult:
    if not isinstance(check, JudgedCheck):
        return check.unknown(NO_JUDGE)
    inquiry = check.inquiry(rubric_checks.trace, rubric_checks.turn)
    if isinstance(inquiry, CheckResult):
        return inquiry
    rubrics = check.rubrics_asked()
    if not all(judge.models_for(rubric) for rubric in rubrics):
        return check.unknown(NO_JUDGE if judge.settings == JudgeSettings() else _NO_MODEL)
    reasons = (*map(judge.why_not, rubrics), *map(why_not_judgeable, inquiry.requests))
    refusal = next(filter(None, reasons), None)
    if refusal is not None:
        return check.unknown(refusal)
    return inquiry.conclude(await asyncio.gather(*map(judge.verdict, inquiry.requests)))


def why_not_judgeable(request: JudgeRequest) -> str | None:
    """Why a judge must not be asked: it would not see what the agent saw or said."""
    texts = {
        "the answer": request.answer,
        "the question": request.question,
        "the context": "\n".join(piece.text for piece in request.context),
    }
    for name, text in texts.items():
        if is_masked(text):
            return f"parts of {name} were redacted, and what they said could decide"
        if len(text) > _LARGEST_TEXT:
            return f"{name} has {len(text):,} characters; a judge gets at most {_LARGEST_TEXT:,}"
    return None


def spend_of(verdicts: Iterable[Verdict]) -> JudgeSpend | None:
    """The total usage of the verdicts; None if there are no votes."""
    spend: JudgeSpend | None = None
    for verdict in verdicts:
        for vote in verdict.votes:
            spend = spend or JudgeSpend()
            spend.add_vote(vote)
    return spend
