"""What the checks that ask a judge have in common: their rubrics, and what verdicts come to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from trialrun.checks.base import Check, JudgedCheck
from trialrun.model.case import Rubric
from trialrun.model.judging import CONVERSATION, Inquiry, JudgeRequest, Material
from trialrun.model.results import CheckResult, Verdict
from trialrun.model.trace import EVIDENCE, Step, Trace
from trialrun.util.files import reason
from trialrun.util.texts import excerpt

_LARGEST_CONTEXT = 4 * 1024 * 1024


class RubricCheck(JudgedCheck):
    """A check whose rubrics a judge scores."""

    formula: ClassVar = "score ≥ max(1, int(threshold × 5 + 0.5))"
    sees_tools: ClassVar[bool] = False  # the judge is given what the tools returned

    def inquiry(self, run: Trace, turn: int | None) -> Inquiry | CheckResult:
        """One request for each rubric; unknown where the judge could not see all that it needs."""
        missing = _why_unrecorded(self, run, turn)
        if missing is not None:
            return self.unknown(missing)
        requests = [_request(self, rubric, run, turn) for rubric in self.rubrics_asked()]
        return Inquiry(requests, self.settled)

    def locate(self, folder: str | None) -> None:
        """Read the files that the rubrics name. ValueError if one cannot be had."""
        for rubric in self.rubrics_asked():
            if rubric.context_file is None:
                continue
            path = Path(folder or "", rubric.context_file)
            try:
                with path.open("rb") as stream:
                    data = stream.read(_LARGEST_CONTEXT + 1)
                text = data.decode()
            except UnicodeDecodeError as error:
                raise ValueError(f"{path} is not UTF-8: byte {error.start}") from None
            except (OSError, ValueError) as error:
                raise ValueError(f"{path} cannot be read: {reason(error)}") from None
            if len(data) > _LARGEST_CONTEXT:
                raise ValueError(f"{path} is larger than {_LARGEST_CONTEXT >> 20} MB")
            self.contexts[rubric.context_file] = text

    def settled(self, verdicts: Sequence[Verdict]) -> CheckResult:
        """What the verdicts amount to: one failure fails, else one unknown is unknown."""
        failed = [verdict for verdict in verdicts if verdict.passed is False]
        open_ones = [verdict for verdict in verdicts if verdict.passed is None]
        shown = failed or open_ones or verdicts
        message = "; ".join(_told(verdict, len(verdicts) > 1) for verdict in shown)
        if failed:
            result = self.failed(message)
        elif open_ones:
            result = self.unknown(message)
        else:
            result = self.passed(message)
        return replace(result, verdicts=list(verdicts))


def _told(verdict: Verdict, several: bool) -> str:
    """`score 2, at least 4: it names no source`."""
    rule = f"{excerpt(verdict.rule, 60)}: " if several else ""
    if verdict.score is None:
        return rule + next(vote.error or "" for vote in verdict.votes)
    scores = [vote.score for vote in verdict.votes]
    whole = f"{verdict.score:.2g}".removesuffix(".0")
    votes = ", ".join("–" if score is None else str(score) for score in scores)
    of_votes = f" (of {votes})" if len(scores) > 1 else ""
    said = f"{rule}score {whole}{of_votes}, at least {verdict.minimum}"
    if verdict.passed is None:
        errors = [vote.error for vote in verdict.votes if vote.error]
        return said + (f"; no majority: {errors[0]}" if errors else "; the judges are split")
    agreeing = (
        vote.rationale
        for vote in verdict.votes
        if vote.score is not None and (vote.score >= verdict.minimum) is verdict.passed
    )
    why = next(agreeing, "")
    return f"{said}: {why}" if why else said


def _why_unrecorded(check: Check, trace: Trace, turn: int | None) -> str | None:
    """Why a judge cannot be shown all that the check is about, if so."""
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


def _request(check: RubricCheck, rubric: Rubric, trace: Trace, turn: int | None) -> JudgeRequest:
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
