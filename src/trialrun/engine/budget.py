"""Track what a run has spent on agents and judges against `--max-cost`."""

from __future__ import annotations

from trialrun.model.results import EvaluationResult, JudgeSpend


class Budget:
    """The spending of a whole run, rejudged flips included; `most` is None for no limit."""

    def __init__(self, most: float | None) -> None:
        self._most = most
        self._spent = 0.0
        self._unknown: str | None = None

    def add(self, result: EvaluationResult) -> None:
        """Add the cost of an attempt and of its judge."""
        self._add(result.cost_usd, result.case_name)
        if result.judge is not None:
            self.add_judge(result.judge, result.case_name)

    def add_judge(self, spend: JudgeSpend, case_name: str) -> None:
        """Add what a judge cost for a case."""
        self._add(spend.cost_usd, f"the judge of {case_name}")

    def _add(self, cost: float | None, of: str) -> None:
        if cost is None:
            self._unknown = self._unknown or of
        else:
            self._spent += cost

    def why_over(self) -> str | None:
        """Why nothing more may be spent; None if more may be spent."""
        if self._most is None:
            return None
        if self._unknown is not None:
            return (
                f"--max-cost: the cost of {self._unknown} is unknown; the limit cannot be checked"
            )
        if self._spent >= self._most:
            return f"--max-cost: ${self._spent:.6g} of ${self._most:.6g} are spent"
        return None
