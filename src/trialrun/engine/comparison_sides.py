"""Read a recorded run, or the baselines of a suite, as one side of a comparison.

A side is read a few cases at a time: two runs of any size are compared in the same memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from trialrun.engine.asked import asked_by
from trialrun.engine.baseline_files import VERDICT, saved_files
from trialrun.engine.baseline_lookup import file_key, read_baseline
from trialrun.errors import TraceError, UsageError
from trialrun.model.argument_rules import NO_RULES
from trialrun.model.asked import Asked
from trialrun.model.baseline import Baseline, repeats_of
from trialrun.model.behaviour import calls_of
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import CheckStatus, EvaluationResult, LayerStatus
from trialrun.model.trace import TOOL_CALLS, TOOL_RESULTS, Trace, TraceStatus
from trialrun.store.records import Attempt, RunRecord

if TYPE_CHECKING:
    from trialrun.store.store import Store

Key = tuple[str, str]
"""A suite and a case."""

_AHEAD = 64
_STOP = ("stop_reason", "finish_reason")
_DECIDED = (CheckStatus.PASS, CheckStatus.FAIL)


class LazyCases(Mapping[Key, Sequence[Seen]]):
    """Cases whose attempts are read when they are asked for, some ahead if it is in order."""

    def __init__(
        self,
        keys: Iterable[Key],
        read: Callable[[Sequence[Key]], Mapping[Key, Sequence[Seen]]],
        ahead: int = _AHEAD,
    ) -> None:
        self._keys = list(dict.fromkeys(keys))
        self._place = {key: place for place, key in enumerate(self._keys)}
        self._read = read
        self._ahead = ahead
        self._next = 0
        self._known: Mapping[Key, Sequence[Seen]] = {}

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._place

    def __getitem__(self, key: Key) -> Sequence[Seen]:
        if key not in self._known:
            place = self._place[key]
            # Out of order nothing is read ahead: it would be thrown away.
            count = self._ahead if place == self._next else 1
            self._known = self._read(self._keys[place : place + count])
            self._next = place + count
        return self._known[key]


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
    positions: dict[Key, tuple[int, ...]] = {}
    for case in store.plan(record.id):
        if not agent or case.agent == agent:
            suite = f"{case.suite}/{case.agent}" if several else case.suite
            key = sys.intern(suite), case.case
            positions[key] = (*positions.get(key, ()), case.position)
    asked = store.asked(record.id)

    def read(wanted: Sequence[Key]) -> dict[Key, list[Seen]]:
        found: dict[Key, list[Seen]] = {key: [] for key in wanted}
        keys = {position: key for key in wanted for position in positions[key]}
        for attempt in store.attempts(record.id, list(keys)):
            seen = _of_attempt(attempt, asked.get(attempt.fingerprint))
            found[keys[attempt.position]].append(seen)
        return found

    label = f"{record.id}/{agent}" if agent else record.id
    return record, Side(label, LazyCases(positions, read), record.origin)


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

    return Side(f"baseline {folder}", LazyCases(files, read, ahead=1))


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
        "stop": stop_of(trace),
    }


def stop_of(trace: Trace) -> str | None:
    """How the run ended: its status, else why its last model call stopped, if that is recorded."""
    if trace.status is not TraceStatus.SUCCESS:
        return trace.status.value
    last = trace.llm_calls[-1].metadata if trace.llm_calls else {}
    reasons = (holder.get(key) for holder in (trace.metadata, last) for key in _STOP)
    return next((str(reason) for reason in reasons if reason is not None), None)


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
