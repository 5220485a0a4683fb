"""Read the recorded traces that cases name in place of a live agent."""

from __future__ import annotations

from pathlib import Path

from trialrun.engine.asked import NOT_COMPARABLE, another_question
from trialrun.errors import TrialrunError
from trialrun.importers import scan
from trialrun.model.case import EvalCase, Suite
from trialrun.model.trace import Trace, TraceStatus


def recorded_trace(suite: Suite, case: EvalCase, warnings: list[str]) -> Trace:
    """The trace that the case names; a trace with an error if there is not exactly one."""
    try:
        traces = named_traces(suite, case, warnings)
        if len(traces) == 1:
            return traces[0]
        error = f"{case.trace} holds {len(traces)} traces, expected one"
    except TrialrunError as problem:
        error = str(problem)
    return Trace(
        input=case.input,
        name=case.name,
        status=TraceStatus.ERROR,
        error=error,
    )


def named_traces(suite: Suite, case: EvalCase, warnings: list[str]) -> list[Trace]:
    """The traces of the file that the case names. Raises TrialrunError if one cannot be read."""
    folder = Path(suite.file).parent if suite.file else Path()
    traces, problems, notes = scan(folder / str(case.trace))
    warnings += [str(note) for note in notes]
    if problems:
        raise TrialrunError(f"the trace cannot be read: {problems[0]}")
    for trace in traces:
        # The spec says that this trace belongs to this case: it is judged, but not silently.
        wrong = another_question(suite, case, trace, f"{case.trace}, which `trace` names,")
        if wrong is not None:
            warnings.append(f"{case.name}: {wrong.removeprefix(NOT_COMPARABLE)}")
    return traces
