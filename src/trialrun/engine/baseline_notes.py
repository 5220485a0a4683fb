"""What a person should know of the rules in saved baselines: what is not compared exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from trialrun.engine.baseline_files import Written
from trialrun.measures.arguments import equal
from trialrun.model.argument_rules import EXACT, SAME_TYPE, is_free_text
from trialrun.model.behaviour import calls_of, leaves
from trialrun.redaction import is_masked


class RuleNotes(Struct, frozen=True):
    """Arguments by tool (`issue_refund.reason`) that a later run may change.

    `free_texts` never varied, and have the same type; `masked` are not compared at all; `others`
    have another rule than `exact`, mostly because they varied among the repeats.
    """

    free_texts: Sequence[str]
    masked: Sequence[str]
    others: Sequence[str]


def notes_on(written: Sequence[Written]) -> RuleNotes:
    """The notes on these files, each once."""
    free, masked, others = dict[str, None](), dict[str, None](), dict[str, None]()
    for one in written:
        for tool, name, values in _values(one):
            rule = one.rules.of(tool, name)
            shown = f"{tool}.{name}"
            if any(map(is_masked, values)):
                masked[shown] = None
            elif rule.given == SAME_TYPE and _is_constant_text(values):
                free[shown] = None
            elif rule.given != EXACT and not one.rules.is_any_number(tool):
                others[f"{shown} {rule.text}"] = None
        others |= dict.fromkeys(f"{tool} any_number" for tool in one.rules.any_number)
    return RuleNotes(list(free), list(masked), list(others))


def _values(one: Written) -> Iterator[tuple[str, str, list[Any]]]:
    """Each argument of each tool, with all values that it had."""
    found: dict[tuple[str, str], list[Any]] = {}
    for trace in one.repeats:
        for call in calls_of(trace):
            for name, value in leaves(call.arguments or {}):
                found.setdefault((call.name, name), []).append(value)
    return ((tool, name, values) for (tool, name), values in found.items())


def _is_constant_text(values: Sequence[Any]) -> bool:
    return is_free_text(values[0]) and all(equal(value, values[0]) for value in values)
