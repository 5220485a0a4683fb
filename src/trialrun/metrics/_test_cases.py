"""Read test cases of other tools, such as DeepEval's `LLMTestCase`, without importing the tool."""

from __future__ import annotations

from typing import Any

from trialrun.errors import UsageError
from trialrun.model.trace import Step, Trace


def trace_of(test_case: Any) -> Trace:
    """The trace of an object with `input`, `actual_output` and perhaps `tools_called`."""
    if isinstance(test_case, Trace):
        return test_case
    if not hasattr(test_case, "actual_output"):
        raise UsageError(
            "measure takes a Trace, or an object with `input` and `actual_output` such as "
            f"DeepEval's LLMTestCase; found {type(test_case).__name__}"
        )
    text = test_case.actual_output
    trace = Trace(
        input=str(getattr(test_case, "input", None) or ""),
        output=None if text is None else str(text),
    )
    calls = getattr(test_case, "tools_called", None)
    if calls is not None:  # else the steps stay unknown
        trace.steps = [
            Step.tool_call(call.name, dict(call.input_parameters or {}), call.output)
            for call in calls
            if call.name
        ]
    return trace
