"""Proposes the rules of a baseline from what varied among its passing repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from trialrun.measures.arguments import MISSING
from trialrun.model.argument_rules import (
    EXACT,
    IGNORE,
    SAME_SET,
    SAME_TYPE,
    Rules,
    RuleText,
    proposed,
)
from trialrun.model.baseline import Baseline, repeats_of
from trialrun.model.behaviour import Call, calls_of, leaves, pairs_of
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked


def propose(repeats: Sequence[Trace]) -> Rules:
    """The rules for these runs: what never varied is exact, free texts have the same type.

    Tools that were called more often in some runs than in others may be called any number of times.
    """
    called = [calls_of(trace) for trace in repeats]
    any_number = _of_differing_number(called)
    rules: dict[str, dict[str, RuleText]] = {}
    for same in _same_calls(called):
        tool = same[0].name
        if tool not in any_number:
            known = rules.setdefault(tool, {})
            for name, rule in _rules_of(same):
                known[name] = max(known.get(name, rule), rule, key=_looseness)
    ordered = {tool: dict(sorted(found.items())) for tool, found in sorted(rules.items())}
    return Rules(arguments=ordered, any_number=sorted(any_number))


def _same_calls(called: Sequence[Sequence[Call]]) -> list[list[Call]]:
    """Each call of the first run, with its counterparts in the others."""
    same = [[call] for call in called[0]] if called else []
    for other in called[1:]:
        for old, new in pairs_of(called[0], other):
            same[old].append(other[new])
    return same


def _rules_of(same: Sequence[Call]) -> Iterator[tuple[str, RuleText]]:
    """The rule of each argument of one call, from its values in the repeats."""
    given = [dict(leaves(call.arguments or {})) for call in same]
    for name in dict.fromkeys(name for values in given for name in values):
        values = [one.get(name, MISSING) for one in given]
        yield name, IGNORE if any(map(is_masked, values)) else proposed(values)


def _looseness(rule: RuleText) -> int:
    return [EXACT, SAME_SET, SAME_TYPE, IGNORE].index(rule)  # type: ignore[arg-type]


def _of_differing_number(called: Sequence[Sequence[Call]]) -> set[str]:
    counts = [Counter(call.name for call in calls) for calls in called]
    names = {name for count in counts for name in count}
    return {name for name in names if len({count[name] for count in counts}) > 1}


def kept(earlier: Trace | None, found: Rules) -> Rules:
    """The new rules, with those that a person changed in the earlier file."""
    if not isinstance(earlier, Baseline):
        return found
    machine, written = propose(repeats_of(earlier)), earlier.rules
    arguments = {tool: dict(rules) for tool, rules in found.arguments.items()}
    for tool, rules in written.arguments.items():
        for name, rule in rules.items():
            if rule != machine.arguments.get(tool, {}).get(name) and tool in arguments:
                arguments[tool][name] = rule
    by_hand = _minus(written.any_number, machine.any_number)
    return Rules(arguments, [*dict.fromkeys((*found.any_number, *by_hand))])


def _minus(some: Iterable[str], others: Iterable[str]) -> list[str]:
    left = set(others)
    return [one for one in some if one not in left]
