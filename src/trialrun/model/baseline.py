"""A baseline: what an agent did in one run, or in several repeats, that later runs are held to."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any

from msgspec.structs import replace

from trialrun.model.argument_rules import NO_RULES, SAME_TYPE, Rules, RuleText, is_free_text
from trialrun.model.behaviour import Changes, changes, differing
from trialrun.model.calls import (
    Call,
    calls_of,
    corrections,
    ending_of,
    leaves,
    model_calls_of,
    settled,
)
from trialrun.model.evidence import HANDOFFS, RETRIEVALS, TOOL_CALLS
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
    from statistics import median  # slow to import, and most runs have no baseline

    known = [value for value in values if value is not None]
    return median(known) if len(known) == len(values) else None


def rules_of(baseline: Trace) -> Rules:
    """The rules of the baseline; without any, every argument but free text is exact."""
    if isinstance(baseline, Baseline) and baseline.rules != NO_RULES:
        return baseline.rules
    found: dict[str, dict[str, RuleText]] = {}
    for repeat in repeats_of(baseline):
        for call in calls_of(repeat):
            for name, value in leaves(call.arguments or {}):
                if is_free_text(value):
                    found.setdefault(call.name, {})[name] = SAME_TYPE
    return Rules(found) if found else NO_RULES


def changes_from(
    baseline: Trace,
    trace: Trace,
    any_number: Sequence[str] = (),
    is_hidden: Callable[[Any], bool] = lambda value: False,
) -> Changes | None:
    """How the trace differs from the repeat that it is nearest to; None if calls are unknown.

    A path that any passing repeat took is not a regression.
    """
    # Kept with the trace: four checks ask.
    key = (trace.steps, trace.recorded, baseline, tuple(any_number), is_hidden)
    known: tuple[tuple[object, ...], Changes | None] | None = trace.__dict__.get("_changes")
    if known is not None and all(map(operator.is_, known[0][:3], key)) and known[0][3:] == key[3:]:
        return known[1]
    found = _nearest(baseline, trace, rules_of(baseline).with_any_number(any_number), is_hidden)
    trace.__dict__["_changes"] = key, found
    return found


def _nearest(
    baseline: Trace, trace: Trace, rules: Rules, is_hidden: Callable[[Any], bool]
) -> Changes | None:
    if TOOL_CALLS not in trace.recorded:
        return None
    repeats = [one for one in repeats_of(baseline) if TOOL_CALLS in one.recorded]
    # Tools that a passing repeat called with arguments that were refused, and then with others.
    corrected = {tool for one in repeats for _, tool in corrections(settled(calls_of(one), rules))}
    best: Changes | None = None
    for repeat in repeats:
        found = changes_between(repeat, trace, rules, is_hidden, corrected)
        if best is None or found.weight() < best.weight():
            best = found
        if not any(best.weight()):
            break
    return best


def changes_between(
    before: Trace,
    after: Trace,
    rules: Rules,
    is_hidden: Callable[[Any], bool],
    corrected: Collection[str] = (),
) -> Changes:
    """How one run differs from another, as far as both recorded their calls.

    Handoffs and retrievals that only one of them could record are not compared.
    """
    other = (HANDOFFS, RETRIEVALS)
    kinds = [kind for kind in other if kind in before.recorded and kind in after.recorded]
    old, new = calls_of(before, kinds), calls_of(after, kinds)
    found = changes(old, new, rules, is_hidden, corrected)
    found = replace(
        found,
        model_calls=differing(model_calls_of(before), model_calls_of(after)),
        ended=differing(ending_of(before), ending_of(after)),
    )
    if len(kinds) == len(other):
        return found
    left_out = [*_beyond(before, old), *_beyond(after, new)]
    return replace(found, not_compared=[name for name in left_out if not rules.is_any_number(name)])


def _beyond(trace: Trace, compared: Sequence[Call]) -> list[str]:
    steps = {call.step for call in compared}
    return [call.name for call in calls_of(trace) if call.step not in steps]
