"""Re-export of `trialrun.model.results`, whose names users import from here."""

from trialrun.model.results import (
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    LayerStatus,
    MetricResult,
    RunResult,
    Severity,
)

__all__ = [
    "CheckResult",
    "CheckStatus",
    "EvaluationResult",
    "LayerResult",
    "LayerStatus",
    "MetricResult",
    "RunResult",
    "Severity",
]
