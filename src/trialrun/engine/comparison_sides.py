"""Read a recorded run, or the baselines of a suite, as one side of a comparison.

A side is read a few cases at a time: two runs of any size are compared in the same memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, starmap
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from trialrun.engine.asked import asked_by
from trialrun.engine.baseline_files import VERDICT, saved_files
from trialrun.engine.baseline_lookup import file_key, read_baseline
from trialrun.engine.stored_run import AskedIn
from trialrun.errors import TraceError, UsageError
from trialrun.model.argument_rules import NO_RULES
from trialrun.model.asked import Asked
from trialrun.model.baseline import Baseline, repeats_of
from trialrun.model.calls import calls_of, ending_of, model_calls_of
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import CheckStatus, EvaluationResult, LayerStatus
from trialrun.model.trace import TOOL_CALLS, TOOL_RESULTS, Trace
from trialrun.store.records import Attempt, RunRecord

if TYPE_CHECKING:
    from trialrun.store.store import Store

Key = tuple[str, str]
"""A suite and a case."""

_DECIDED = (CheckStatus.PASS, CheckStatus.FAIL)


class LazyCases(Mapping[Key, Sequence[Seen]]):
    """Cases whose attempts are read when they are asked for.

    `keys` is called again for each pass, so that the names of the cases need not be held either.
    """

    def __init__(
        self,
        keys: Callable[[], Iterator[Key]],
        count: int,
        has: Callable[[Key], bool],
        read: Callable[[Sequence[Key]], Mapping[Key, Sequence[Seen]]],
    ) -> None:
        self._keys = keys
        self._count = count
        self._has = has
        self._read = read

    def __iter__(self) -> Iterator[Key]:
        return self._keys()

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and self._has(key)

    def __getitem__(self, key: Key) -> Sequence[Seen]:
        return self._read([key])[key]

    def several(self, keys: Sequence[Key]) -> Mapping[Key, Sequence[Seen]]:
        """The attempts of these cases, read together."""
        return self._read(keys)


class _Positions:
    """The positions of each case in a plan, in 16 bytes: a dict of names would take 350.

    Cases are told apart by the 64 bits of `hash`: among a million, two are taken for one with a
    probability of one in thirty million.
    """

    def __init__(self, keys: Iterable[tuple[int, Key]]) -> None:
        found = [array("q"), array("q")]
        for position, key in keys:
            found[0].append(hash(key))
            found[1].append(position)
        order = sorted(range(len(found[0])), key=found[0].__getitem__)
        self._hashes, self._positions = (
            array("q", map(column.__getitem__, order)) for column in found
        )
        self.cases = len(order) - sum(starmap(eq, pairwise(self._hashes)))

    def __getitem__(self, key: Key) -> Sequence[int]:
        start = bisect_left(self._hashes, hash(key))
        return self._positions[start : bisect_right(self._hashes, hash(key), lo=start)]


def run_side(store: Store, reference: str) -> tuple[RunRecord, Side]:
    """The run for a reference, `RUN` or `RUN/AGENT`, and its attempts by case.

    If a run has several agents and the reference names none, each agent is compared with itself:
    the agent's name then becomes part of the suite's name.
    """
    name, _, agent = reference.partition("/")
    record = store.find_run(name)
    agents = {case.agent for case in store.plan(record.id)}
    if agent and agent not in agents:
        known = ", ".join(sorted(filter(None, agents))) or "one without a name"
        raise UsageError(f"run {record.id} has no agent `{agent}`; it has {known}")
    several = len(agents) > 1 and not agent

    def planned() -> Iterator[tuple[int, Key]]:
        for case in store.plan(record.id):
            if not agent or case.agent == agent:
                suite = f"{case.suite}/{case.agent}" if several else case.suite
                yield case.position, (suite, case.case)

    positions = _Positions(planned())
    recorded = AskedIn(store, record)

    def keys() -> Iterator[Key]:
        return (key for position, key in planned() if positions[key][0] == position)

    def read(wanted: Sequence[Key]) -> dict[Key, list[Seen]]:
        found: dict[Key, list[Seen]] = {key: [] for key in wanted}
        owners = {position: key for key in wanted for position in positions[key]}
        attempts = list(store.attempts(record.id, list(owners)))
        asked = recorded.of(attempts)
        for attempt in attempts:
            seen = _of_attempt(attempt, asked.get(attempt.fingerprint))
            found[owners[attempt.position]].append(seen)
        return found

    cases = LazyCases(keys, positions.cases, lambda key: len(positions[key]) > 0, read)
    label = f"{record.id}/{agent}" if agent else record.id
    return record, Side(label, cases, record.origin)


def baseline_side(folder: Path, cases: Iterable[Key]) -> Side:
    """The saved baselines of the suites of these cases; each repeat counts as an attempt.

    A baseline is that of the case after which its file is named, as in `run` and `score`.
    """
    owners: dict[str, dict[str, Key]] = {}
    suites: dict[str, str] = {}
    for suite, case in cases:
        suites[file_key(suite)] = suite
        owners.setdefault(file_key(suite), {})[file_key(case)] = (suite, case)
    files: dict[Key, Path] = {}
    for file in saved_files(folder):
        place = file.parent.name
        if place in suites:
            key = owners[place].get(file.stem)
            files[key or (suites[place], read_baseline(file).name or file.stem)] = file

    def read(wanted: Sequence[Key]) -> dict[Key, list[Seen]]:
        return {key: _of_baseline(files[key]) for key in wanted}

    cases = LazyCases(lambda: iter(files), len(files), files.__contains__, read)
    return Side(f"baseline {folder}", cases)


def _of_attempt(attempt: Attempt, asked: Asked | None) -> Seen:
    result = attempt.result
    return Seen(
        status=result.status,
        cost_usd=result.cost_usd,
        total_tokens=result.total_tokens,
        duration_ms=result.duration_ms,
        metrics={metric.metric_name: metric.value for metric in result.metrics},
        error=result.error,
        fingerprint=attempt.fingerprint,
        asked=asked,
        unknown=_checks(result, (CheckStatus.UNKNOWN,)),
        decided=_checks(result, _DECIDED),
        **({} if attempt.trace is None else _of_trace(attempt.trace)),
    )


def _checks(result: EvaluationResult, statuses: Sequence[CheckStatus]) -> frozenset[str]:
    return frozenset(
        f"{layer}.{check.name}" for layer, check in result.checks() if check.status in statuses
    )


def _of_trace(trace: Trace) -> dict[str, Any]:
    return {
        "answer": trace.answer_text,
        "calls": calls_of(trace) if TOOL_CALLS in trace.recorded else None,
        "has_results": TOOL_RESULTS in trace.recorded,
        "model_calls": model_calls_of(trace),
        "stop": ending_of(trace),
    }


def _of_baseline(file: Path) -> list[Seen]:
    baseline = read_baseline(file)
    rules = baseline.rules if isinstance(baseline, Baseline) else NO_RULES
    return [_of_repeat(one, rules, file) for one in repeats_of(baseline)]


def _of_repeat(trace: Trace, rules: Any, file: Path) -> Seen:
    verdict = trace.metadata.get(VERDICT)
    try:
        assert isinstance(verdict, dict)
        status = LayerStatus(verdict["status"])
        figures: dict[str, Any] = {
            name: msgspec.convert(verdict[name], float | None)
            for name in ("cost_usd", "total_tokens")
        }
        metrics = msgspec.convert(verdict["metrics"], dict[str, float | None])
    except (AssertionError, KeyError, ValueError, msgspec.ValidationError):
        raise TraceError(f"{file}: a baseline without a verdict; save it again") from None
    return Seen(
        status=status,
        duration_ms=trace.total_duration_ms,
        metrics=metrics,
        asked=asked_by(trace),
        rules=rules,
        **figures,
        **_of_trace(trace),
    )
