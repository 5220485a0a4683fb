"""The base of `any_of`, `all_of` and `not`: checks whose outcome depends on other checks.

Each part is evaluated as the engine evaluates a check: a part whose evidence was not recorded, or
that crashes, is unknown. A part with several checks holds if all of them do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from trialrun.checks.base import Check, JudgedCheck, run_check, validated
from trialrun.model.case import Rubric
from trialrun.model.check_data import described
from trialrun.model.evidence import missing, not_recorded
from trialrun.model.judging import Inquiry
from trialrun.model.results import CheckResult, CheckStatus, Verdict
from trialrun.model.trace import Trace

PASS, FAIL = CheckStatus.PASS, CheckStatus.FAIL
UNKNOWN, SKIPPED = CheckStatus.UNKNOWN, CheckStatus.SKIPPED


class Outcome(Struct, frozen=True):
    """The outcome of one part or of several, and the reasons for it."""

    status: CheckStatus
    reasons: Sequence[str]


def decided(outcomes: Sequence[Outcome], order: Sequence[CheckStatus]) -> Outcome:
    """The first status of `order` that a part has, with the reasons of those parts."""
    status = next((one for one in order if any(part.status is one for part in outcomes)), SKIPPED)
    return Outcome(
        status, [why for part in outcomes if part.status is status for why in part.reasons]
    )


def all_hold(outcomes: Sequence[Outcome]) -> Outcome:
    """Fails if one fails, else unknown if one is unknown; parts that do not apply are left out."""
    return decided(outcomes, (FAIL, UNKNOWN, PASS))


class Combination(JudgedCheck):
    """A check over other checks of its layer."""

    judged: ClassVar = False  # the instance overrides it if a part asks a judge
    any_layer: ClassVar = True
    combines: ClassVar = True
    takes_list: ClassVar = True  # the value is a list of blocks, not one block

    parts: list[Any]  # each a check, or a list of checks that must all hold

    def __post_init__(self) -> None:
        groups = [part if isinstance(part, list) else [part] for part in self.parts]
        self.__dict__["groups"] = groups
        members = [check for group in groups for check in group]
        self.__dict__["judged"] = any(check.judged for check in members)
        self.__dict__["takes_case"] = any(check.takes_case for check in members)
        self.__dict__["reads_wording"] = all(check.reads_wording for check in members)
        super().__post_init__()
        # For the fingerprint of the case: a context that changed may change the verdict.
        for check in members:
            self.contexts.update(getattr(check, "contexts", {}))

    def validate(self) -> None:
        members = [check for group in self.__dict__["groups"] for check in group]
        if not members or not all(isinstance(check, Check) for check in members):
            raise ValueError("expected checks to combine")

    def belongs_to(self, layer: str) -> None:
        """Set the layer in whose block the combination is."""
        self.__dict__["layer"] = layer

    def combined(self, outcomes: Sequence[Outcome]) -> Outcome:
        """The outcome of the combination, from those of its parts."""
        raise NotImplementedError

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        results = [
            [_evaluated(check, trace, baseline) for check in group]
            for group in self.__dict__["groups"]
        ]
        return self._concluded(results)

    def rubrics_asked(self) -> Sequence[Rubric]:
        return [rubric for check in self._judged_members() for rubric in check.rubrics_asked()]

    def inquiry(self, run: Trace, turn: int | None) -> Inquiry | CheckResult:
        """The requests of all parts that ask a judge; none if the other parts decide."""
        trace = run if turn is None else run.turns()[turn - 1]
        open_inquiries: list[Inquiry] = []
        rows: list[list[CheckResult | Inquiry]] = []
        for group in self.__dict__["groups"]:
            row = [_asked(check, run, turn, trace) for check in group]
            rows.append(row)
            open_inquiries += [one for one in row if isinstance(one, Inquiry)]
        known = self._concluded([list(_without_verdicts(row, self)) for row in rows])
        if known.status is not UNKNOWN or not open_inquiries:
            return known
        requests = [request for one in open_inquiries for request in one.requests]

        def conclude(verdicts: Sequence[Verdict]) -> CheckResult:
            left = list(verdicts)
            made = [[_settled(one, left) for one in row] for row in rows]
            return replace(self._concluded(made), verdicts=list(verdicts))

        return Inquiry(requests, conclude)

    def _judged_members(self) -> list[JudgedCheck]:
        members = [check for group in self.__dict__["groups"] for check in group]
        return [check for check in members if check.judged]

    def _concluded(self, results: Sequence[Sequence[CheckResult]]) -> CheckResult:
        parts = [
            all_hold([Outcome(one.status, [f"{one.name}: {one.message}"]) for one in group])
            for group in results
        ]
        outcome = self.combined(parts)
        message = "; ".join(outcome.reasons)
        if outcome.status is SKIPPED:
            return self.skipped(message)
        data = {
            "parts": [
                {"name": one.name, "status": one.status.value, "message": one.message, **one.data}
                for group in results
                for one in group
            ]
        }
        make = {PASS: self.passed, FAIL: self.failed, UNKNOWN: self.unknown}[outcome.status]
        return make(message, data)


def _evaluated(check: Check, trace: Trace, baseline: Trace | None) -> CheckResult:
    """The result of a part; unknown if its evidence was not recorded."""
    kinds = missing(check.needs, trace.recorded)
    if kinds and not (check.against_baseline and baseline is None):
        return check.unknown(not_recorded(kinds))
    result = run_check(check, trace, baseline)
    if result is check.pass_result or result is check.fail_result:
        return described(check, result, trace, baseline)
    return validated(check, result)


def _asked(check: Check, run: Trace, turn: int | None, trace: Trace) -> CheckResult | Inquiry:
    if isinstance(check, JudgedCheck) and check.judged:
        return check.inquiry(run, turn)
    return _evaluated(check, trace, None)


def _without_verdicts(row: Iterable[CheckResult | Inquiry], check: Check) -> Iterable[CheckResult]:
    """The results so far: a part that has yet to ask the judge is unknown."""
    for one in row:
        yield one if isinstance(one, CheckResult) else check.unknown("the judge was not asked")


def _settled(one: CheckResult | Inquiry, verdicts: list[Verdict]) -> CheckResult:
    """The result of a part; takes its verdicts from the front of the list."""
    if isinstance(one, CheckResult):
        return one
    number = len(one.requests)
    own, verdicts[:] = verdicts[:number], verdicts[number:]
    return one.conclude(own)
