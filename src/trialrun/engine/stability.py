"""Stability of the cases of a repeated run, the source of their flips, and gates on both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trialrun import registry
from trialrun.measures.stability import (
    AGENT,
    INFRASTRUCTURE,
    JUDGE,
    SPEC,
    UNSETTLED,
    AttemptOutcome,
    Flip,
    decided,
    settle,
    stability_of,
)
from trialrun.model.results import CaseStability, Gate, RunResult
from trialrun.model.trace import TOOL_CALLS
from trialrun.store.records import Attempt, RunRecord
from trialrun.util.texts import counted

if TYPE_CHECKING:
    from trialrun.store.store import Store

FLAKY = "flaky"
FAIL_ON = (FLAKY, *(f"{FLAKY}:{source}" for source in (AGENT, JUDGE, INFRASTRUCTURE)))
"""The values of `--fail-on`: flips of any source, or of one."""
FLAKY_INFRASTRUCTURE = f"{FLAKY}:{INFRASTRUCTURE}"

_SHOWN = 5

Rejudged = Mapping[tuple[int, int], bool | None]
"""Whether an attempt passed when it was judged again, by position and attempt number; None if
there was no verdict."""


def stabilities(
    store: Store, record: RunRecord, rejudged: Rejudged | None = None
) -> list[CaseStability]:
    """The stability of each case over its attempts, in the order of the plan."""
    return [case_stability(attempts, rejudged or {}) for attempts in _by_case(store, record)]


def unsettled(store: Store, record: RunRecord) -> Iterator[Attempt]:
    """The attempts that have to be judged again to find the source of a flip, each once."""
    for attempts in _by_case(store, record):
        flips = case_stability(attempts).stability.flips
        numbers = {flip.attempt for flip in flips if flip.source == UNSETTLED}
        for number, attempt in enumerate(attempts, 1):
            if numbers & {number, number + 1} and attempt.trace is not None:
                yield attempt


def _by_case(store: Store, record: RunRecord) -> Iterator[list[Attempt]]:
    attempts = store.attempts(record.id)
    for _, group in groupby(attempts, key=lambda attempt: attempt.position):
        yield list(group)


def case_stability(attempts: Sequence[Attempt], rejudged: Rejudged | None = None) -> CaseStability:
    """The stability of one case over its attempts."""
    first = attempts[0].result
    found = stability_of([_verdict(attempt) for attempt in attempts])
    if len({attempt.fingerprint for attempt in attempts}) > 1:
        found = replace(found, flips=[_by_spec(flip, attempts) for flip in found.flips])
    found = replace(found, flips=[_settled(flip, attempts, rejudged or {}) for flip in found.flips])
    return CaseStability(
        suite_name=first.suite_name or "",
        agent=first.agent,
        case_name=first.case_name,
        stability=found,
        retried=sum(bool(attempt.result.earlier_errors) for attempt in attempts),
    )


def _by_spec(flip: Flip, attempts: Sequence[Attempt]) -> Flip:
    """The flip; its source is the spec if the attempts have different fingerprints."""
    before, after = attempts[flip.attempt - 2], attempts[flip.attempt - 1]
    return flip if before.fingerprint == after.fingerprint else replace(flip, source=SPEC)


def _settled(flip: Flip, attempts: Sequence[Attempt], rejudged: Rejudged) -> Flip:
    """The flip with its source, if both answers were judged again."""
    if flip.source != UNSETTLED:
        return flip
    before, after = attempts[flip.attempt - 2], attempts[flip.attempt - 1]
    source = settle(
        before.result.passed,
        rejudged.get((before.position, before.attempt)),
        after.result.passed,
        rejudged.get((after.position, after.attempt)),
    )
    return replace(flip, source=source)


def _verdict(attempt: Attempt) -> AttemptOutcome:
    result, trace = attempt.result, attempt.trace
    checks = {
        f"{layer}.{check.name}.{check.turn}": check.status.value for layer, check in result.checks()
    }
    judged = {
        f"{layer}.{check.name}.{check.turn}"
        for layer, check in result.checks()
        if check.verdicts or check.name in judged_names()
    }
    recorded = trace is not None and TOOL_CALLS in trace.recorded
    return AttemptOutcome(
        status=result.status.value,
        answer=trace.answer_text if trace is not None else None,
        path=trace.tool_call_sequence if trace is not None and recorded else None,
        checks=checks,
        judged=frozenset(judged),
    )


@cache
def judged_names() -> frozenset[str]:
    """The names of the checks that ask a judge."""
    kinds = {name: registry.find_check(name) for name in registry.names(registry.CHECKS)}
    return frozenset(name for name, kind in kinds.items() if kind is not None and kind.judged)


def gates(
    cases: Sequence[CaseStability],
    min_pass_rate: float | None,
    fail_on: Iterable[str],
    must_be_decided: bool = False,
) -> list[Gate]:
    """The requested gates, evaluated."""
    found = []
    if min_pass_rate is not None:
        found.append(_rate_gate(cases, min_pass_rate, must_be_decided))
    for name in fail_on:
        _, _, source = name.partition(":")
        found.append(_flaky_gate(name, cases, source or None))
    return found


def _rate_gate(cases: Sequence[CaseStability], required: float, must_be_decided: bool) -> Gate:
    """The gate on pass rates: unknown without a verdict, or undecided if it must be decided."""
    name = f"min-pass-rate {required:.0%}"
    rates = [(case, case.stability.rate) for case in cases]
    below = [case for case, rate in rates if rate is not None and rate < required]
    if below:
        shown = _listed(below, lambda case: f"{case.stability.passes} of {_judged(case)}")
        number = "1 case passes" if len(below) == 1 else f"{len(below)} cases pass"
        return Gate(name, False, f"{number} in fewer than {required:.0%} of the attempts: {shown}")
    silent = [case for case, rate in rates if rate is None]
    if silent:
        return Gate(name, None, f"no verdict: {_listed(silent, lambda case: 'in error')}")
    open_cases = [
        case for case in cases if decided(case.stability.passes, _judged(case), required) is None
    ]
    if must_be_decided and open_cases:
        shown = _listed(open_cases, lambda case: f"{case.stability.passes} of {_judged(case)}")
        return Gate(name, None, f"undecided after all attempts: {shown}")
    return Gate(name, True, f"every case passes in at least {required:.0%} of its attempts")


def _judged(case: CaseStability) -> int:
    return case.stability.passes + case.stability.failures


def _flaky_gate(name: str, cases: Sequence[CaseStability], source: str | None) -> Gate:
    def flips(case: CaseStability) -> list[Flip]:
        return [flip for flip in case.stability.flips if source in (None, flip.source)]

    retried = [case for case in cases if case.retried and source == INFRASTRUCTURE]
    if retried:
        shown = _listed(retried, lambda case: counted(case.retried, "attempt"))
        return Gate(name, False, f"retried after infrastructure errors: {shown}")
    flaky = [case for case in cases if flips(case)]
    if not flaky:
        by = "" if source is None else f", by the {source}"
        return Gate(name, True, f"no verdict flipped in {counted(len(cases), 'case')}{by}")
    shown = _listed(flaky, lambda case: ", ".join(sorted({flip.source for flip in flips(case)})))
    number = f"{len(flaky)} of {len(cases)} cases" if len(flaky) > 1 else "the verdict of 1 case"
    return Gate(name, False, f"{number} flipped: {shown}")


def apply_gates(
    run: RunResult,
    store: Store,
    record: RunRecord,
    min_pass_rate: float | None,
    fail_on: Sequence[str],
) -> None:
    """Add the gates of a recorded run: on the pass rate of each case, and on flips."""
    if min_pass_rate is None and not fail_on:
        return
    run.stability = run.stability or stabilities(store, record)
    until_decided = record.settings.get("until_decided") is not None
    run.gates = gates(run.stability, min_pass_rate, fail_on, until_decided)
    run.by_rate = min_pass_rate is not None


def _listed(cases: Sequence[CaseStability], detail: Callable[[CaseStability], str]) -> str:
    shown = [f"{case.case_name} ({detail(case)})" for case in cases[:_SHOWN]]
    if len(cases) > _SHOWN:
        shown.append(f"and {len(cases) - _SHOWN} more")
    return ", ".join(shown)
