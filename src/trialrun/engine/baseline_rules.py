"""Proposes the rules of a baseline from what varied among its passing repeats."""

from __future__ import annotations

import re
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
from trialrun.model.behaviour import pairs_of
from trialrun.model.calls import Call, calls_of, corrections, leaves, settled
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked

_READING = frozenset({
    "browse", "calculate", "compute", "count", "describe", "fetch", "find", "get", "grep",
    "inspect", "list", "load", "lookup", "query", "read", "recall", "retrieval", "retrieve",
    "search", "show", "think", "view",
})  # fmt: skip
_CHANGING = frozenset({
    "add", "cancel", "create", "delete", "edit", "insert", "mark", "modify", "remove",
    "rename", "replace", "save", "send", "update", "upsert", "write",
})  # fmt: skip
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")  # get_user, getUser, mcp__db__GETUser


def propose(repeats: Sequence[Trace]) -> Rules:
    """The rules for these runs: what never varied is exact, free texts have the same type.

    Tools that read or search, and that were called more often in some runs than in others, may be
    called any number of times. Other tools may not: an extra refund would never be seen, and a path
    that one of the runs took is allowed without it.
    """
    called = [calls_of(trace) for trace in repeats]
    found = _argument_rules([_not_corrected(calls) for calls in called])
    called = [settled(calls, Rules(found)) for calls in called]
    any_number = {name for name in _of_differing_number(called) if only_reads(name)}
    ordered = {tool: dict(sorted(found[tool].items())) for tool in sorted(found)}
    return Rules(
        arguments={tool: rules for tool, rules in ordered.items() if tool not in any_number},
        any_number=sorted(any_number),
    )


def only_reads(tool: str) -> bool:
    """Whether a tool reads or searches, by the first or last word of its name: `get_order`.

    Not if another word says that it changes something: `get_or_create_order`, `mark_as_read`.
    """
    words = [word.lower() for word in _WORDS.findall(tool.rpartition("__")[2])]
    return bool(words) and bool({words[0], words[-1]} & _READING) and not _CHANGING & set(words)


def _not_corrected(calls: Sequence[Call]) -> list[Call]:
    """The calls without failed ones that the agent corrected.

    A refused value is not one that passing runs varied in: refunds of 25 and 30 that were refused
    would loosen the rule for the refund of 20 that each run then made.
    """
    corrected = {index for index, _ in corrections(calls)}
    return [call for index, call in enumerate(calls) if index not in corrected]


def _argument_rules(called: Sequence[Sequence[Call]]) -> dict[str, dict[str, RuleText]]:
    rules: dict[str, dict[str, RuleText]] = {}
    for same in _same_calls(called):
        known = rules.setdefault(same[0].name, {})
        for name, rule in _rules_of(same):
            known[name] = max(known.get(name, rule), rule, key=_looseness)
    return rules


def _same_calls(called: Sequence[Sequence[Call]]) -> list[list[Call]]:
    """Each call of any of the runs, with its counterparts in the others."""
    same: list[list[Call]] = []
    for calls in called:
        pairs = pairs_of([group[0] for group in same], calls)
        for group, at in pairs:
            same[group].append(calls[at])
        paired = {at for _, at in pairs}
        same += [[call] for at, call in enumerate(calls) if at not in paired]
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
