"""trialrun's metrics inside DeepEval (`pip install '.[deepeval]'` in a clone).

    from trialrun.integrations.deepeval import VerificationComplianceMetric, as_deepeval

Real subclasses of DeepEval's `BaseMetric`: they work in `assert_test`, `evaluate` (DeepEval makes
copies of them by their constructors' arguments) and `deepeval test run`. Where a test case has
`tools_called` with outputs, the evidence ledger decides; otherwise the text alone.
"""

from __future__ import annotations

from typing import Any

try:
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase
except ModuleNotFoundError as error:  # say what to install, where it is missing and nothing else
    if error.name is None or error.name.partition(".")[0] != "deepeval":
        raise
    from trialrun.errors import UsageError as NotInstalled

    raise NotInstalled(
        "DeepEval is not installed: pip install '.[deepeval]' (in a clone)"
    ) from None

from trialrun.engine.evaluate import run_coroutine
from trialrun.errors import UsageError
from trialrun.metrics import BaseMetric as TrialrunMetric
from trialrun.metrics._test_cases import trace_of
from trialrun.metrics.verification_compliance import ComplianceText
from trialrun.metrics.verification_compliance import VerificationComplianceMetric as Compliance
from trialrun.model.case import MetricPlan
from trialrun.model.evidence import missing, not_recorded
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_RESULTS, Trace
from trialrun.registry import METRICS, find_metric, names
from trialrun.util.texts import did_you_mean

TOLERANCE = 1e-9


class _Measured(BaseMetric):
    """What every metric of ours does when DeepEval asks for it."""

    threshold: float | None
    include_reason = True
    unanswered = False  # the test case has no output: no threshold is low enough

    def _result(self, test_case: LLMTestCase) -> MetricResult:
        raise NotImplementedError

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """The score; `score`, `reason` and `success` are set as DeepEval expects it."""
        self.error = None
        result = self._result(test_case)
        self.score_breakdown = result.details.get("components")
        self.reason = result.details.get("reason") or result.details.get("message")
        self.score = result.value
        if result.error is not None or result.value is None:
            # No evidence is never a pass: an undefined value is an error, with its reason.
            self.error = result.error or self.reason or f"{result.metric_name} is undefined"
        self.is_successful()
        if self.error is not None:
            raise ValueError(self.error)
        assert self.score is not None
        return float(self.score)

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """The same: there is nothing to wait for."""
        return self.measure(test_case)

    def is_successful(self) -> bool | None:
        """Whether the score reaches the threshold, within a tolerance of 1e-9."""
        self.success = None
        if self.error is not None or self.score is None or self.unanswered:
            self.success = False
            return False
        if self.threshold is None:
            return None
        self.success = bool(self.score >= self.threshold - TOLERANCE)
        return bool(self.success)


class VerificationComplianceMetric(ComplianceText, _Measured):
    """Did the agent prove what it says? From 0 to 1, of which 0.9 is asked by default.

    A subclass may override the constants and the `_score_…` methods, as in `trialrun.metrics`.
    """

    def __init__(self, threshold: float = 0.9, strict_mode: bool = False) -> None:
        self._inner(threshold, strict_mode)

    metric_class: type[Compliance] = Compliance
    """A subclass of trialrun's metric with words of its own may be put here."""

    def _inner(self, threshold: float, strict_mode: bool) -> None:
        # What a subclass overrides here takes effect in the metric that computes.
        own = {
            name: getattr(self, name)
            for kind in type(self).__mro__[: type(self).__mro__.index(ComplianceText)]
            for name in vars(kind)
            if name in vars(ComplianceText) and not name.startswith("__")
        }
        self._metric = self.metric_class(threshold=threshold, strict_mode=strict_mode)
        for name, value in own.items():
            setattr(self._metric, name, value)
        self.threshold = self._metric.threshold
        self.strict_mode = self._metric.strict_mode

    def _result(self, test_case: LLMTestCase) -> MetricResult:
        trace = trace_of(test_case)
        self.unanswered = trace.output is None
        if self.unanswered:
            reason = {"reason": "there is no answer"}
            return MetricResult(self._metric.name, 0.0, self._metric.unit, reason)
        if trace.tool_calls and TOOL_RESULTS not in trace.recorded:
            # Names of tools without what they returned prove nothing: the text has to.
            trace = Trace(input=trace.input, output=trace.output)
        result: MetricResult = self._metric.calculate(trace, None)
        return result

    @property
    def __name__(self) -> str:
        return "Verification Compliance"


class StrictVerificationComplianceMetric(VerificationComplianceMetric):
    """The same without mercy: 1.0 is asked, and anything unsubstantiated is 0.0."""

    def __init__(self, threshold: float = 1.0, strict_mode: bool = True) -> None:
        # DeepEval copies a metric with the arguments of its base classes: they change nothing.
        del threshold, strict_mode
        self._inner(1.0, True)

    @property
    def __name__(self) -> str:
        return "Strict Verification Compliance"


class TrialrunMetricInDeepEval(_Measured):
    """Any metric of trialrun's as one of DeepEval's; made by `as_deepeval`."""

    def __init__(self, metric: TrialrunMetric, threshold: float | None = None) -> None:
        self.metric = metric
        self.threshold = threshold

    def _result(self, test_case: LLMTestCase) -> MetricResult:
        trace = trace_of(test_case)
        needs = MetricPlan.of(self.metric).needs or frozenset()
        lacking = missing(needs, trace.recorded)
        if lacking:
            message = not_recorded(lacking)
            return MetricResult(self.metric.name, None, self.metric.unit, {"message": message})
        made = self.metric.calculate(trace, None)
        if isinstance(made, MetricResult):
            return made
        return run_coroutine(_awaited(made))

    def is_successful(self) -> bool | None:
        """For a metric of which less is better, the threshold is the most that it may be."""
        if self.metric.higher_is_better is False and self.threshold is not None:
            known = self.error is None and self.score is not None
            self.success = known and float(self.score or 0) <= self.threshold + TOLERANCE
            return self.success
        return super().is_successful()

    @property
    def __name__(self) -> str:
        return self.metric.name.replace("_", " ").title()


async def _awaited(made: Any) -> MetricResult:
    result: MetricResult = await made
    return result


def as_deepeval(
    metric: TrialrunMetric | type[TrialrunMetric] | str, threshold: float | None = None
) -> TrialrunMetricInDeepEval:
    """A metric of trialrun's for DeepEval: an object, its class, or the name of one.

    Without a threshold it only measures.
    """
    found: Any = metric
    if isinstance(metric, str):
        found = find_metric(metric)
        if found is None:
            raise UsageError(f"no metric `{metric}`{did_you_mean(metric, names(METRICS))}")
    made = found() if isinstance(found, type) else found
    if not callable(getattr(made, "calculate", None)):
        raise UsageError(f"as_deepeval: expected a metric, found {type(metric).__name__}")
    return TrialrunMetricInDeepEval(made, threshold)


__all__ = [
    "StrictVerificationComplianceMetric",
    "TrialrunMetricInDeepEval",
    "VerificationComplianceMetric",
    "as_deepeval",
    "trace_of",
]
