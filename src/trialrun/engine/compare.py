"""Compare two runs of the same cases: verdicts, measures, and each case that changed.

A case broke if its pass rate fell. The rate counts every attempt that has a verdict: a baseline may
be one attempt, and three failures on the other side must all count. At the same rate, more
warnings, unknown checks or attempts without a verdict are worse. Whether the difference may be
chance is a separate question. For it, attempts are paired in order, and an attempt without a
counterpart is left out. If nothing changed, a pair in which one side is worse is a coin toss, so
the test is McNemar's over pairs. Pairs, not cases: a case that fails in ten of ten runs is more
evidence than one that failed once, and further runs could otherwise never settle the question.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from statistics import fmean

from trialrun.engine.compared_case import (
    FIGURES,
    ComparedCase,
    compare_case,
    has_verdict,
    left_out,
)
from trialrun.engine.comparison_sides import Key, LazyCases
from trialrun.errors import NothingSelected
from trialrun.measures.comparison import (
    McNemar,
    bootstrap_interval,
    cases_needed,
    mcnemar,
    more_runs_needed,
    p_text,
)
from trialrun.model.comparison import (
    ALPHA,
    CaseChange,
    Comparison,
    Judgement,
    LeftOut,
    Loosened,
    MeasureChange,
    Seen,
    Side,
)
from trialrun.store.rows import chunks

Cases = Mapping[Key, Sequence[Seen]]

_POINTS = 0.05
_READ_AT_ONCE = 64

# With five differences, all have the same sign one time in sixteen by chance, and the bootstrap
# interval then excludes 0 however many cases are equal. At a level of one in twenty, fewer than
# six differing cases show nothing.
_FEWEST = 6


def compare(before: Side, after: Side, directions: Mapping[str, bool | None]) -> Comparison:
    """What changed from `before` to `after`; `directions`: for which metrics higher is better."""
    counts = _Counts()
    measures = _Measures()
    for key, old, new in _in_both(before.cases, after.cases):
        case = compare_case(key, old, new)
        counts.add(case)
        measures.add(case)
    if not counts.behaving and not counts.not_comparable:
        raise NothingSelected(_why_nothing(before, after, counts.common))
    only_before = _only(before, after, could_be_lost=True)
    test = mcnemar(counts.pairs_worse, counts.pairs_better)
    differing = counts.pairs_worse + counts.pairs_better
    return Comparison(
        before=before.label,
        after=after.label,
        sentence=counts.sentence(test),
        loosened=[*counts.loosened, *map(_removed, only_before)],
        compared=counts.compared,
        broke=counts.kinds["broke"],
        fixed=counts.kinds["fixed"],
        got_worse=counts.kinds["worse"],
        got_better=counts.kinds["better"],
        behave_differently=counts.behave_differently,
        behaviour_unknown=counts.behaviour_unknown,
        pairs=counts.pairs,
        pairs_broke=counts.pairs_broke,
        pairs_fixed=counts.pairs_fixed,
        pairs_worse=counts.pairs_worse,
        pairs_better=counts.pairs_better,
        test=test,
        cases_needed=cases_needed(differing / (counts.pairs or 1), _POINTS, ALPHA),
        measures=measures.changes(directions),
        changes=counts.changes,
        only_before=only_before,
        only_after=_only(after, before, could_be_lost=False),
        no_verdict_before=counts.no_verdict_before,
        no_verdict_after=counts.no_verdict_after,
        pairs_without_verdict=counts.pairs_without_verdict,
        attempts_beyond=counts.attempts_beyond,
        before_origin=before.origin,
        after_origin=after.origin,
        not_comparable=counts.not_comparable,
        stricter=counts.stricter,
        not_recorded=counts.not_recorded,
    )


def _in_both(before: Cases, after: Cases) -> Iterator[tuple[Key, Sequence[Seen], Sequence[Seen]]]:
    """The cases that both sides have, with their attempts, which are read some at a time."""
    for keys in chunks(iter(before), _READ_AT_ONCE):
        both = [key for key in keys if key in after]
        old, new = _attempts(before, both), _attempts(after, both)
        for key in both:
            yield key, old[key], new[key]


def _attempts(cases: Cases, keys: Sequence[Key]) -> Cases:
    return cases.several(keys) if isinstance(cases, LazyCases) else cases


class _Counts:
    """What is counted and listed, case by case."""

    def __init__(self) -> None:
        self.common = self.compared = self.behaving = 0
        self.behave_differently = self.behaviour_unknown = 0
        self.pairs = self.most_pairs = 0
        self.pairs_broke = self.pairs_fixed = self.pairs_worse = self.pairs_better = 0
        self.pairs_without_verdict = self.attempts_beyond = self.not_recorded = 0
        self.kinds = dict.fromkeys(("broke", "worse", "fixed", "better", "changed"), 0)
        self.changes: list[CaseChange] = []
        self.loosened: list[Loosened] = []
        self.not_comparable: list[LeftOut] = []
        self.stricter: list[LeftOut] = []
        self.no_verdict_before: list[LeftOut] = []
        self.no_verdict_after: list[LeftOut] = []

    def add(self, case: ComparedCase) -> None:
        """Count one more case that both sides have."""
        self.common += 1
        suite, name = case.key
        unlike = case.unlike
        if unlike.loosened:
            self.loosened.append(Loosened(suite=suite, case=name, what=list(unlike.loosened)))
        reason = unlike.question or ", ".join(unlike.checks)
        if reason:
            self.not_comparable.append(LeftOut(suite=suite, case=name, error=reason))
        for silent, listed in (
            (case.silent_before, self.no_verdict_before),
            (case.silent_after, self.no_verdict_after),
        ):
            if silent is not None:
                listed.append(silent)
        if case.pairs:
            self._add_behaviour(case)
            if case.comparable:
                self._add_verdicts(case)

    def _add_behaviour(self, case: ComparedCase) -> None:
        self.behaving += 1
        self.behave_differently += case.behaves_differently is True
        self.behaviour_unknown += case.behaves_differently is None
        if case.change is not None:
            self.changes.append(case.change)

    def _add_verdicts(self, case: ComparedCase) -> None:
        self.compared += 1
        self.kinds[case.kind] += 1
        self.pairs += case.pairs
        self.most_pairs = max(self.most_pairs, case.pairs)
        self.pairs_broke += case.broke
        self.pairs_fixed += case.fixed
        self.pairs_worse += case.worse
        self.pairs_better += case.better
        self.pairs_without_verdict += case.without_verdict
        self.attempts_beyond += case.beyond
        self.not_recorded += not case.is_recorded
        if case.unlike.stricter:
            text = ", ".join(case.unlike.stricter)
            self.stricter.append(LeftOut(suite=case.key[0], case=case.key[1], error=text))

    def sentence(self, test: McNemar) -> str:
        """What the comparison shows, in words."""
        left = len(self.not_comparable)
        if left and not self.compared:
            all_of = "the one case was" if left == 1 else f"all {left} cases were"
            parts = [f"not comparable: {all_of} asked or checked differently"]
        else:
            parts = [self._verdict(test)]
        if self.behave_differently:
            verb = "behaves" if self.behave_differently == 1 else "behave"
            parts.append(f"{_cases(self.behave_differently)} {verb} differently")
        if left and self.compared:
            parts.append(f"{_cases(left)} {'is' if left == 1 else 'are'} not comparable")
        return "; ".join(parts)

    def _verdict(self, test: McNemar) -> str:
        """p belongs to the word before it, and is two-sided for `mixed`."""
        total = self.compared
        worse = self.kinds["broke"] + self.kinds["worse"]
        better = self.kinds["fixed"] + self.kinds["better"]
        if not worse and not better:
            one = "the one case neither broke nor"
            none = one if total == 1 else f"none of {total} cases broke or"
            return f"no difference in verdicts: {none} fixed"
        word = "mixed" if worse and better else "worse" if worse else "better"
        if test.p_worse < ALPHA and self.pairs_worse > self.pairs_better and worse:
            word = "worse"
        elif test.p_better < ALPHA and self.pairs_better > self.pairs_worse and better:
            word = "better"
        text = f"{word}: {self._numbers(word)}"
        agree = {
            "worse": self.pairs_worse > self.pairs_better,
            "better": self.pairs_better > self.pairs_worse,
            "mixed": self.pairs_worse + self.pairs_better > 0,
        }
        if not agree[word]:
            # A p value of pairs that say otherwise would contradict the sentence.
            equal = "equal numbers of both would show whether it is chance"
            return f"{text}, by attempts without a counterpart; {equal}"
        chances = {"worse": test.p_worse, "better": test.p_better, "mixed": test.p_two_sided}
        text = f"{text}, {p_text(chances[word])}"
        if min(test.p_worse, test.p_better) < ALPHA:
            return text
        pairs = self.pairs_worse, self.pairs_better, self.pairs
        return text + _what_would_settle_it(*pairs, self.most_pairs)

    def _numbers(self, word: str) -> str:
        """`4 of 60 cases broke, none fixed, 2 with new warnings or unknown checks`."""
        total = _cases(self.compared)
        broke, fixed = self.kinds["broke"], self.kinds["fixed"]
        first, second = (broke, "broke"), (fixed, "fixed")
        if word == "better":
            first, second = second, first
        parts = [
            f"{first[0] or 'none'} of {total} {first[1]}",
            f"{second[0] or 'none'} {second[1]}",
        ]
        if self.kinds["worse"]:
            parts.append(f"{self.kinds['worse']} with new warnings or unknown checks")
        if self.kinds["better"]:
            parts.append(f"{self.kinds['better']} with fewer warnings or unknown checks")
        return ", ".join(parts)


# What could not be compared.


def _removed(case: LeftOut) -> Loosened:
    return Loosened(suite=case.suite, case=case.case, what=["the case is not in the later run"])


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
        left_out(key, seen := side.cases[key], lost=could_be_lost and has_verdict(seen))
        for key in side.cases
        if key not in other.cases
    ]


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


class _Measures:
    """The means of each measure, case by case: two numbers each.

    A case counts once, by its mean: ten attempts are not ten cases.
    """

    def __init__(self) -> None:
        self._before: dict[str, array[float]] = {name: array("d") for name in FIGURES}
        self._after: dict[str, array[float]] = {name: array("d") for name in FIGURES}
        self._pairs: dict[str, int] = dict.fromkeys(FIGURES, 0)
        self._all_pairs = 0

    def add(self, case: ComparedCase) -> None:
        """Add the measures of one more case."""
        self._all_pairs += case.pairs
        for name, means in case.means.items():
            before = self._before.setdefault(name, array("d"))
            after = self._after.setdefault(name, array("d"))
            self._pairs.setdefault(name, 0)
            if means.pairs:
                self._pairs[name] += means.pairs
                before.append(means.before)
                after.append(means.after)

    def changes(self, directions: Mapping[str, bool | None]) -> list[MeasureChange]:
        """Each measure before and after; cost, tokens and time come first."""
        better = {**directions, **dict.fromkeys(FIGURES, False)}
        return [self._change(name, better.get(name)) for name in self._before]

    def _change(self, name: str, higher_is_better: bool | None) -> MeasureChange:
        before, after = self._before[name], self._after[name]
        differences = list(self._differences(name))
        interval = bootstrap_interval(differences)
        return MeasureChange(
            name=name,
            before=fmean(before) if before else None,
            after=fmean(after) if after else None,
            difference=fmean(differences) if differences else None,
            interval=interval,
            cases=len(differences),
            differing=_differing(differences),
            pairs=self._pairs[name],
            missing=self._all_pairs - self._pairs[name],
            higher_is_better=higher_is_better,
            judgement=_judgement(differences, interval, higher_is_better),
        )

    def _differences(self, name: str) -> Iterator[float]:
        for old, new in zip(self._before[name], self._after[name], strict=True):
            yield _difference(old, new)


def _difference(before: float, after: float) -> float:
    """The difference, 0 if only rounding differs: 1e-17 dollars in every case is not a rise."""
    return 0.0 if isclose(before, after, rel_tol=1e-9) else after - before


def _differing(differences: Sequence[float]) -> int:
    return sum(difference != 0 for difference in differences)


def _judgement(
    differences: Sequence[float],
    interval: tuple[float, float] | None,
    higher_is_better: bool | None,
) -> Judgement:
    if interval is None or len(differences) < _FEWEST:
        return "unknown"
    low, high = interval
    if low <= 0 <= high or _differing(differences) < _FEWEST:
        return "no clear difference"
    if higher_is_better is None:
        return "changed"
    return "better" if (low > 0) is higher_is_better else "worse"
