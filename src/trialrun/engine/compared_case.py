"""One case in two runs: its verdicts, its measures, and how its behaviour differs.

Each later attempt is held to the earlier attempt that it is nearest to: what an agent did in any
earlier attempt is not a change. What is kept of a case is small, so that two runs of any size are
compared in the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from statistics import fmean
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun.engine.asked import Difference, difference
from trialrun.model.behaviour import Changes, changes, differing
from trialrun.model.comparison import CaseChange, CaseSide, Figures, Kind, LeftOut, Seen
from trialrun.redaction import is_masked
from trialrun.util.keys import key_of

FIGURES = ("cost_usd", "total_tokens", "duration_ms")

MOST_NEAREST = 20
"""Earlier attempts that behave differently, among which the nearest is searched: as many as a
baseline keeps. The work grows with the number of attempts, not with its square."""

Key = tuple[str, str]


class Means(Struct, frozen=True):
    """One measure of a case: the mean on each side, and the pairs of attempts that have it."""

    before: float
    after: float
    pairs: int


class ComparedCase(Struct, frozen=True, kw_only=True):
    """A case that both sides have. `behaves_differently` is None if that is not known.

    A side is silent if none of its paired attempts has a verdict. If no pair is left although
    neither side is silent, each side lacks verdicts in other attempts: both are listed then.
    """

    key: Key
    unlike: Difference
    kind: Kind = "changed"
    pairs: int = 0
    broke: int = 0
    fixed: int = 0
    worse: int = 0
    better: int = 0
    without_verdict: int = 0
    beyond: int = 0
    silent_before: LeftOut | None = None
    silent_after: LeftOut | None = None
    is_recorded: bool = True
    behaves_differently: bool | None = None
    means: dict[str, Means] = {}
    change: CaseChange | None = None

    @property
    def comparable(self) -> bool:
        """Whether the verdicts are by the same checks."""
        return not self.unlike.checks


def compare_case(key: Key, before: Sequence[Seen], after: Sequence[Seen]) -> ComparedCase:
    """What became of the case."""
    unlike = _unlike(before, after)
    if unlike.question is not None:
        return ComparedCase(key=key, unlike=unlike)
    both = list(zip(before, after, strict=False))
    pairs = [(old, new) for old, new in both if old.has_verdict and new.has_verdict]
    if not pairs:
        return _without_pairs(key, before, after, len(both), unlike)
    sides = _Sides(key, before, after, comparable=not unlike.checks)
    differing, change = sides.change()
    return ComparedCase(
        key=key,
        unlike=unlike,
        kind=sides.kind,
        pairs=len(pairs),
        broke=sum(old.passed and not new.passed for old, new in pairs),
        fixed=sum(new.passed and not old.passed for old, new in pairs),
        worse=sum(new.is_worse_than(old) for old, new in pairs),
        better=sum(old.is_worse_than(new) for old, new in pairs),
        without_verdict=len(both) - len(pairs),
        beyond=abs(len(before) - len(after)),
        is_recorded=_is_recorded(*pairs[0]),
        behaves_differently=differing,
        means=_means(pairs, sides, equal=len(before) == len(after)),
        change=change,
    )


def left_out(key: Key, attempts: Sequence[Seen], lost: bool = False) -> LeftOut:
    """A case that has no counterpart or no verdict, with the first error of its attempts."""
    errors = (seen.error for seen in attempts if seen.error)
    return LeftOut(suite=key[0], case=key[1], error=next(errors, None), lost=lost)


def has_verdict(attempts: Iterable[Seen]) -> bool:
    """Whether any attempt has one."""
    return any(seen.has_verdict for seen in attempts)


def _without_pairs(
    key: Key, before: Sequence[Seen], after: Sequence[Seen], paired: int, unlike: Difference
) -> ComparedCase:
    silent_before = not has_verdict(before[: paired or None])
    silent_after = not has_verdict(after[: paired or None])
    lost = left_out(key, after, lost=has_verdict(before))
    return ComparedCase(
        key=key,
        unlike=unlike,
        silent_before=left_out(key, before) if silent_before or not silent_after else None,
        silent_after=lost if silent_after or not silent_before else None,
    )


def _unlike(before: Sequence[Seen], after: Sequence[Seen]) -> Difference:
    """How the case differs in what was asked, in the first attempts that show a difference."""
    old_asked = {seen.fingerprint: seen.asked for seen in before if seen.has_verdict}
    new_asked = {seen.fingerprint: seen.asked for seen in after if seen.has_verdict}
    found = Difference()
    for old in old_asked.values():
        for new in new_asked.values():
            if old is None or new is None:
                continue
            one = difference(old, new)
            if one.question is not None or one.checks:
                return one
            found = one if one.stricter or one.loosened else found
    return found


def _is_recorded(old: Seen, new: Seen) -> bool:
    """Whether both sides say what was asked, or that it is the same."""
    same = bool(old.fingerprint) and old.fingerprint == new.fingerprint
    return same or (old.asked is not None and new.asked is not None)


class _Nearest(Struct, frozen=True):
    """A later attempt, by its index, and the earlier one that it is nearest to."""

    index: int
    old: Seen
    new: Seen
    behaviour: Changes | None
    knows_all: bool

    @property
    def stop(self) -> tuple[str, str] | None:
        return differing(self.old.stop, self.new.stop)

    @property
    def differs(self) -> bool:
        found = self.behaviour
        calls = found is not None and (
            found.missing or found.extra or found.moved or found.changed or found.model_calls
        )
        return bool(calls) or self.stop is not None or self.old.answer != self.new.answer


class _Sides:
    """The attempts at a case that have a verdict, on both sides."""

    def __init__(
        self, key: Key, before: Sequence[Seen], after: Sequence[Seen], comparable: bool
    ) -> None:
        self.key = key
        self.before = [seen for seen in before if seen.has_verdict]
        self.after = [seen for seen in after if seen.has_verdict]
        self._silent = len(before) - len(self.before), len(after) - len(self.after)
        self._numbered = [(index, seen) for index, seen in enumerate(after) if seen.has_verdict]
        # Equal attempts count once: the first of those with the same behaviour and answer.
        self._earlier: dict[bytes, dict[str | None, tuple[int, Seen]]] = {}
        self._beside: dict[int, tuple[bytes, Seen]] = {}
        for index, seen in enumerate(before):
            if seen.has_verdict:
                behaviour = _behaviour_key(seen)
                self._beside[index] = behaviour, seen
                self._earlier.setdefault(behaviour, {}).setdefault(seen.answer, (index, seen))
        self.newly_unknown = self._newly(self.before, self.after)
        self.kind = self._kind() if comparable else "changed"

    def _kind(self) -> Kind:
        # In integers: 1/3 and 2/6 are the same rate.
        fallen = _fall(self.before, self.after, lambda seen: int(seen.passed))
        if fallen:
            return "broke" if fallen > 0 else "fixed"
        signs = (
            _fall(self.before, self.after, lambda seen: seen.rank),
            self._silent[1] * len(self.before) - self._silent[0] * len(self.after),
            len(self.newly_unknown) - len(self._newly(self.after, self.before)),
        )
        sign = next((one for one in signs if one), 0)
        return "changed" if not sign else "worse" if sign > 0 else "better"

    @staticmethod
    def _newly(before: Sequence[Seen], after: Sequence[Seen]) -> list[str]:
        """Checks unknown in a later attempt and in no earlier one, where they were decided."""
        known = frozenset().union(*(seen.decided for seen in before))
        unknown = frozenset().union(*(seen.unknown for seen in before))
        return sorted(frozenset().union(*(seen.unknown for seen in after)) & known - unknown)

    def change(self) -> tuple[bool | None, CaseChange | None]:
        """Whether it behaves differently, and the case side by side if anything changed."""
        found = [self._nearest(index, seen) for index, seen in self._numbered]
        differing = sum(one.differs for one in found)
        shown = max(found, key=self._interest)
        change = CaseChange(
            suite=self.key[0],
            case=self.key[1],
            kind=self.kind,
            before=_case_side(self.before, shown.old),
            after=_case_side(self.after, shown.new),
            attempt=shown.index + 1,
            behaviour=shown.behaviour,
            stop=shown.stop,
            differing=differing,
            newly_unknown=self.newly_unknown,
        )
        is_same = not differing and not change.status_changed and self.kind == "changed"
        known = True if differing else None if not all(one.knows_all for one in found) else False
        return known, None if is_same else change

    def _interest(self, one: _Nearest) -> tuple[bool, bool, bool, bool]:
        """How well an attempt shows the change: same direction as the case, else any."""
        wanted = {"broke": not one.new.passed, "fixed": one.new.passed}
        found = one.behaviour
        return (
            wanted.get(self.kind, False),
            one.new.status is not one.old.status,
            found is not None and any(found.weight()),
            one.differs,
        )

    def _nearest(self, index: int, new: Seen) -> _Nearest:
        key = _behaviour_key(new)
        equal = self._earlier.get(key)
        if equal is None:
            candidates = [self._candidate(*one, index, new) for one in self._choice(index)]
            return min(candidates, key=lambda one: one[0])[1]
        of_same_number = self._beside.get(index)
        _, old = equal.get(new.answer) or next(iter(equal.values()))
        if of_same_number is not None and of_same_number[0] == key:
            beside = of_same_number[1]
            old = beside if beside.answer == new.answer or new.answer not in equal else old
        same = None if new.calls is None else Changes(matched=len(new.calls))
        return _Nearest(index, old, new, same, same is not None and _has_arguments(new))

    def _choice(self, index: int) -> list[tuple[int, Seen]]:
        """The earlier attempts to compare with: that of the same number, and different ones."""
        different = (one for answers in self._earlier.values() for one in answers.values())
        chosen = list(islice(different, MOST_NEAREST))
        if index in self._beside:
            chosen.insert(0, (index, self._beside[index][1]))
        return chosen

    def _candidate(
        self, place: int, old: Seen, index: int, new: Seen
    ) -> tuple[tuple[Any, ...], _Nearest]:
        found = _changes(old, new)
        weight: tuple[int, ...] = ()
        if found is not None:
            weight = (*found.weight(), len(found.changed), found.model_calls is not None)
        knows = found is not None and not (found.not_recorded or found.undecided)
        distance = (weight, old.answer != new.answer, place != index)
        return distance, _Nearest(index, old, new, found, knows)


def _fall(before: Sequence[Seen], after: Sequence[Seen], value: Callable[[Seen], int]) -> int:
    """Above 0 if the mean of the value fell, below 0 if it rose."""
    return sum(map(value, before)) * len(after) - sum(map(value, after)) * len(before)


def _changes(old: Seen, new: Seen) -> Changes | None:
    if old.calls is None or new.calls is None:
        return None
    any_number = [] if new.asked is None else new.asked.any_number()
    rules = old.rules.with_any_number(any_number)
    found = replace(
        changes(old.calls, new.calls, rules, is_masked),
        model_calls=differing(old.model_calls, new.model_calls),
    )
    if old.has_results and new.has_results:
        return found
    kept = [replace(call, result=None) for call in found.changed if call.arguments or call.error]
    return replace(found, changed=kept)


def _has_arguments(seen: Seen) -> bool:
    return all(call.arguments is not None for call in seen.calls or ())


def _behaviour_key(seen: Seen) -> bytes:
    """Equal for attempts that behave the same, apart from their answers."""
    calls = None
    if seen.calls is not None:
        calls = [
            (call.name, call.arguments, call.result, call.error, call.reply) for call in seen.calls
        ]
    return key_of([calls, seen.model_calls, seen.stop])


def _case_side(attempts: list[Seen], shown: Seen) -> CaseSide:
    return CaseSide(
        statuses=[seen.status.value for seen in attempts],
        rate=sum(seen.passed for seen in attempts) / len(attempts),
        answer=shown.answer,
        figures=Figures(*(_mean(getattr(seen, name) for seen in attempts) for name in FIGURES)),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean, or None if a value is missing: the others' mean would be of other attempts."""
    known = list(values)
    return None if None in known else fmean(value for value in known if value is not None)


def _means(pairs: Sequence[tuple[Seen, Seen]], sides: _Sides, equal: bool) -> dict[str, Means]:
    """The measures of the case, by name, also those that no pair has."""
    found = {}
    names = dict.fromkeys(name for pair in pairs for seen in pair for name in seen.metrics)
    for name in (*FIGURES, *names):
        known = [
            (old, new)
            for one, other in pairs
            if (old := _value(one, name)) is not None and (new := _value(other, name)) is not None
        ]
        olds, news = [old for old, _ in known], [new for _, new in known]
        if known and not equal:  # all attempts count, as they do for the rate
            olds = [one for seen in sides.before if (one := _value(seen, name)) is not None]
            news = [one for seen in sides.after if (one := _value(seen, name)) is not None]
        found[name] = Means(fmean(olds or [0]), fmean(news or [0]), len(known))
    return found


def _value(seen: Seen, name: str) -> float | None:
    found: float | None = getattr(seen, name) if name in FIGURES else seen.metrics.get(name)
    return found
