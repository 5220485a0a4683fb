"""What a metric is: a number computed from a trace, with a unit and details."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, ClassVar

from trialrun.results import MetricResult
from trialrun.trace import EVIDENCE, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase

DEFAULT_METRICS = ("step_count", "token_usage", "tool_call_count", "duration")
"""What is computed where a spec or an `Evaluator` names no metric."""


class BaseMetric(ABC):
    """The base of every metric, ours and yours: a `name`, and `calculate`.

    `calculate` may be `async`. `test_case` may be None. A value of None means undefined. A metric
    that raises does not stop a run: its result carries the error.
    """

    name: str = "base"
    unit: str | None = None

    @abstractmethod
    def calculate(
        self, trace: Trace, test_case: EvalCase | None
    ) -> MetricResult | Awaitable[MetricResult]:
        """Compute the metric for one trace."""


class BuiltInMetric(BaseMetric):
    """A metric of ours: `needs` names its evidence, without which its value is undefined."""

    needs: ClassVar[frozenset[str]] = frozenset()
    formula: ClassVar[str] = ""
    uses_reference: ClassVar[bool] = False

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        """The metric, or None where the trace did not record what it needs."""
        if trace.recorded is EVIDENCE or self.needs <= trace.recorded:
            value, details = self.measure(trace, test_case)
        else:
            missing = ", ".join(sorted(self.needs - trace.recorded))
            value, details = None, {"message": f"not recorded: {missing}"}
        return MetricResult(self.name, value, self.unit, details)

    @abstractmethod
    def measure(
        self, trace: Trace, test_case: EvalCase | None
    ) -> tuple[float | None, dict[str, Any]]:
        """The value and its details, for a trace that recorded what is needed."""
