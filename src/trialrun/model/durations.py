"""How long a run took, by the times that it recorded."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trialrun.model.trace import Trace


def measured_ms(trace: Trace) -> float | None:
    """Last end − first start of the trace, else of its steps, else the sum of the steps' times."""
    if trace.started_at is not None and trace.completed_at is not None:
        elapsed = _milliseconds(trace.completed_at - trace.started_at)
        if elapsed >= 0:
            return elapsed
    starts = [step.timestamp for step in trace.steps if step.timestamp is not None]
    durations = [step.duration_ms for step in trace.steps if step.duration_ms is not None]
    total = math.fsum(durations) if durations else None
    if starts and (durations or len(starts) > 1):
        try:
            ends = [
                step.timestamp + timedelta(milliseconds=step.duration_ms or 0)
                for step in trace.steps
                if step.timestamp is not None
            ]
        except OverflowError:  # past the year 9999
            return None
        span = _milliseconds(max(ends) - min(starts))
        # If only some steps have a timestamp, the sum of the durations may be longer.
        return span if len(starts) == len(trace.steps) else max(span, total or 0.0)
    return total


def in_order(trace: Trace) -> bool:
    """Whether the times can be taken as they are: with a time zone, and the end not before."""
    start, end = trace.started_at, trace.completed_at
    if start is None or end is None:
        one = start or end
        return one is None or one.tzinfo is not None
    return start.tzinfo is not None and end.tzinfo is not None and start <= end


def _milliseconds(span: timedelta) -> float:
    return span / timedelta(milliseconds=1)
