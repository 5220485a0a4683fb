"""What an agent did, call by call, and how two runs of a case differ in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from trialrun.measures.alignment import Alignment, align
from trialrun.measures.arguments import MISSING
from trialrun.model.argument_rules import EXACT, NO_RULES, Rules, same_value
from trialrun.model.calls import (
    LONGEST_VALUE,
    Call,
    called,
    calls_of,
    corrections,
    error_of,
    json_text,
    leaves,
    settled,
    short_text,
)
from trialrun.model.paths import PathStep, aligned_path
from trialrun.util.keys import key_of

__all__ = [
    "ArgumentChange",
    "Call",
    "CallChange",
    "Changes",
    "called",
    "calls_of",
    "changes",
    "error_of",
    "leaves",
    "pairs_of",
    "short_text",
]

_SHOWN_BEFORE = 15  # characters of long texts before the place where they differ


class ArgumentChange(Struct, frozen=True, omit_defaults=True):
    """An argument that differs: its values as short texts, None where it was not given.

    `at` is the first place in a list that differs (`[1].date`): the values are those at that place,
    and `more` says how many further places differ.
    """

    name: str
    before: str | None
    after: str | None
    rule: str = EXACT
    at: str = ""
    more: int = 0

    def __str__(self) -> str:
        name = f"{self.name}{self.at}"
        more = f" and {self.more} more" if self.more else ""
        if self.before is None:
            return f"{name} {self.after} added{more}"
        if self.after is None:
            return f"{name} {self.before} left out{more}"
        return f"{name} {self.before} → {self.after}{more}"


class CallChange(Struct, frozen=True, omit_defaults=True):
    """A call that both runs made, and how it differs."""

    name: str
    steps: tuple[str, str]
    arguments: Sequence[ArgumentChange] = ()
    result: tuple[str, str] | None = None
    error: tuple[str | None, str | None] | None = None

    @property
    def fails_now(self) -> bool:
        """Whether the call succeeded before and fails now."""
        return self.error is not None and self.error[0] is None


class Changes(Struct, frozen=True, omit_defaults=True):
    """How the calls of a run differ from those of another. Names with their arguments, shortened.

    `moved` are calls that changed places with calls of other replies. `not_recorded` are calls
    whose arguments one of the runs did not record, `not_compared` calls of a kind (handoffs,
    retrievals) that the other run did not record, `undecided` arguments that were masked, or whose
    pattern took too long to search, `unsettled` calls of which the outcome was not recorded.
    `path` is the later run as an edit script, where anything differs; `model_calls` is how many
    calls of models each run made, without those for a call that failed and was corrected, and
    `ended` is how it ended, where that is known and differs.
    """

    matched: int = 0
    changed: Sequence[CallChange] = ()
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()
    moved: Sequence[str] = ()
    not_recorded: Sequence[str] = ()
    not_compared: Sequence[str] = ()
    undecided: Sequence[str] = ()
    unsettled: Sequence[str] = ()
    path: Sequence[PathStep] = ()
    model_calls: tuple[int, int] | None = None
    ended: tuple[str, str] | None = None

    @property
    def arguments(self) -> list[str]:
        """The changed arguments, one text for each call."""
        return [
            f"{call.name}: {', '.join(map(str, call.arguments))}"
            for call in self.changed
            if call.arguments
        ]

    @property
    def failures(self) -> list[str]:
        """The calls that succeeded before and fail now."""
        return [
            f"{call.name} fails now: {(call.error or ('', ''))[1]}"
            for call in self.changed
            if call.fails_now
        ]

    def weight(self) -> tuple[int, ...]:
        """How much differs, worst first: to choose among several runs the one that is nearest."""
        return (
            len(self.missing) + len(self.extra),
            len(self.failures),
            sum(len(call.arguments) for call in self.changed),
            len(self.moved),
        )


# Two runs


def changes(
    before: Sequence[Call],
    after: Sequence[Call],
    rules: Rules = NO_RULES,
    is_hidden: Callable[[Any], bool] = lambda value: False,
    corrected: Collection[str] = (),
) -> Changes:
    """How the later calls differ from the earlier ones, by the rules for arguments.

    Values that are hidden in the earlier run (a secret was masked) are not compared. Of the tools
    in `corrected`, failed calls that the agent corrected are neither missing nor extra.
    """
    before, after = settled(before, rules), settled(after, rules)
    free = {name for name in {call.name for call in (*before, *after)} if rules.is_any_number(name)}
    old = [call for call in before if call.name not in free]
    new = [call for call in after if call.name not in free]
    compare = _Comparison(old, new, rules, is_hidden)
    found = compare.aligned()
    changed, not_recorded, undecided = [], [], []
    differing = []
    for i, j in found.pairs:
        one, other = old[i], new[j]
        if one.arguments is None or other.arguments is None:
            not_recorded.append(one.name)
        broken, unsure = compare.arguments(i, j)
        undecided += [f"{one.name}: {name}" for name in unsure]
        shown = [
            _argument_change(name, rules.of(one.name, name).text, *pair) for name, *pair in broken
        ]
        difference = _change(one, other, shown)
        if difference is not None:
            changed.append(difference)
            differing.append(j)
    return Changes(
        matched=len(found.pairs),
        changed=(*changed, *_new_failures(before, after, free)),
        missing=_left_over(old, found.missing, corrected),
        extra=_left_over(new, found.extra, corrected),
        moved=[new[j].name for _, j in sorted(found.moved)],
        not_recorded=not_recorded,
        undecided=undecided,
        path=_path(old, new, found, differing),
        unsettled=[
            *(old[i].name for i, j in found.pairs if old[i].pending or new[j].pending),
            *(call.name for call in after if call.pending and call.name in free),
        ],
    )


Fact = TypeVar("Fact", int, str)


def differing(before: Fact | None, after: Fact | None) -> tuple[Fact, Fact] | None:
    """Both values, where both are known and differ."""
    if before is None or after is None or before == after:
        return None
    return before, after


def _path(
    old: Sequence[Call], new: Sequence[Call], found: Alignment, differing: Sequence[int]
) -> Sequence[PathStep]:
    if not (found.missing or found.extra or found.moved or differing):
        return ()
    names = [[call.name for call in calls] for calls in (old, new)]
    return aligned_path(names[0], names[1], found, differing)


def _left_over(
    calls: Sequence[Call], indexes: Sequence[int], corrected: Collection[str]
) -> list[str]:
    """The calls at these places that count as missing or extra, each as a text."""
    free = {index for index, tool in corrections(calls) if tool in corrected} if corrected else ()
    counted = [calls[index] for index in indexes if index not in free]
    return [f"{called(call)}{'' if call.error is None else ' (failed)'}" for call in counted]


def pairs_of(before: Sequence[Call], after: Sequence[Call]) -> list[tuple[int, int]]:
    """The positions of the calls that both runs made."""
    return list(_Comparison(before, after, NO_RULES, lambda value: False).aligned().pairs)


def aligned(
    before: Sequence[Call],
    after: Sequence[Call],
    rules: Rules,
    is_hidden: Callable[[Any], bool],
) -> Alignment:
    """Which calls of the two runs belong together, by the rules for arguments."""
    return _Comparison(before, after, rules, is_hidden).aligned()


class _Comparison:
    """Two lists of calls whose arguments are taken apart once, and compared many times."""

    def __init__(
        self,
        old: Sequence[Call],
        new: Sequence[Call],
        rules: Rules,
        is_hidden: Callable[[Any], bool],
    ) -> None:
        self._old, self._new = old, new
        self._rules, self._is_hidden = rules, is_hidden
        self._old_leaves, self._new_leaves = (
            [None if call.arguments is None else dict(leaves(call.arguments)) for call in side]
            for side in (old, new)
        )
        self._old_keys, self._new_keys = (
            [key_of([call.name, call.arguments]) for call in side] for side in (old, new)
        )

    def aligned(self) -> Alignment:
        """The best pairs of calls."""
        old, new = self._old, self._new
        return align(
            [call.name for call in old],
            [call.name for call in new],
            lambda i, j: len(self.arguments(i, j)[0]),
            ([call.reply for call in old], [call.reply for call in new]),
            (self._old_keys, self._new_keys),
            lambda i, j: (old[i].error is None) is not (new[j].error is None),
        )

    def arguments(self, i: int, j: int) -> tuple[list[tuple[str, Any, Any]], list[str]]:
        """The arguments that differ, with both values, and the names of the undecided ones."""
        old, new = self._old_leaves[i], self._new_leaves[j]
        if old is None or new is None or self._old_keys[i] == self._new_keys[j]:
            return [], []
        tool = self._old[i].name
        broken, undecided = [], []
        for name in dict.fromkeys((*old, *new)):
            before, after = old.get(name, MISSING), new.get(name, MISSING)
            allowed = self._rules.of(tool, name).allows(before, after)
            if allowed or self._is_hidden(before):
                continue
            if allowed is None or self._is_hidden(after):
                undecided.append(name)
            else:
                broken.append((name, before, after))
        return broken, undecided


def _new_failures(
    before: Sequence[Call], after: Sequence[Call], free: Collection[str]
) -> Iterator[CallChange]:
    """Tools that may be called any number of times, and that fail only now."""
    failed = {call.name for call in before if call.error is not None}
    known = {call.name: call for call in before}
    for call in after:
        if call.error is not None and call.name in free and call.name not in failed:
            failed.add(call.name)
            earlier = known.get(call.name)
            steps = ("" if earlier is None else earlier.step, call.step)
            yield CallChange(call.name, steps, error=(None, call.error))


def _change(one: Call, other: Call, arguments: Sequence[ArgumentChange]) -> CallChange | None:
    error = None
    if (one.error is None) is not (other.error is None):
        error = one.error, other.error
    result = None
    known = one.result is not None and other.result is not None  # else perhaps not recorded
    if known and not same_value(one.result, other.result):
        result = short_text(one.result), short_text(other.result)
    if not arguments and error is None and result is None:
        return None
    return CallChange(one.name, (one.step, other.step), arguments, result, error)


def _argument_change(name: str, rule: str, before: Any, after: Any) -> ArgumentChange:
    places = list(_places(before, after, "")) if rule == EXACT else []
    if not places or places[0][0] == "":
        return ArgumentChange(name, *_pair_text(before, after), rule)
    at, *pair = places[0]
    return ArgumentChange(name, *_pair_text(*pair), rule, at, len(places) - 1)


def _places(before: Any, after: Any, at: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ: lists of the same length item by item, objects key by key."""
    if len(at) > LONGEST_VALUE:
        yield at, before, after
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _places(one, other, f"{at}[{index}]")
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            pair = before.get(key, MISSING), after.get(key, MISSING)
            yield from _places(*pair, f"{at}.{key}")
    elif before is MISSING or after is MISSING or not same_value(before, after):
        yield at, before, after


def _pair_text(before: Any, after: Any) -> tuple[str | None, str | None]:
    """Both values, shortened; long ones that begin alike from where they differ."""
    texts = [None if one is MISSING else short_text(one) for one in (before, after)]
    if texts[0] != texts[1]:
        return texts[0], texts[1]
    long = [one if isinstance(one, str) else json_text(one) for one in (before, after)]
    pairs = zip(*long, strict=False)
    differ = next((at for at, (a, b) in enumerate(pairs) if a != b), min(map(len, long)))
    start = max(0, differ - _SHOWN_BEFORE)
    return _shown_from(long[0], start), _shown_from(long[1], start)


def _shown_from(text: str, start: int) -> str:
    """The text from a place on, with its white space: "12" and "12 " differ in nothing else."""
    rest = ("…" if start else "") + text[start:]
    cut = rest if len(rest) <= LONGEST_VALUE else rest[:LONGEST_VALUE] + "…"
    return f'"{cut if cut.isprintable() else json_text(cut)[1:-1]}"'
