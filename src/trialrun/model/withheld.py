"""What a report that is made to be shared leaves out, counted by kind; and texts of a result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from trialrun.util.texts import counted

if TYPE_CHECKING:
    from trialrun.model.results import CheckResult, EvaluationResult

LEFT_OUT = "[left out]"
"""What is shown in place of a text that was left out."""


class Withheld(Struct):
    """How many texts of each kind were left out; the kinds are nouns, such as `answer`."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, number: int = 1) -> None:
        """Count texts of a kind."""
        if number:
            self.counts[kind] = self.counts.get(kind, 0) + number

    def text(self, kind: str, given: str | None) -> str | None:
        """What is shown in place of the text: None where there was none."""
        if given is None or given == "":
            return given
        self.add(kind)
        return LEFT_OUT

    def __str__(self) -> str:
        parts = [counted(number, kind) for kind, number in self.counts.items()]
        return f"left out, to be shared: {', '.join(parts) or 'nothing'}"


def texts_of(result: EvaluationResult) -> Iterator[str]:
    """The texts of a result that quote an agent, a user or a judge: for counting masks in them."""
    yield from (text for text in (result.question, result.answer, result.error) if text)
    for turn in result.turns[:-1]:  # question and answer are those of the last turn
        yield turn.question
        yield turn.answer or ""
    yield from result.earlier_errors
    yield from (call.error for call in result.failed_calls)
    for _, check in result.checks():
        yield from _of_check(check)
    yield from (metric.error for metric in result.metrics if metric.error)


def _of_check(check: CheckResult) -> Iterator[str]:
    if not check.verdicts:
        yield check.message
    for verdict in check.verdicts:  # the message repeats a rationale
        for vote in verdict.votes:
            yield vote.rationale or vote.error or ""
