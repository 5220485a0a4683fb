"""Answers between which only a judge sees a difference, judged once more: whose flip is it?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from trialrun.engine.budget import Budget
from trialrun.model.results import EvaluationResult, JudgeSpend, LayerStatus
from trialrun.store.records import Attempt
from trialrun.util.money import dollars
from trialrun.util.texts import counted

_NO_VERDICT = (LayerStatus.ERROR, LayerStatus.SKIP)


class SecondLooks:
    """What they came to and took. They end with the budget, and where the run is stopped."""

    def __init__(
        self, judge: Callable[[Attempt], Awaitable[EvaluationResult]], budget: Budget
    ) -> None:
        self._judge = judge
        self._budget = budget
        self.found: dict[tuple[int, int], bool | None] = {}  # by position and number
        self.spend = JudgeSpend()
        self.stopped: str | None = None

    async def slot(self, attempts: Iterator[Attempt]) -> None:
        """Look at what is next until there is nothing more; several may share the attempts."""
        for attempt in attempts:
            self.stopped = self.stopped or self._budget.why_over()
            if self.stopped is not None:
                return
            result = await self._judge(attempt)
            if result.judge is not None:
                self.spend.add(result.judge)
                self._budget.add_judge(result.judge, result.case_name)
            # A judge that could not be reached has not contradicted itself.
            passed = None if result.status in _NO_VERDICT else result.passed
            self.found[attempt.position, attempt.attempt] = passed

    def warnings(self) -> list[str]:
        """What a reader of the run should know: it was paid for, and belongs to no attempt."""
        said = []
        if self.found:
            cost = self.spend.cost_usd
            took = "cost unknown" if cost is None else dollars(cost)
            calls = counted(self.spend.calls, "call")
            verb = "answer was" if len(self.found) == 1 else "answers were"
            said.append(
                f"{len(self.found)} {verb} judged again to tell the source of flips: "
                f"{calls} of the judge, {took}"
            )
        if self.stopped is not None:
            said.append(f"flips are left unsettled: {self.stopped}")
        return said
