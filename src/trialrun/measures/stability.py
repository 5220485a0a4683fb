"""Statistics of repeats of one case: pass rate, confidence interval, and why verdicts flip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import comb, sqrt

import msgspec
from msgspec import Struct

INFRASTRUCTURE = "infrastructure"
AGENT = "agent"
JUDGE = "judge"
SPEC = "spec"
UNSETTLED = "unsettled"
"""The sources of a flip. Spec: it changed between the two attempts, in a run that was resumed
anyway. Unsettled: agent or judge; only judging both answers again can decide."""

_CLASSES = {"pass": "passed", "warn": "passed", "fail": "failed"}
_NO_VERDICT = "no verdict"


class AttemptOutcome(Struct, frozen=True):
    """One attempt at a case: its status, and the facts that it was judged by.

    A `path` of None was not recorded. `checks` has the status of each check by name, and `judged`
    the names of those that a judge decides: only their verdicts can differ for equal attempts.
    """

    status: str
    answer: str | None = None
    path: Sequence[str] | None = None
    checks: Mapping[str, str] = {}
    judged: frozenset[str] = frozenset()


class Flip(Struct, frozen=True):
    """A verdict that differs from the one before; `attempt` is the later one, counted from 1."""

    attempt: int
    before: str
    after: str
    source: str


class Stability(Struct, frozen=True, kw_only=True):
    """The statistics of the attempts at one case.

    `rate`, `interval`, `pass_at` and `pass_hat` count only attempts with a verdict: an agent that
    could not be reached has neither passed nor failed.
    """

    attempts: int
    passes: int
    failures: int
    errors: int
    rate: float | None
    interval: tuple[float, float] | None
    pass_at: dict[int, float]
    pass_hat: dict[int, float]
    history: list[str]
    flips: list[Flip] = msgspec.field(default_factory=list)


def wilson_interval(
    passes: int, attempts: int, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Wilson's score confidence interval of the pass rate; None without attempts."""
    if attempts == 0:
        return None
    z = _two_sided_z(confidence)
    rate = passes / attempts
    stretch = 1 + z * z / attempts
    middle = (rate + z * z / (2 * attempts)) / stretch
    reach = z * sqrt(rate * (1 - rate) / attempts + z * z / (4 * attempts * attempts)) / stretch
    # Exactly 0 and 1 by algebra; floating point would give 1e-18, or less than 100% if all pass.
    low = 0.0 if passes == 0 else max(0.0, middle - reach)
    high = 1.0 if passes == attempts else min(1.0, middle + reach)
    return low, high


@cache
def _two_sided_z(confidence: float) -> float:
    from statistics import NormalDist  # slow to import, and seldom needed

    return NormalDist().inv_cdf((1 + confidence) / 2)


def pass_at_k(attempts: int, passes: int, k: int) -> float | None:
    """pass@k: the chance that at least one of k attempts passes. 1 − C(n−c, k) / C(n, k)."""
    if k < 1 or attempts < k:
        return None
    # A single division of integers: 1 − a/b in floating point would round twice.
    ways = comb(attempts, k)
    return (ways - comb(attempts - passes, k)) / ways


def pass_hat_k(attempts: int, passes: int, k: int) -> float | None:
    """pass^k: the chance that all of k attempts pass. C(c, k) / C(n, k)."""
    if k < 1 or attempts < k:
        return None
    return comb(passes, k) / comb(attempts, k)


def decided(passes: int, attempts: int, required: float) -> bool | None:
    """True: the pass rate is at least `required` with 95% confidence. False: below. Else None."""
    interval = wilson_interval(passes, attempts)
    if interval is None:
        return None
    low, high = interval
    if low >= required:
        return True
    return False if high < required else None


def flips(history: Sequence[AttemptOutcome]) -> list[Flip]:
    """Every change of verdict from one attempt to the next, with its source.

    A warning passes, so a change from pass to warn is not a flip.
    """
    return [
        Flip(number, before.status, after.status, _source(before, after))
        for number, (before, after) in enumerate(pairwise(history), start=2)
        if _class_of(before) != _class_of(after)
    ]


def _class_of(verdict: AttemptOutcome) -> str:
    return _CLASSES.get(verdict.status, _NO_VERDICT)


def _source(before: AttemptOutcome, after: AttemptOutcome) -> str:
    if _NO_VERDICT in (_class_of(before), _class_of(after)):
        return INFRASTRUCTURE
    differing = {
        name
        for name in before.checks.keys() | after.checks.keys()
        if before.checks.get(name) != after.checks.get(name)
    }
    judged = before.judged | after.judged
    if differing - judged:
        # Checks without a judge are deterministic: if one differs, the agent behaved differently.
        return AGENT
    same = _same_run(before, after)
    if same:
        return JUDGE
    # Only judged checks differ: either the answers differ in quality, or the judge is not steady.
    return UNSETTLED if differing or same is None else AGENT


def _same_run(before: AttemptOutcome, after: AttemptOutcome) -> bool | None:
    """Whether answer and path are equal; None if the answers are and a path was not recorded."""
    if before.answer != after.answer:
        return False
    if before.path is None or after.path is None:
        return None
    return list(before.path) == list(after.path)


def settle(first: bool, first_again: bool | None, second: bool, second_again: bool | None) -> str:
    """The source of an unsettled flip, once both of its answers have been judged again.

    True is a pass, None: the judge gave no verdict. If the judge contradicts itself on either
    answer, it is the source; if it confirms both verdicts, the agent's answers differ.
    """
    if (first_again is not None and first_again != first) or (
        second_again is not None and second_again != second
    ):
        return JUDGE
    return UNSETTLED if first_again is None or second_again is None else AGENT


def stability_of(history: Sequence[AttemptOutcome]) -> Stability:
    """The summary of the attempts at one case, in order."""
    classes = [_class_of(verdict) for verdict in history]
    passes, failures = classes.count("passed"), classes.count("failed")
    judged = passes + failures
    counts = range(1, judged + 1)
    return Stability(
        attempts=len(history),
        passes=passes,
        failures=failures,
        errors=len(history) - judged,
        rate=passes / judged if judged else None,
        interval=wilson_interval(passes, judged),
        pass_at={k: value for k in counts if (value := pass_at_k(judged, passes, k)) is not None},
        pass_hat={k: value for k in counts if (value := pass_hat_k(judged, passes, k)) is not None},
        history=[str(verdict.status) for verdict in history],
        flips=flips(history),
    )
