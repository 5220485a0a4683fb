"""Judge answers of flipped cases again, to find out whether agent or judge caused the flip."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from trialrun.engine.budget import Budget
from trialrun.model.results import EvaluationResult, JudgeSpend, LayerStatus
from trialrun.store.records import Attempt
from trialrun.util.money import dollars
from trialrun.util.texts import counted

_NO_VERDICT = (LayerStatus.ERROR, LayerStatus.SKIP)


class FlipRejudger:
    """Collects new verdicts and their cost; ends if the budget is spent or the run is stopped."""

    def __init__(
        self, judge: Callable[[Attempt], Awaitable[EvaluationResult]], budget: Budget
    ) -> None:
        self._judge = judge
        self._budget = budget
        self.verdicts: dict[tuple[int, int], bool | None] = {}  # by position and attempt number
        self.spend = JudgeSpend()
        self.stopped: str | None = None

    async def slot(self, attempts: Iterator[Attempt]) -> None:
        """Judge attempts until there are no more; several tasks may share the iterator."""
        for attempt in attempts:
            self.stopped = self.stopped or self._budget.why_over()
            if self.stopped is not None:
                return
            result = await self._judge(attempt)
            if result.judge is not None:
                self.spend.add(result.judge)
                self._budget.add_judge(result.judge, result.case_name)
            # An unreachable judge has not contradicted itself.
            passed = None if result.status in _NO_VERDICT else result.passed
            self.verdicts[attempt.position, attempt.attempt] = passed

    def warnings(self) -> list[str]:
        """Warnings for the report: these calls were paid for, but belong to no attempt."""
        said = []
        if self.verdicts:
            cost = self.spend.cost_usd
            took = "cost unknown" if cost is None else dollars(cost)
            calls = counted(self.spend.calls, "call")
            verb = "answer was" if len(self.verdicts) == 1 else "answers were"
            said.append(
                f"{len(self.verdicts)} {verb} judged again to find the source of flips: "
                f"{calls} of the judge, {took}"
            )
        if self.stopped is not None:
            said.append(f"flips are left unsettled: {self.stopped}")
        return said
