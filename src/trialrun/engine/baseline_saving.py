"""Choose the attempts of stored runs that become baselines, and save them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from trialrun.engine.asked import questions_in
from trialrun.engine.baseline_files import (
    Redact,
    Written,
    is_against_baseline,
    locked,
    read_earlier,
    with_earlier,
    write,
)
from trialrun.engine.baseline_lookup import beside, file_key
from trialrun.engine.baseline_rules import propose
from trialrun.engine.evaluate import why_no_answer
from trialrun.errors import TrialrunError, UsageError
from trialrun.model.argument_rules import Rules
from trialrun.model.baseline import Baseline
from trialrun.model.calls import calls_of, settled
from trialrun.model.case import LazyCases
from trialrun.model.results import CheckStatus, EvaluationResult, Severity
from trialrun.model.trace import Trace
from trialrun.spec.load import load_suites
from trialrun.store.records import Attempt, PlannedCase, RunRecord
from trialrun.util.texts import did_you_mean

if TYPE_CHECKING:
    from trialrun.store.store import Store

MOST_REPEATS = 20
"""How many passing attempts of a case a baseline keeps."""


class Saved(Struct, kw_only=True):
    """Which cases were saved as baselines, and which were not, with the reasons."""

    written: list[Written] = []
    not_passed: list[str] = []
    flaky: list[str] = []
    failed_calls: list[str] = []  # attempts that were left out because a call failed
    not_replaced: list[str] = []
    first_suites: dict[str, list[Written]] = {}  # suites that had no baseline before


def spec_of(record: RunRecord) -> str:
    """The path of the run's spec: as it was given if that is still right, since a link has a name.

    Suites, and the folders of their baselines, are named after their files.
    """
    is_given = str(Path(record.spec).resolve()) == record.spec_key
    return record.spec if is_given else record.spec_key


Key = tuple[str, str]
"""The suite and the name of a case."""


def named_files(spec: str) -> dict[Key, Path]:
    """The files that cases of the spec name with `baseline:`; none if it cannot be read."""
    try:
        suites = load_suites(spec)
    except TrialrunError:
        return {}
    return {
        (suite.name, case.name): beside(suite, case.baseline)
        for suite in suites
        if not isinstance(suite.cases, LazyCases)
        for case in suite.cases
        if case.baseline is not None
    }


def planned_cases(
    store: Store, record: RunRecord, names: Collection[str], agent: str | None
) -> dict[Key, int]:
    """The position of each chosen case in the plan of the run."""
    everything = list(store.plan(record.id))
    planned = [case for case in everything if _is_chosen(case, names, agent)]
    missing = sorted(set(names) - {case.case for case in planned})
    if missing:
        hint = did_you_mean(missing[0], {case.case for case in everything})
        raise UsageError(f"run {record.id} has no case {', '.join(missing)}{hint}")
    found = {(case.suite, case.case): case.position for case in planned}
    if len(found) < len(planned):
        agents = sorted({case.agent for case in planned if case.agent})
        raise UsageError(
            f"the run has several agents; choose one with --agent: {', '.join(agents)}"
        )
    return found


def _is_chosen(case: PlannedCase, names: Collection[str], agent: str | None) -> bool:
    return (not names or case.case in names) and (agent is None or case.agent == agent)


def save(
    store: Store,
    records: Sequence[RunRecord],
    folder: Path,
    redact: Redact,
    *,
    named: Mapping[Key, Path] | None = None,
    names: Collection[str] = (),
    agent: str | None = None,
    accepts_failures: bool = False,
    allows_errors: bool = False,
    replaces: bool = True,
) -> Saved:
    """Save the passing attempts of each case, of all these runs, under `folder`.

    `named` has the files of cases that name their baselines in the spec. Files that exist are kept
    unless `replaces`.
    """
    named = named or {}
    if len({record.spec_key for record in records}) > 1:
        raise UsageError("these runs are of different specs: save each by itself")
    places = [planned_cases(store, record, names, agent) for record in records]
    keys = dict.fromkeys(key for place in places for key in place)
    saved = Saved()
    for suite in dict.fromkeys(suite for suite, _ in keys):
        with locked(folder / file_key(suite)) as place:
            before, cases = len(saved.written), [case for owner, case in keys if owner == suite]
            files = {
                case: named.get((suite, case), place / f"{file_key(case)}.json") for case in cases
            }
            is_first = not any((*place.glob("*.json*"), *map(Path.exists, files.values())))
            for case, target in files.items():
                if not replaces and target.exists():
                    saved.not_replaced.append(case)
                    continue
                found = [
                    attempt
                    for record, positions in zip(records, places, strict=True)
                    if (suite, case) in positions
                    for attempt in store.attempts(record.id, [positions[suite, case]])
                ]
                _require_one_question(case, found)
                earlier = read_earlier(target)
                chosen = choose(case, found, saved, earlier, not target.exists(), allows_errors)
                if not chosen and accepts_failures:
                    chosen = [one for one in found if _has_answer(one)][:1]
                    chosen = _without_failed_calls(case, chosen, saved, earlier, allows_errors)
                if chosen:
                    saved.written.append(write(target, chosen, redact))
                elif case not in {text.partition(": ")[0] for text in saved.failed_calls}:
                    saved.not_passed.append(case)
            if is_first and len(saved.written) > before:
                saved.first_suites[suite] = saved.written[before:]
    return saved


def _require_one_question(case: str, attempts: Sequence[Attempt]) -> None:
    asked = {questions_in(attempt.trace) for attempt in attempts if attempt.trace is not None}
    if len(asked) > 1:
        raise UsageError(f"the case {case} was asked different questions in these runs")


def choose(
    case: str,
    attempts: Sequence[Attempt],
    saved: Saved,
    earlier: Trace | None,
    takes_unchecked: bool,
    allows_errors: bool,
) -> list[Attempt]:
    """The attempts that may become the baseline; what was left out is noted in `saved`."""
    passing = [one for one in attempts if is_sound(one, takes_unchecked)]
    if 0 < len(passing) < len(attempts):
        saved.flaky.append(f"{case} ({len(passing)} of {len(attempts)} passed)")
    return _without_failed_calls(case, passing, saved, earlier, allows_errors)[:MOST_REPEATS]


def _without_failed_calls(
    case: str,
    attempts: Sequence[Attempt],
    saved: Saved,
    earlier: Trace | None,
    allows_errors: bool,
) -> list[Attempt]:
    """The attempts in which no call failed for good, unless that is allowed.

    A call is repeated with success even with another request id, where the attempts, or the rules
    in the earlier file, show that the id varies.
    """
    traces = [one.trace for one in attempts if one.trace is not None]
    if allows_errors or not any(trace.failed_calls for trace in traces):
        return list(attempts)
    rules = propose(traces)
    if isinstance(earlier, Baseline):
        rules = with_earlier(rules, earlier.rules)
    failed = {id(one): _failed_calls(one.trace, rules) for one in attempts}
    texts = dict.fromkeys(text for calls in failed.values() for text in calls)
    saved.failed_calls += [f"{case}: {text}" for text in texts]
    return [one for one in attempts if not failed[id(one)]]


def _failed_calls(trace: Trace | None, rules: Rules) -> list[str]:
    """The calls that failed and were not repeated with success, each with its error."""
    calls = [] if trace is None else settled(calls_of(trace), rules)
    return [f"{call.name} failed: {call.error}" for call in calls if call.error is not None]


# Which attempts are good enough


def is_sound(attempt: Attempt, takes_unchecked: bool = True) -> bool:
    """Whether the attempt passed, apart from the checks against a baseline.

    With `takes_unchecked`, even when nothing else was decided: a case that has only checks against
    a baseline has no verdict before its first one.
    """
    result = attempt.result
    if not _has_answer(attempt) or attempt.trace is None or why_no_answer(attempt.trace):
        return False
    if result.passed:
        return True
    if not any(is_against_baseline(*one) for one in result.checks()):
        return False  # it did not fail by a baseline
    if any(True for _ in _in_the_way(result)):
        return False
    others = (check for layer, check in result.checks() if not is_against_baseline(layer, check))
    decided = any(check.status in (CheckStatus.PASS, CheckStatus.FAIL) for check in others)
    return decided or takes_unchecked


def _in_the_way(result: EvaluationResult) -> Iterator[str]:
    for layer, check in result.checks():
        if is_against_baseline(layer, check) or check.severity is Severity.WARN:
            continue
        if check.status not in (CheckStatus.PASS, CheckStatus.SKIPPED):
            yield f"{layer} · {check.name} {check.status.value}: {check.message}"


def why_not_sound(attempt: Attempt) -> str:
    """The first reason why the attempt cannot become a baseline."""
    if attempt.trace is not None and (no_answer := why_no_answer(attempt.trace)):
        return no_answer
    return next(_in_the_way(attempt.result), attempt.result.error or "it did not pass")


def _has_answer(attempt: Attempt) -> bool:
    return attempt.trace is not None and attempt.trace.output is not None
