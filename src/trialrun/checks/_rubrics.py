"""The base of the checks that a judge decides by rubrics: requests, and results from verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from trialrun.checks.base import Check, JudgedCheck
from trialrun.measures.scores import LOWEST, minimum_score
from trialrun.model.case import Rubric
from trialrun.model.judging import CONVERSATION, Inquiry, JudgeRequest, Material
from trialrun.model.results import CheckResult, Verdict
from trialrun.model.trace import ANSWER, EVIDENCE, Step, Trace
from trialrun.util.files import reason
from trialrun.util.texts import excerpt

_LARGEST_CONTEXT = 4 * 1024 * 1024


class RubricCheck(JudgedCheck):
    """A check whose rubrics a judge scores."""

    formula: ClassVar = "score ≥ max(1, int(threshold × 5 + 0.5))"
    sees_tools: ClassVar[bool] = False  # the judge gets the tools' results as context

    def validate(self) -> None:
        for rubric in self.rubrics_asked():
            if minimum_score(rubric.threshold) == LOWEST:
                raise ValueError(
                    f"a threshold of {rubric.threshold:g} asks for a score of {LOWEST}, which is "
                    "the lowest: it could only pass; give at least 0.3"
                )

    def inquiry(self, run: Trace, turn: int | None) -> Inquiry | CheckResult:
        """One request for each rubric; unknown if something that the judge needs is missing."""
        missing = _why_unrecorded(self, run, turn)
        if missing is not None:
            return self.unknown(missing)
        requests = [_request(self, rubric, run, turn) for rubric in self.rubrics_asked()]
        return Inquiry(requests, self.settled)

    def locate(self, folder: str | None) -> None:
        """Read the files that the rubrics name. ValueError if one cannot be read."""
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
        """The result: fail if one verdict is a failure, else unknown if one is unknown."""
        failed = [verdict for verdict in verdicts if verdict.passed is False]
        undecided = [verdict for verdict in verdicts if verdict.passed is None]
        shown = failed or undecided or verdicts
        message = "; ".join(_described(verdict, len(verdicts) > 1) for verdict in shown)
        if failed:
            result = self.failed(message)
        elif undecided:
            result = self.unknown(message)
        else:
            result = self.passed(message)
        return replace(result, verdicts=list(verdicts))


def _described(verdict: Verdict, several: bool) -> str:
    """`score 2, at least 4: it names no source`."""
    rule = f"{excerpt(verdict.rule, 60)}: " if several else ""
    if verdict.score is None:
        return rule + next(vote.error or "" for vote in verdict.votes)
    scores = [vote.score for vote in verdict.votes]
    whole = f"{verdict.score:.2g}".removesuffix(".0")
    votes = ", ".join("–" if score is None else str(score) for score in scores)
    of_votes = f" (of {votes})" if len(scores) > 1 else ""
    text = f"{rule}score {whole}{of_votes}, at least {verdict.minimum}"
    if verdict.passed is None:
        errors = [vote.error for vote in verdict.votes if vote.error]
        return text + (f"; no majority: {errors[0]}" if errors else "; the judges are split")
    agreeing = (
        vote.rationale
        for vote in verdict.votes
        if vote.score is not None and (vote.score >= verdict.minimum) is verdict.passed
    )
    why = next(agreeing, "")
    return f"{text}: {why}" if why else text


def _why_unrecorded(check: Check, trace: Trace, turn: int | None) -> str | None:
    """What the judge would need and the trace did not record, or None."""
    turns = trace.turns()[:turn]
    whole = trace.recorded if turn is None else EVIDENCE
    recorded = whole.intersection(*(part.recorded for part in turns))
    if ANSWER in turns[-1].recorded:  # the answers before it are context: see below
        recorded |= {ANSWER}
    missing = check.needs - recorded
    if missing:
        return f"not recorded in this trace: {', '.join(sorted(missing))}"
    if turn is None:
        for number, part in enumerate(turns[:-1], 1):
            if part.output is None:
                return f"the answer of turn {number} is not recorded"
    return None


def _request(check: RubricCheck, rubric: Rubric, trace: Trace, turn: int | None) -> JudgeRequest:
    """The request for one rubric: about one turn of the run, or about all of it.

    For a turn, tool results of earlier turns are included. For the whole run, the conversation
    before the last answer is included, because that answer replies to the last question only.
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
        rubric=rubric, question=last.input, answer=last.answer_text or "", context=context
    )


def _conversation(turns: Sequence[Trace]) -> Material:
    """Questions and answers, one line per turn, in a single piece that keeps their order."""
    rows = (
        {"turn": number, "question": turn.input, "answer": turn.answer_text}
        for number, turn in enumerate(turns, 1)
    )
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    return Material(CONVERSATION, "\n".join(lines))


def _returned(calls: Sequence[Step]) -> list[Material]:
    """The tools' results, in order. Tool names, which an agent may choose, are in the text only."""
    if not calls:
        return [Material("tool results", "(no tool was called)")]
    pieces = []
    for number, call in enumerate(calls, 1):
        text = json.dumps(
            {"tool": call.tool_name, "arguments": call.tool_args, "returned": call.tool_result},
            ensure_ascii=False,
            default=repr,
        )
        pieces.append(Material(f"tool result {number}", text))
    return pieces
