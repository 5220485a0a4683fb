"""A comparison of two runs: the attempts of each, and what changed from one to the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from trialrun.errors import UsageError
from trialrun.measures.comparison import McNemar
from trialrun.model.argument_rules import NO_RULES, Rules
from trialrun.model.asked import Asked
from trialrun.model.behaviour import Call, Changes
from trialrun.model.results import LayerStatus
from trialrun.model.withheld import Withheld

ALPHA = 0.05
"""The significance level: a p-value below it counts as a difference."""

FAIL_ON = ("regression", "worse", "changed")
"""The values of `--fail-on`."""

Judgement = Literal["worse", "better", "changed", "no clear difference", "unknown"]

Kind = Literal["broke", "worse", "fixed", "better", "changed"]
"""What became of a case: its pass rate fell or rose (`broke`, `fixed`); at the same rate there are
more or fewer warnings, unknown checks or attempts without a verdict (`worse`, `better`)."""

_RANKS = {LayerStatus.PASS: 2, LayerStatus.WARN: 1, LayerStatus.FAIL: 0}


class Seen(Struct, frozen=True, kw_only=True):
    """The facts of one attempt that a comparison uses. Calls of None were not recorded.

    `rules` are those of a baseline, by which the arguments of later calls are compared.
    `model_calls` is how many calls of models it made, and `stop` how the run ended, as far as that
    was recorded.
    """

    status: LayerStatus
    answer: str | None = None
    calls: Sequence[Call] | None = None
    has_results: bool = True  # whether the results of the calls were recorded
    rules: Rules = NO_RULES
    model_calls: int | None = None
    stop: str | None = None
    unknown: frozenset[str] = frozenset()  # checks, as `layer.name`
    decided: frozenset[str] = frozenset()
    cost_usd: float | None = None
    total_tokens: float | None = None
    duration_ms: float | None = None
    metrics: Mapping[str, float | None] = {}
    error: str | None = None
    fingerprint: str = ""
    asked: Asked | None = None  # None: not recorded

    @property
    def passed(self) -> bool:
        """Whether the status is PASS or WARN."""
        return self.status in (LayerStatus.PASS, LayerStatus.WARN)

    @property
    def has_verdict(self) -> bool:
        """False for errors and skipped attempts: whether they would have passed is unknown."""
        return self.passed or self.status is LayerStatus.FAIL

    @property
    def rank(self) -> int:
        """2 for PASS, 1 for WARN, else 0."""
        return _RANKS.get(self.status, 0)

    def newly_unknown(self, earlier: Seen) -> frozenset[str]:
        """The checks that are unknown here, and passed or failed in the earlier attempt."""
        return self.unknown & earlier.decided

    def is_worse_than(self, earlier: Seen) -> bool:
        """From pass to warn to fail, or a check that is newly unknown."""
        if self.rank != earlier.rank:
            return self.rank < earlier.rank
        return bool(self.newly_unknown(earlier)) and not earlier.newly_unknown(self)


class Side(Struct, frozen=True):
    """One of the two runs: its attempts, in order, by suite and case."""

    label: str
    cases: Mapping[tuple[str, str], Sequence[Seen]]
    origin: Mapping[str, Any] = {}


class Figures(Struct, frozen=True):
    """The means over the attempts at a case; None if an attempt did not record the figure."""

    cost_usd: float | None
    total_tokens: float | None
    duration_ms: float | None


class CaseSide(Struct, frozen=True, kw_only=True):
    """A case on one side: the statuses of its attempts with a verdict, and one of its answers."""

    statuses: list[str]
    rate: float
    answer: str | None
    figures: Figures


class CaseChange(Struct, frozen=True, kw_only=True):
    """A case whose verdict or behaviour changed.

    Attempt number `attempt` of the later run is shown, beside the earlier attempt that it is
    nearest to. `behaviour` is how their calls differ, None if a side did not record them; `stop`
    is how the two ended, if that differs. `differing` counts the later attempts that behave
    differently from each earlier one. `newly_unknown` are checks that passed or failed before.
    """

    suite: str
    case: str
    kind: Kind
    before: CaseSide
    after: CaseSide
    attempt: int
    behaviour: Changes | None
    stop: tuple[str | None, str | None] | None = None
    differing: int = 0
    newly_unknown: list[str] = []

    @property
    def answer_changed(self) -> bool:
        """Whether the two answers that are shown differ."""
        return self.before.answer != self.after.answer

    @property
    def status_changed(self) -> bool:
        """Whether the statuses of the attempts changed, from pass to warn included."""
        if len(self.before.statuses) != len(self.after.statuses):
            return self.kind != "changed" or set(self.before.statuses) != set(self.after.statuses)
        return sorted(self.before.statuses) != sorted(self.after.statuses)


class MeasureChange(Struct, frozen=True, kw_only=True):
    """One number before and after: means over `cases`, and the interval of their difference.

    In `differing` of the cases the two numbers differ. `pairs` counts the pairs of attempts with
    the number on both sides; `missing` counts the other pairs, which are left out.
    """

    name: str
    before: float | None
    after: float | None
    difference: float | None
    interval: tuple[float, float] | None
    cases: int
    differing: int
    pairs: int
    missing: int
    higher_is_better: bool | None
    judgement: Judgement


class Loosened(Struct, frozen=True, kw_only=True):
    """A case that is checked less than before: what was removed, loosened or replaced."""

    suite: str
    case: str
    what: list[str]


class LeftOut(Struct, frozen=True, kw_only=True):
    """A case that could not be compared. `lost`: it had a verdict before and has none now."""

    suite: str
    case: str
    error: str | None = None
    lost: bool = False


class Comparison(Struct, frozen=True, kw_only=True):
    """What changed from one run to another.

    `loosened` comes first: whatever is checked less than before. `broke` and `fixed` count cases
    whose pass rate fell and rose, `got_worse` and `got_better` those with the same rate and more or
    fewer warnings, unknown checks or attempts without a verdict. `pairs_broke` and `pairs_fixed`
    count pairs of attempts that passed on one side only; `pairs_worse` and `pairs_better`, on which
    `test` is based, also those from pass to warn, to unknown and back. `behave_differently` counts
    cases, `behaviour_unknown` those of which a side did not record the calls. `cases_needed`
    is the number of cases that would show a difference of 5 points if the same share of verdicts
    differed. `pairs_without_verdict` and `attempts_beyond` (the other side has fewer) count the
    attempts of compared cases that were left out. `not_comparable` are the cases that were asked
    another question, or whose checks were removed, loosened or replaced: their verdicts do not
    count. `stricter` are compared cases with more or stricter checks; `not_recorded` counts those
    of which it is not known what was asked.
    """

    before: str
    after: str
    sentence: str
    loosened: list[Loosened] = []
    compared: int
    broke: int
    fixed: int
    got_worse: int = 0
    got_better: int = 0
    behave_differently: int = 0
    behaviour_unknown: int = 0
    pairs: int
    pairs_broke: int
    pairs_fixed: int
    pairs_worse: int = 0
    pairs_better: int = 0
    test: McNemar
    cases_needed: int
    measures: list[MeasureChange]
    changes: list[CaseChange]
    only_before: list[LeftOut]
    only_after: list[LeftOut]
    no_verdict_before: list[LeftOut]
    no_verdict_after: list[LeftOut]
    pairs_without_verdict: int
    attempts_beyond: int
    not_comparable: list[LeftOut] = []
    stricter: list[LeftOut] = []
    not_recorded: int = 0
    before_origin: Mapping[str, Any] = {}
    after_origin: Mapping[str, Any] = {}
    masked: int | None = None  # masks in its texts, once they were counted
    withheld: Withheld | None = None  # what was left out, if this is made to be shared

    @property
    def texts(self) -> Iterator[str]:
        """The texts that may quote an agent, for counting masks in them."""
        for case in (*self.no_verdict_before, *self.no_verdict_after, *self.only_before):
            yield case.error or ""
        for change in self.changes:
            yield from (change.before.answer or "", change.after.answer or "")
            if change.behaviour is not None:
                found = change.behaviour
                yield from (*found.missing, *found.extra, *found.arguments, *found.failures)

    @property
    def regression(self) -> bool:
        """Whether any case broke, by chance or not."""
        return self.broke > 0

    @property
    def worse(self) -> bool:
        """Whether verdicts, or a measure, are worse by more than chance."""
        return self.test.p_worse < ALPHA or any(
            measure.judgement == "worse" for measure in self.measures
        )

    @property
    def changed(self) -> bool:
        """Whether any case behaves differently, for better or worse."""
        return self.behave_differently > 0

    @property
    def lost(self) -> list[LeftOut]:
        """The cases that had a verdict before and have none now."""
        return [case for case in (*self.only_before, *self.no_verdict_after) if case.lost]

    def exit_code(self, fail_on: Collection[str]) -> int:
        """1 if a `fail_on` condition is met · 3 if verdicts are lost or not comparable · else 0.

        With `changed` also 3 if it is not known whether the behaviour changed.
        """
        unknown = sorted(set(fail_on) - set(FAIL_ON))
        if unknown:
            # If a misspelt word were ignored, the gate would never fail.
            raise UsageError(
                f"a comparison cannot fail on {unknown[0]!r}; it can on {' and '.join(FAIL_ON)}"
            )
        if not fail_on:
            return 0
        met = {"regression": self.regression, "worse": self.worse, "changed": self.changed}
        if any(met[condition] for condition in fail_on):
            return 1
        unsure = "changed" in fail_on and self.behaviour_unknown
        return 3 if self.lost or self.not_comparable or unsure else 0
