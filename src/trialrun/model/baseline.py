"""A baseline: what an agent did in one run, or in several repeats, that later runs are held to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from trialrun.model.argument_rules import NO_RULES, Rules
from trialrun.model.behaviour import Changes, calls_of, changes
from trialrun.model.evidence import TOOL_CALLS
from trialrun.model.trace import Trace


class Baseline(Trace, kw_only=True, dict=True):
    """The first of the passing repeats, with the others and the rules for arguments.

    It is a trace, so that every check that takes a baseline takes it: references and similarity use
    the first repeat, multipliers the median of all.
    """

    repeats: Sequence[Trace] = ()
    rules: Rules = NO_RULES


def repeats_of(baseline: Trace) -> list[Trace]:
    """All runs that the baseline was made from."""
    return [baseline, *(baseline.repeats if isinstance(baseline, Baseline) else ())]


def median_cost(baseline: Trace) -> float | None:
    """The median cost of the repeats; None if one is not known."""
    return _median([one.total_cost_usd for one in repeats_of(baseline)])


def median_duration(baseline: Trace) -> float | None:
    """The median duration of the repeats in milliseconds; None if one was not recorded."""
    return _median([one.total_duration_ms for one in repeats_of(baseline)])


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if len(known) == len(values) else None


def changes_from(
    baseline: Trace,
    trace: Trace,
    any_number: Sequence[str] = (),
    is_hidden: Callable[[Any], bool] = lambda value: False,
) -> Changes | None:
    """How the trace differs from the repeat that it is nearest to; None if calls are unknown.

    A path that any passing repeat took is not a regression.
    """
    rules = baseline.rules if isinstance(baseline, Baseline) else NO_RULES
    rules = rules.with_any_number(any_number)
    if TOOL_CALLS not in trace.recorded:
        return None
    after = calls_of(trace)
    best: Changes | None = None
    for repeat in repeats_of(baseline):
        if TOOL_CALLS not in repeat.recorded:
            continue
        found = changes(calls_of(repeat), after, rules, is_hidden)
        if best is None or found.weight() < best.weight():
            best = found
        if not any(best.weight()):
            break
    return best
