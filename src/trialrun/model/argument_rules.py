"""The rules by which an argument of a run is compared with that of its baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from math import isfinite
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from trialrun.measures import patterns
from trialrun.measures.arguments import MISSING, equal
from trialrun.util.keys import key_of

Word = Literal["exact", "same_type", "ignore", "same_set"]
EXACT: Word = "exact"
SAME_TYPE: Word = "same_type"
IGNORE: Word = "ignore"
SAME_SET: Word = "same_set"


class Bound(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`{regex: …}`: the pattern is found in the text; `{within: …}`: the number is this near.

    The distance is that from the number in the baseline.
    """

    regex: Annotated[str, Meta(min_length=1)] | None = None
    within: Annotated[float, Meta(ge=0)] | None = None

    def __post_init__(self) -> None:
        if (self.regex is None) is (self.within is None):
            raise ValueError("give `regex` or `within`")


RuleText = Word | Bound


class Rule(Struct, frozen=True):
    """One rule; `text` is how it is written in a baseline file."""

    given: RuleText

    @property
    def text(self) -> str:
        """`exact`, `within 5`, `regex ^ord_`."""
        if not isinstance(self.given, Bound):
            return self.given
        within = self.given.within
        return f"regex {self.given.regex}" if within is None else f"within {within:g}"

    def allows(self, before: Any, after: Any) -> bool | None:
        """Whether the new value may take the place of the old one.

        None if a pattern hit its time limit.
        """
        rule = self.given
        if rule == IGNORE:
            return True
        if before is MISSING or after is MISSING:
            return before is after
        if isinstance(rule, Bound):
            return _is_within(rule, before, after)
        if rule == SAME_TYPE:
            return kind_of(before) == kind_of(after)
        if rule == SAME_SET and isinstance(before, list) and isinstance(after, list):
            return _counted(before) == _counted(after)
        return same_value(before, after)


class Rules(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a run is compared with a baseline.

    `arguments` has the rule of each argument by tool and path; those without one are exact. Tools
    that `any_number` names (globs) may be called any number of times, none included.
    """

    arguments: Mapping[str, Mapping[str, RuleText]] = {}
    any_number: Sequence[str] = ()

    def of(self, tool: str, argument: str) -> Rule:
        """The rule of this argument."""
        return Rule(self.arguments.get(tool, {}).get(argument, EXACT))

    def is_any_number(self, tool: str) -> bool:
        """Whether the tool may be called any number of times."""
        return any(fnmatchcase(tool, glob) for glob in self.any_number)

    def with_any_number(self, globs: Sequence[str]) -> Rules:
        """The same rules, with further tools that may be called any number of times."""
        return Rules(self.arguments, (*self.any_number, *globs)) if globs else self


NO_RULES = Rules()
"""Every argument is exact, and every call counts."""


def kind_of(value: Any) -> str:
    """The JSON type of a value; whole and other numbers are the same type.

    JSON has no NaN and no infinite number: a file has null in their place.
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, (int, float)):
        return "number" if isinstance(value, int) or isfinite(value) else "null"
    names: dict[type, str] = {str: "text", list: "list", tuple: "list", dict: "object"}
    kind = type(value)
    return names.get(kind, kind.__name__)


def _is_within(bound: Bound, before: Any, after: Any) -> bool | None:
    if bound.regex is not None:
        return isinstance(after, str) and patterns.search(bound.regex, after)
    if kind_of(before) == kind_of(after) == "number":
        try:
            return bool(abs(after - before) <= (bound.within or 0) + 1e-9)
        except OverflowError:  # a whole number of hundreds of digits, and a fraction
            return False
    return same_value(before, after)


def same_value(before: Any, after: Any) -> bool:
    """Whether the values are equal, as JSON: 1 equals 1.0, NaN is null."""
    return equal(after, before) or key_of(before) == key_of(after)


def _counted(items: Sequence[Any]) -> Counter[bytes]:
    """How often each item occurs; 1 and 1.0 are the same item."""
    return Counter(key_of(_whole(item)) for item in items)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Rules from what varied


_FREE_TEXT_WORDS = 4


def proposed(values: Sequence[Any]) -> RuleText:
    """The rule for an argument that had these values in passing repeats (MISSING: not given).

    Values of different types are looked at type by type: a run is compared with every repeat, so
    that each type, and leaving the argument out, is allowed where a repeat shows it. `ignore` would
    hide any value. A text beside a list is often that list as text, so it is not a free text.
    """
    by_kind: dict[str, list[Any]] = {}
    for value in values:
        if value is not MISSING:
            by_kind.setdefault(kind_of(value), []).append(value)
    if len(by_kind) == 1 and any(map(is_free_text, values)):
        return SAME_TYPE
    return max(map(_of_one_kind, by_kind.values()), key=_PROPOSED.index, default=EXACT)


_PROPOSED = [EXACT, SAME_SET, SAME_TYPE]  # the stricter first


def _of_one_kind(values: Sequence[Any]) -> Word:
    varied = any(not same_value(value, values[0]) for value in values)
    if varied and isinstance(values[0], list):
        same = {frozenset(_counted(one).items()) for one in values}
        return SAME_SET if len(same) == 1 else SAME_TYPE
    return SAME_TYPE if varied else EXACT


def is_free_text(value: Any) -> bool:
    """Whether the value is a text of several words, which a model words differently each time."""
    return isinstance(value, str) and len(value.split()) >= _FREE_TEXT_WORDS
