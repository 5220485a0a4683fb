"""trialrun: a trial run for your agent. Right answer, right path, right price, proven work.

The public names are loaded when they are first used: importing `trialrun` alone costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

# As in `typing`, whose import alone takes longer than bare Python takes to start.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from trialrun.engine.evaluate import evaluate, evaluate_async
    from trialrun.engine.evaluator import Evaluator
    from trialrun.engine.run import run, run_async
    from trialrun.errors import (
        NothingSelected,
        PluginError,
        RunInterrupted,
        SpecError,
        TraceError,
        TraceWarning,
        TrialrunError,
        UsageError,
    )
    from trialrun.importers import read_traces
    from trialrun.importers.native import write_traces
    from trialrun.judge import Judge, JudgeRequest
    from trialrun.model.case import EvalCase, JudgeSettings, Suite
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
    from trialrun.model.trace import (
        Message,
        Step,
        StepStatus,
        StepType,
        TokenUsage,
        Trace,
        TraceStatus,
    )
    from trialrun.spec.load import load_suite, load_suites

_HOMES = {
    "trialrun.engine.evaluate": ("evaluate", "evaluate_async"),
    "trialrun.engine.evaluator": ("Evaluator",),
    "trialrun.engine.run": ("run", "run_async"),
    "trialrun.spec.load": ("load_suite", "load_suites"),
    "trialrun.errors": (
        "NothingSelected",
        "PluginError",
        "RunInterrupted",
        "SpecError",
        "TraceError",
        "TraceWarning",
        "TrialrunError",
        "UsageError",
    ),
    "trialrun.importers.native": ("write_traces",),
    "trialrun.importers": ("read_traces",),
    "trialrun.judge": ("Judge", "JudgeRequest"),
    "trialrun.model.results": (
        "CheckResult",
        "CheckStatus",
        "EvaluationResult",
        "LayerResult",
        "LayerStatus",
        "MetricResult",
        "RunResult",
        "Severity",
    ),
    "trialrun.model.case": ("EvalCase", "JudgeSettings", "Suite"),
    "trialrun.model.trace": (
        "Message",
        "Step",
        "StepStatus",
        "StepType",
        "TokenUsage",
        "Trace",
        "TraceStatus",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "CheckResult",
    "CheckStatus",
    "EvalCase",
    "EvaluationResult",
    "Evaluator",
    "Judge",
    "JudgeRequest",
    "JudgeSettings",
    "LayerResult",
    "LayerStatus",
    "Message",
    "MetricResult",
    "NothingSelected",
    "PluginError",
    "RunInterrupted",
    "RunResult",
    "Severity",
    "SpecError",
    "Step",
    "StepStatus",
    "StepType",
    "Suite",
    "TokenUsage",
    "Trace",
    "TraceError",
    "TraceStatus",
    "TraceWarning",
    "TrialrunError",
    "UsageError",
    "__version__",
    "evaluate",
    "evaluate_async",
    "load_suite",
    "load_suites",
    "read_traces",
    "run",
    "run_async",
    "write_traces",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'trialrun' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value  # the next look-up is a plain one
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
