"""A trace as it may be shared: which tools and models were called, how it went, what it took."""

from __future__ import annotations

from msgspec.structs import replace

from trialrun.model.steps import Step
from trialrun.model.trace import Trace
from trialrun.model.withheld import LEFT_OUT, Withheld


def shared_trace(trace: Trace, withheld: Withheld | None = None) -> Trace:
    """The trace without texts, arguments, results and metadata; the steps with their figures."""
    withheld = Withheld() if withheld is None else withheld
    withheld.add("question", bool(trace.input))
    withheld.add("answer", trace.output is not None)
    withheld.add("detail", len(trace.metadata))
    return replace(
        trace,
        name=None,  # some recorders name a session after its first question
        input=LEFT_OUT,
        output=None if trace.output is None else LEFT_OUT,
        error=withheld.text("error", trace.error),
        steps=[_step(step, withheld) for step in trace.steps],
        recorded=trace.recorded,
        metadata={},
    )


def _step(step: Step, withheld: Withheld) -> Step:
    arguments, result = step.tool_args, step.tool_result
    withheld.add("argument", len(arguments or ()))
    withheld.add("result", result is not None)
    withheld.add("detail", len(step.metadata))
    return replace(
        step,
        input=withheld.text("text", step.input),
        output=withheld.text("text", step.output),
        reasoning_text=withheld.text("text", step.reasoning_text),
        error=withheld.text("error", step.error),
        tool_args=None if arguments is None else {"…": LEFT_OUT} if arguments else {},
        tool_result=None if result is None else LEFT_OUT,
        metadata={},
    )
