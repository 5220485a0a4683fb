"""The base classes of metrics: a number computed from a trace, with a unit and details."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, ClassVar

from trialrun.model.results import MetricResult
from trialrun.model.trace import Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase

DEFAULT_METRICS = ("step_count", "token_usage", "tool_call_count", "duration")
"""The metrics that are computed if a spec or an `Evaluator` names none."""


class BaseMetric(ABC):
    """The base of every metric, built in or custom: a `name`, and `calculate`.

    `calculate` may be `async`. `test_case` may be None. A value of None means undefined. A metric
    that raises does not stop a run: its result contains the error. `higher_is_better` says which
    direction is an improvement when two runs are compared; None: neither.
    """

    name: str = "base"
    unit: str | None = None
    higher_is_better: ClassVar[bool | None] = None

    @abstractmethod
    def calculate(
        self, trace: Trace, test_case: EvalCase | None
    ) -> MetricResult | Awaitable[MetricResult]:
        """Compute the metric for one trace."""


class BuiltInMetric(BaseMetric):
    """A built-in metric: `needs` names the evidence without which its value is undefined."""

    needs: ClassVar[frozenset[str]] = frozenset()
    formula: ClassVar[str] = ""
    uses_reference: ClassVar[bool] = False

    @abstractmethod
    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        """Compute the metric for one trace."""

    def result(self, value: float | None, **details: Any) -> MetricResult:
        """A result with this metric's name and unit."""
        return MetricResult(self.name, value, self.unit, details)

    def not_recorded(self, trace: Trace) -> MetricResult:
        """An undefined result: the trace did not record what this metric needs."""
        missing = ", ".join(sorted(self.needs - trace.recorded))
        return self.result(None, message=f"not recorded: {missing}")
