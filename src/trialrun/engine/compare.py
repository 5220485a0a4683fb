"""Compare two runs of the same cases: verdicts, measures, and each case that changed.

A case broke if its pass rate fell. The rate counts every attempt that has a verdict: a baseline is
one attempt, and three failures on the other side must all count. Whether the difference may be
chance is a separate question. For it, attempts are paired in order, and an attempt without a
counterpart is left out. If nothing changed, a pair that passes on only one side is a coin toss, so
the test is McNemar's over pairs. Pairs, not cases: a case that fails in ten of ten runs is more
evidence than one that failed once, and further runs could otherwise never settle the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import isclose
from statistics import fmean
from typing import Literal

from msgspec import Struct

from trialrun.engine.asked import Difference, difference
from trialrun.errors import NothingSelected
from trialrun.measures.comparison import (
    McNemar,
    bootstrap_interval,
    cases_needed,
    mcnemar,
    more_runs_needed,
    p_text,
    path_changes,
)
from trialrun.model.comparison import (
    ALPHA,
    CaseChange,
    CaseSide,
    Comparison,
    Figures,
    Judgement,
    LeftOut,
    MeasureChange,
    Seen,
    Side,
)

_FIGURES = ("cost_usd", "total_tokens", "duration_ms")
_POINTS = 0.05

# With five differences, all have the same sign one time in sixteen by chance, and the bootstrap
# interval then excludes 0 however many cases are equal. At a level of one in twenty, fewer than
# six differing cases show nothing.
_FEWEST = 6


class _Paired(Struct, frozen=True, kw_only=True):
    """A case that both sides have: its pairs of attempts with a verdict, and their numbers.

    A side is silent if none of its paired attempts has a verdict. If no pair is left although
    neither side is silent, each side lacks verdicts in other attempts: both are listed then.
    """

    key: tuple[str, str]
    before: list[Seen]  # all attempts with a verdict, paired or not
    after: list[Seen]
    numbers: list[int]
    pairs: list[tuple[Seen, Seen]]
    without_verdict: int
    beyond: int
    silent_before: bool
    silent_after: bool
    comparable: bool

    @property
    def kind(self) -> Literal["broke", "fixed", "changed"]:
        if not self.comparable:  # by other checks: a change, and neither better nor worse
            return "changed"
        # In integers: 1/3 and 2/6 are the same rate.
        fallen = _passes(self.before) * len(self.after) - _passes(self.after) * len(self.before)
        if fallen == 0:
            return "changed"
        return "broke" if fallen > 0 else "fixed"


def compare(before: Side, after: Side, directions: Mapping[str, bool | None]) -> Comparison:
    """What changed from `before` to `after`; `directions`: for which metrics higher is better."""
    common = [key for key in before.cases if key in after.cases]
    unlike = {key: _unlike(before.cases[key], after.cases[key]) for key in common}
    paired = [
        _pair(key, before.cases[key], after.cases[key], comparable=not unlike[key].checks)
        for key in common
        if unlike[key].question is None
    ]
    behaving = [case for case in paired if case.pairs]
    cases = [case for case in behaving if case.comparable]
    not_comparable = _not_comparable(unlike)
    if not behaving and not not_comparable:
        raise NothingSelected(_why_nothing(before, after, len(common)))
    pairs = [pair for case in cases for pair in case.pairs]
    pairs_broke = sum(old.passed and not new.passed for old, new in pairs)
    pairs_fixed = sum(new.passed and not old.passed for old, new in pairs)
    broke = sum(case.kind == "broke" for case in cases)
    fixed = sum(case.kind == "fixed" for case in cases)
    test = mcnemar(pairs_broke, pairs_fixed)
    sentence = _sentence(test, broke, fixed, len(cases), pairs_broke + pairs_fixed)
    if not_comparable:
        sentence = _without(sentence, len(not_comparable), len(cases))
    if pairs_broke + pairs_fixed and min(test.p_worse, test.p_better) >= ALPHA:
        runs = max(len(case.pairs) for case in cases)
        sentence += _what_would_settle_it(pairs_broke, pairs_fixed, len(pairs), runs)
    return Comparison(
        before=before.label,
        after=after.label,
        sentence=sentence,
        compared=len(cases),
        broke=broke,
        fixed=fixed,
        pairs=len(pairs),
        pairs_broke=pairs_broke,
        pairs_fixed=pairs_fixed,
        test=test,
        cases_needed=cases_needed((pairs_broke + pairs_fixed) / (len(pairs) or 1), _POINTS, ALPHA),
        measures=_measures(behaving, directions),
        changes=[change for case in behaving if (change := _change(case)) is not None],
        only_before=_only(before, after, could_be_lost=True),
        only_after=_only(after, before, could_be_lost=False),
        no_verdict_before=[
            _left_out(case.key, before.cases[case.key])
            for case in paired
            if not case.pairs and (case.silent_before or not case.silent_after)
        ],
        no_verdict_after=[
            _left_out(case.key, after.cases[case.key], lost=_has_verdict(before.cases[case.key]))
            for case in paired
            if not case.pairs and (case.silent_after or not case.silent_before)
        ],
        pairs_without_verdict=sum(case.without_verdict for case in cases),
        attempts_beyond=sum(case.beyond for case in cases),
        before_origin=before.origin,
        after_origin=after.origin,
        not_comparable=not_comparable,
        stricter=[
            LeftOut(suite=case.key[0], case=case.key[1], error=", ".join(found.stricter))
            for case in cases
            if (found := unlike[case.key]).stricter
        ],
        not_recorded=sum(not _is_recorded(case) for case in cases),
    )


def _pair(
    key: tuple[str, str], before: Sequence[Seen], after: Sequence[Seen], comparable: bool
) -> _Paired:
    pairs = list(zip(before, after, strict=False))
    numbers = [
        number
        for number, (old, new) in enumerate(pairs, start=1)
        if old.has_verdict and new.has_verdict
    ]
    return _Paired(
        key=key,
        before=[seen for seen in before if seen.has_verdict],
        after=[seen for seen in after if seen.has_verdict],
        numbers=numbers,
        pairs=[pairs[number - 1] for number in numbers],
        without_verdict=len(pairs) - len(numbers),
        beyond=abs(len(before) - len(after)),
        silent_before=not _has_verdict(before[: len(pairs) or None]),
        silent_after=not _has_verdict(after[: len(pairs) or None]),
        comparable=comparable,
    )


def _has_verdict(attempts: Iterable[Seen]) -> bool:
    return any(seen.has_verdict for seen in attempts)


def _passes(attempts: Iterable[Seen]) -> int:
    return sum(seen.passed for seen in attempts)


# What could not be compared.


def _unlike(before: Sequence[Seen], after: Sequence[Seen]) -> Difference:
    """How the case differs in what was asked, in the first attempts that show a difference."""
    distinct = {
        (old.fingerprint, new.fingerprint): (old.asked, new.asked)
        for old in before
        for new in after
        if old.has_verdict and new.has_verdict
    }
    found = Difference()
    for old, new in distinct.values():
        if old is None or new is None:
            continue
        one = difference(old, new)
        if one.question is not None or one.checks:
            return one
        found = one if one.stricter else found
    return found


def _is_recorded(case: _Paired) -> bool:
    """Whether both sides say what was asked, or that it is the same."""
    old, new = case.pairs[0]
    same = bool(old.fingerprint) and old.fingerprint == new.fingerprint
    return same or (old.asked is not None and new.asked is not None)


def _not_comparable(unlike: Mapping[tuple[str, str], Difference]) -> list[LeftOut]:
    reasons = {key: found.question or ", ".join(found.checks) for key, found in unlike.items()}
    return [
        LeftOut(suite=suite, case=case, error=reason)
        for (suite, case), reason in reasons.items()
        if reason
    ]


def _without(sentence: str, left_out: int, compared: int) -> str:
    """The sentence, with the number of cases whose verdicts do not count in it."""
    if not compared:
        all_of = "the one case was" if left_out == 1 else f"all {left_out} cases were"
        return f"not comparable: {all_of} asked or checked differently"
    verb = "is" if left_out == 1 else "are"
    return f"{sentence}; {_cases(left_out)} {verb} not comparable"


def _why_nothing(before: Side, after: Side, common: int) -> str:
    shared = "none in common" if not common else f"{common} in common, none with a verdict in both"
    return (
        f"nothing to compare: {before.label} has {_cases(len(before.cases))}, "
        f"{after.label} has {_cases(len(after.cases))}, {shared}; "
        "cases are matched by suite name and case name"
    )


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def _only(side: Side, other: Side, could_be_lost: bool) -> list[LeftOut]:
    return [
        _left_out(key, seen, lost=could_be_lost and _has_verdict(seen))
        for key, seen in side.cases.items()
        if key not in other.cases
    ]


def _left_out(key: tuple[str, str], attempts: Sequence[Seen], lost: bool = False) -> LeftOut:
    errors = (seen.error for seen in attempts if seen.error)
    return LeftOut(suite=key[0], case=key[1], error=next(errors, None), lost=lost)


# Verdicts.


def _sentence(test: McNemar, broke: int, fixed: int, total: int, differing: int) -> str:
    """The verdict in words; p belongs to the word before it, and is two-sided for `mixed`."""
    if not broke and not fixed:
        none = "the one case neither broke nor" if total == 1 else f"none of {total} cases broke or"
        return f"no difference in verdicts: {none} fixed"
    if not differing:
        word = "mixed" if broke and fixed else "worse" if broke else "better"
        return (
            f"{word}: {broke or 'none'} of {_cases(total)} broke, {fixed or 'none'} fixed, by "
            "attempts without a counterpart; equal numbers of both would show whether it is chance"
        )
    if test.p_worse < ALPHA or not fixed:
        fewer = fixed or "none"
        return f"worse: {broke} of {_cases(total)} broke, {fewer} fixed, {p_text(test.p_worse)}"
    if test.p_better < ALPHA or not broke:
        fewer = broke or "none"
        return f"better: {fixed} of {_cases(total)} fixed, {fewer} broke, {p_text(test.p_better)}"
    return f"mixed: {broke} of {_cases(total)} broke, {fixed} fixed, {p_text(test.p_two_sided)}"


def _what_would_settle_it(broke: int, fixed: int, pairs: int, runs: int) -> str:
    further = more_runs_needed(broke, fixed, ALPHA, runs=runs)
    if further is not None:
        runs_text = "one more run" if further == 1 else f"{further} more runs"
        return f"; {runs_text} of each would settle it"
    needed = cases_needed((broke + fixed) / pairs, _POINTS, ALPHA)
    difference = f"a difference of {_POINTS * 100:.0f} points"
    if needed <= pairs:
        return f"; {difference} would have been seen"
    return f"; about {needed} cases would be needed to see {difference}"


# Measures.


def _measures(cases: list[_Paired], directions: Mapping[str, bool | None]) -> list[MeasureChange]:
    figures = [_measure(name, cases, _figure(name), False) for name in _FIGURES]
    attempts = chain.from_iterable(chain.from_iterable(case.pairs) for case in cases)
    names = dict.fromkeys(name for seen in attempts for name in seen.metrics)
    return figures + [_measure(name, cases, _metric(name), directions.get(name)) for name in names]


def _figure(name: str) -> Callable[[Seen], float | None]:
    return lambda seen: getattr(seen, name)


def _metric(name: str) -> Callable[[Seen], float | None]:
    return lambda seen: seen.metrics.get(name)


def _measure(
    name: str,
    cases: list[_Paired],
    value: Callable[[Seen], float | None],
    higher_is_better: bool | None,
) -> MeasureChange:
    """Compare one measure. A case counts once, by its mean: ten attempts are not ten cases."""
    before, after, pairs = [], [], 0
    for case in cases:
        values = [(value(old), value(new)) for old, new in case.pairs]
        known = [(old, new) for old, new in values if old is not None and new is not None]
        if known:
            pairs += len(known)
            before.append(fmean(old for old, _ in known))
            after.append(fmean(new for _, new in known))
    differences = [_difference(old, new) for old, new in zip(before, after, strict=True)]
    interval = bootstrap_interval(differences)
    return MeasureChange(
        name=name,
        before=fmean(before) if before else None,
        after=fmean(after) if after else None,
        difference=fmean(differences) if differences else None,
        interval=interval,
        cases=len(differences),
        differing=_differing(differences),
        pairs=pairs,
        missing=sum(len(case.pairs) for case in cases) - pairs,
        higher_is_better=higher_is_better,
        judgement=_judgement(differences, interval, higher_is_better),
    )


def _difference(before: float, after: float) -> float:
    """The difference, 0 if only rounding differs: 1e-17 dollars in every case is not a rise."""
    return 0.0 if isclose(before, after, rel_tol=1e-9) else after - before


def _differing(differences: list[float]) -> int:
    return sum(difference != 0 for difference in differences)


def _judgement(
    differences: list[float], interval: tuple[float, float] | None, higher_is_better: bool | None
) -> Judgement:
    if interval is None or len(differences) < _FEWEST:
        return "unknown"
    low, high = interval
    if low <= 0 <= high or _differing(differences) < _FEWEST:
        return "no clear difference"
    if higher_is_better is None:
        return "changed"
    return "better" if (low > 0) is higher_is_better else "worse"


# Cases.


def _change(case: _Paired) -> CaseChange | None:
    """The case side by side, or None if verdicts, answers and paths are the same."""
    shown = _shown(case)
    old, new = case.pairs[shown]
    change = CaseChange(
        suite=case.key[0],
        case=case.key[1],
        kind=case.kind,
        before=_case_side(case.before, old),
        after=_case_side(case.after, new),
        attempt=case.numbers[shown],
        path_changes=_path_changes(old, new),
    )
    same = not change.status_changed and not change.answer_changed and not change.path_changes
    return None if same else change


def _shown(case: _Paired) -> int:
    """The index of the pair that shows the change best: same direction as the case, else any."""
    kind = case.kind

    def interest(position: int) -> int:
        old, new = case.pairs[position]
        if kind != "changed" and old.passed is (kind == "broke") and new.passed is not old.passed:
            return 3
        if old.status is not new.status:
            return 2
        return 1 if old.answer != new.answer or _path_changes(old, new) else 0

    return max(range(len(case.pairs)), key=interest)


def _path_changes(before: Seen, after: Seen) -> list[str] | None:
    if before.path is None or after.path is None:
        return None
    return path_changes(before.path, after.path)


def _case_side(attempts: list[Seen], shown: Seen) -> CaseSide:
    return CaseSide(
        statuses=[seen.status.value for seen in attempts],
        rate=_passes(attempts) / len(attempts),
        answer=shown.answer,
        figures=Figures(*(_mean(getattr(seen, name) for seen in attempts) for name in _FIGURES)),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean, or None if a value is missing: the others' mean would be of other attempts."""
    known = list(values)
    return None if None in known else fmean(value for value in known if value is not None)
