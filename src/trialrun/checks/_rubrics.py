"""What the checks that ask a judge have in common: their rubrics, and what verdicts come to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from trialrun.checks.base import Check
from trialrun.model.case import Rubric
from trialrun.model.results import CheckResult, Verdict
from trialrun.util.files import reason
from trialrun.util.texts import excerpt

_LARGEST_CONTEXT = 4 * 1024 * 1024


class RubricCheck(Check):
    """A check that a judge decides. The engine asks the judge; the check says what that means."""

    judged: ClassVar = True
    formula: ClassVar = "score ≥ max(1, int(threshold × 5 + 0.5))"
    sees_tools: ClassVar[bool] = False  # the judge is given what the tools returned

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["contexts"] = {}

    if TYPE_CHECKING:

        @property
        def contexts(self) -> dict[str, str]:
            """The texts of the files that the rubrics name, by their names."""

    def rubrics_asked(self) -> Sequence[Rubric]:
        """What the judge is to score."""
        raise NotImplementedError

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
