"""The base classes of metrics: a number computed from a trace, with a unit and details."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Collection
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
    direction is an improvement when two runs are compared; None: neither. `lowest` and `highest`
    are the ends of its range, if it has any: a gate that lies outside could only pass.

    `needs` names the evidence that the value rests on (`{"tool_calls"}`, `{"answer"}`): where it
    was not recorded, the engine does not call `calculate`, and the value is undefined. A metric
    without `needs` is always computed; its gate is unknown if the steps were not recorded.
    """

    name: str = "base"
    unit: str | None = None
    higher_is_better: ClassVar[bool | None] = None
    lowest: ClassVar[float | None] = None
    highest: ClassVar[float | None] = None
    needs: ClassVar[Collection[str] | None] = None

    @abstractmethod
    def calculate(
        self, trace: Trace, test_case: EvalCase | None
    ) -> MetricResult | Awaitable[MetricResult]:
        """Compute the metric for one trace."""


class BuiltInMetric(BaseMetric):
    """A built-in metric: `needs` names the evidence without which its value is undefined."""

    lowest = 0.0
    needs: ClassVar[frozenset[str]] = frozenset()
    formula: ClassVar[str] = ""
    uses_reference: ClassVar[bool] = False
    # `lacks(trace, result)` of a subclass says why the trace does not support the result although
    # it recorded what `needs` names. Asked by the engine: `calculate` is the formula alone.
    lacks: ClassVar[Any] = None

    @abstractmethod
    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        """Compute the metric for one trace."""

    def result(self, value: float | None, **details: Any) -> MetricResult:
        """A result with this metric's name and unit."""
        return MetricResult(self.name, value, self.unit, details)
