"""Rubric checks put to a judge, in the order of their cost: what each is given, what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from trialrun.checks._rubrics import RubricCheck
from trialrun.engine.evaluate import NO_JUDGE
from trialrun.judge import Judge, JudgeRequest, Material
from trialrun.judge.rubrics import CONVERSATION
from trialrun.model.case import JudgeSettings, Plan, Rubric
from trialrun.model.results import CheckResult, CheckStatus, JudgeSpend, Severity, Verdict
from trialrun.model.trace import EVIDENCE, Step, Trace
from trialrun.redaction import is_masked
from trialrun.util.texts import excerpt

if TYPE_CHECKING:
    from trialrun.checks._ledgers import LedgerCheck
    from trialrun.checks.base import Check

_NO_MODEL = "the judge has no model: give its block one"

_LARGEST_CONTEXT = 400_000
"""Characters of context that a judge is given: no model reads more with care, and a fact that is
cut off would be missed."""


class Asked(Struct, frozen=True):
    """The rubric checks of a case, or of one of its turns, and the whole run."""

    checks: Sequence[Check]
    trace: Trace
    turn: int | None = None


async def ask(asked: Asked, judge: Judge) -> list[CheckResult]:
    """What the judge says to each check; once one has failed the case, no further one is asked.

    One that only warns has not: it must not silence a judge that would.
    """
    found: list[CheckResult] = []
    failed: str | None = None
    for check in asked.checks:
        if failed is not None:
            found.append(check.skipped(f"{failed} failed"))
            continue
        result = await _ask_one(check, asked, judge)
        found.append(result)
        if result.status is CheckStatus.FAIL and result.severity is Severity.FAIL:
            failed = check.name
    return found


CLAIM = Rubric(
    rule=(
        "The statement asserts as a fact how the work, the code, the data or the running system is "
        "now, or what a check of it showed. It does not if it is a plan, an offer, a question, an "
        "instruction, a condition, a quotation, a heading, or a mere report of something done."
    ),
    threshold=0.8,
)
"""What a judge is asked about a statement of the final message, with `claims: judge`."""


async def _ask_claims(check: LedgerCheck, asked: Asked, judge: Judge) -> CheckResult:
    """The statements that the phrases leave over, put to the judge; then the ledger decides."""
    from trialrun.verification.claims import doubtful

    turns = asked.trace.turns()
    trace = asked.trace if asked.turn is None else turns[asked.turn - 1]
    unknown = check.why_unknown(trace)
    if unknown is not None:
        return unknown
    if not judge.models_for(CLAIM):
        return check.unknown(NO_JUDGE if judge.settings == JudgeSettings() else _NO_MODEL)
    refusal = judge.why_not(CLAIM)
    if refusal is not None:
        return check.unknown(refusal)
    message = trace.output or ""
    statements = doubtful(message, check.phrases)
    requests = [
        JudgeRequest(
            rubric=CLAIM,
            question=trace.input,
            answer=text,
            context=[Material("the whole message", message)],
        )
        for text in statements
    ]
    reason = next(filter(None, map(why_unfit, requests)), None)
    if reason is not None:
        return check.unknown(reason)
    verdicts = await asyncio.gather(*map(judge.verdict, requests))
    pairs = list(zip(statements, verdicts, strict=True))
    silent = [text for text, verdict in pairs if verdict.passed is None]
    if silent:
        message = f"the judge does not say whether this is a claim: {excerpt(silent[0])}"
        return replace(check.unknown(message), verdicts=verdicts)
    claimed = frozenset(text for text, verdict in pairs if verdict.passed)
    result = check.concluded(trace, claimed)
    said = f"{result.message} (claims found by phrases and by a judge)"
    return replace(result, message=said, verdicts=verdicts)


async def _ask_one(check: Check, asked: Asked, judge: Judge) -> CheckResult:
    if check.layer == "verification":
        return await _ask_claims(cast("LedgerCheck", check), asked, judge)
    if not isinstance(check, RubricCheck):
        return check.unknown(NO_JUDGE)
    missing = why_unrecorded(check, asked.trace, asked.turn)
    if missing is not None:
        return check.unknown(missing)
    rubrics = check.rubrics_asked()
    if not all(judge.models_for(rubric) for rubric in rubrics):
        return check.unknown(NO_JUDGE if judge.settings == JudgeSettings() else _NO_MODEL)
    refusals = [reason for rubric in rubrics if (reason := judge.why_not(rubric)) is not None]
    if refusals:
        return check.unknown(refusals[0])
    requests = [request_for(check, rubric, asked.trace, asked.turn) for rubric in rubrics]
    reason = next(filter(None, map(why_unfit, requests)), None)
    if reason is not None:
        return check.unknown(reason)
    return check.settled(await asyncio.gather(*map(judge.verdict, requests)))


def why_unfit(request: JudgeRequest) -> str | None:
    """Why a judge must not be asked: what he would see is not what there was."""
    texts = {
        "the answer": request.answer,
        "the question": request.question,
        "the context": "\n".join(piece.text for piece in request.context),
    }
    for name, text in texts.items():
        if is_masked(text):
            return f"parts of {name} were redacted, and what they said could decide"
    size = len(texts["the context"])
    if size > _LARGEST_CONTEXT:
        return f"the context has {size:,} characters; a judge is given {_LARGEST_CONTEXT:,} at most"
    return None


def why_unrecorded(check: Check, trace: Trace, turn: int | None = None) -> str | None:
    """Why a judge cannot be shown all that the check is about, if he cannot."""
    turns = trace.turns()[:turn]
    whole = trace.recorded if turn is None else EVIDENCE
    recorded = whole.intersection(*(part.recorded for part in turns))
    missing = check.needs - recorded - {"answer"}
    if missing:
        return f"not recorded in this trace: {', '.join(sorted(missing))}"
    if turn is None:
        for number, part in enumerate(turns[:-1], 1):
            if part.output is None:
                return f"the answer of turn {number} is not recorded"
    return None


def request_for(
    check: RubricCheck, rubric: Rubric, trace: Trace, turn: int | None = None
) -> JudgeRequest:
    """What the judge is asked about one rubric: on a turn of the run, else on all of it.

    What tools returned in earlier turns is still known in a later one. About the whole, all that
    was said before the last answer is given too: it does not answer the first question.
    """
    turns = trace.turns()[:turn]
    last = turns[-1]
    context = []
    if turn is None and len(turns) > 1:
        context.append(_conversation(turns[:-1]))
    if rubric.context_file is not None:
        context.append(Material("context", check.contexts[rubric.context_file]))
    if check.sees_tools:
        context += _returned([call for part in turns for call in part.tool_calls])
    return JudgeRequest(
        rubric=rubric, question=last.input, answer=last.output or "", context=context
    )


def _conversation(turns: Sequence[Trace]) -> Material:
    """What was asked and answered, a line for each turn: one piece, which keeps its order."""
    said = (
        {"turn": number, "question": turn.input, "answer": turn.output}
        for number, turn in enumerate(turns, 1)
    )
    lines = (json.dumps(one, ensure_ascii=False) for one in said)
    return Material(CONVERSATION, "\n".join(lines))


def _returned(calls: Sequence[Step]) -> list[Material]:
    """What the tools returned, in order. Names of tools stand inside: an agent may choose them."""
    if not calls:
        return [Material("tool results", "(no tool was called)")]
    pieces = []
    for number, call in enumerate(calls, 1):
        said = json.dumps(
            {"tool": call.tool_name, "arguments": call.tool_args, "returned": call.tool_result},
            ensure_ascii=False,
            default=repr,
        )
        pieces.append(Material(f"tool result {number}", said))
    return pieces


def spend_of(verdicts: Iterable[Verdict]) -> JudgeSpend | None:
    """What they took together; None without any."""
    spend: JudgeSpend | None = None
    for verdict in verdicts:
        for vote in verdict.votes:
            spend = spend or JudgeSpend()
            spend.add_vote(vote)
    return spend


def asks_judges(plan: Plan | None) -> bool:
    """Whether a case has something that only a judge decides."""
    return plan is not None and bool(plan.judges)
