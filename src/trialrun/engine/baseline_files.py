"""Save and read baselines as files for git: one per case, redacted, keys sorted.

Values that differ in every run (ids, clock times, printed output) are left out, so that a diff
shows only what the agent does differently.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from trialrun.engine.baseline_lookup import file_key
from trialrun.errors import TraceError, UsageError
from trialrun.importers import scan
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import EvaluationResult, LayerStatus
from trialrun.model.trace import TOOL_CALLS, Trace
from trialrun.store.records import Attempt, RunRecord
from trialrun.util.files import reason, replace_file

if TYPE_CHECKING:
    from trialrun.store.store import Store

VERDICT = "baseline"
"""Metadata key of a saved baseline that holds its verdict and its metrics."""

_RUN_FIELDS = ("id", "started_at", "completed_at", "agent_name")
_RUN_NOTES = ("printed", "tries", "notes", "teardown_failed")

Redact = Callable[[Any], Any]


class Saved(Struct, kw_only=True):
    """Which cases of a run were saved as baselines, and which were not."""

    written: list[Path]
    unchanged: list[Path]
    not_passed: list[str]
    flaky: list[str]


def save(
    store: Store,
    record: RunRecord,
    folder: Path,
    redact: Redact,
    *,
    names: Collection[str] = (),
    agent: str | None = None,
    accepts_failures: bool = False,
) -> Saved:
    """Save the first passing attempt of each case of the run under `folder`."""
    planned = [
        case
        for case in store.plan(record.id)
        if (not names or case.case in names) and (agent is None or case.agent == agent)
    ]
    missing = set(names) - {case.case for case in planned}
    if missing:
        raise UsageError(f"run {record.id} has no case {', '.join(sorted(missing))}")
    if len({(case.suite, case.case) for case in planned}) < len(planned):
        agents = sorted({case.agent for case in planned if case.agent})
        raise UsageError(
            f"the run has several agents; choose one with --agent: {', '.join(agents)}"
        )
    saved = Saved(written=[], unchanged=[], not_passed=[], flaky=[])
    for suite in dict.fromkeys(case.suite for case in planned):
        positions = [case.position for case in planned if case.suite == suite]
        with _locked(folder / file_key(suite)) as place:
            for case_name, attempt, share in _best(store, record, positions, accepts_failures):
                if attempt is None or attempt.trace is None:
                    saved.not_passed.append(case_name)
                    continue
                if share is not None:
                    saved.flaky.append(f"{case_name} ({share})")
                _write(place / f"{file_key(case_name)}.json", attempt, redact, saved)
    return saved


def _best(
    store: Store, record: RunRecord, positions: Sequence[int], accepts_failures: bool
) -> Iterator[tuple[str, Attempt | None, str | None]]:
    """Each case with its first passing attempt; with `accepts_failures`, any that has an answer.

    The third item is `1 of 4 passed` if only some of its attempts passed.
    """
    names = {case.position: case.case for case in store.plan(record.id)}
    for position in positions:
        best, made, passes = None, 0, 0
        for attempt in store.attempts(record.id, [position]):
            made, passes = made + 1, passes + attempt.result.passed
            answered = attempt.trace is not None and attempt.trace.output is not None
            better = attempt.result.passed and (best is None or not best.result.passed)
            if better or (accepts_failures and answered and best is None):
                best = attempt
        yield names[position], best, f"{passes} of {made} passed" if 0 < passes < made else None


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Lock the folder: two processes that save at the same time would mix their baselines."""
    import fcntl

    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder}: baselines cannot be saved: {reason(error)}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield folder
    except BlockingIOError:
        raise UsageError(f"{folder}: another process is saving baselines here") from None
    finally:
        os.close(handle)


def _write(target: Path, attempt: Attempt, redact: Redact, saved: Saved) -> None:
    assert attempt.trace is not None
    data = baseline_bytes(attempt.trace, attempt.result, redact)
    try:
        if target.is_file() and _same_but_for_times(target.read_bytes(), data):
            saved.unchanged.append(target)
            return
        replace_file(target, [data])
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {reason(error)}") from None
    saved.written.append(target)


_TIMES = ("duration_ms", "duration", "last_turn_ms")


def _same_but_for_times(old: bytes, new: bytes) -> bool:
    """Whether only durations differ, which they always do: the file then stays as it is."""
    try:
        return bool(
            _without_times(msgspec.json.decode(old)) == _without_times(msgspec.json.decode(new))
        )
    except (msgspec.DecodeError, RecursionError):
        return False


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key not in _TIMES}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def baseline_bytes(trace: Trace, result: EvaluationResult, redact: Redact) -> bytes:
    """The content of a baseline file."""
    plain = trace.to_dict()
    for key in _RUN_FIELDS:
        plain.pop(key, None)
    keeps_ids = any("parent_id" in step for step in plain.get("steps", ()))
    plain["steps"] = [_stable_step(step, keeps_ids) for step in plain.get("steps", ())]
    plain["recorded"] = sorted(trace.recorded)
    if trace.duration_ms is not None:
        plain["duration_ms"] = _rounded(trace.duration_ms)
    kept = {key: value for key, value in trace.metadata.items() if key not in _RUN_NOTES}
    kept[VERDICT] = {
        "status": result.status.value,
        # As the run computed them: it may have used custom prices.
        "cost_usd": result.cost_usd,
        "total_tokens": result.total_tokens,
        "metrics": {metric.metric_name: metric.value for metric in result.metrics},
    }
    plain["metadata"] = kept
    encoded = msgspec.json.encode(redact(plain), order="sorted")
    return msgspec.json.format(encoded, indent=2) + b"\n"


def _stable_step(step: dict[str, Any], keeps_ids: bool) -> dict[str, Any]:
    lasting = {key: value for key, value in step.items() if key != "timestamp"}
    if not keeps_ids:
        lasting.pop("id", None)
    if "duration_ms" in lasting:
        lasting["duration_ms"] = _rounded(lasting["duration_ms"])
    return lasting


def _rounded(milliseconds: float) -> float:
    """Three significant digits: the others are noise that changes in every run."""
    return float(f"{milliseconds:.3g}")


def saved_files(folder: Path) -> list[Path]:
    """The baselines in a folder, sorted."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; `trialrun baseline save` makes one")
    return sorted(file for file in folder.glob("*/*.json") if not file.name.startswith("."))


def read_baseline(file: Path) -> Trace:
    """Read one baseline. Raises TraceError if it is damaged or does not hold exactly one trace."""
    traces, problems, _ = scan(file)
    if problems or len(traces) != 1:
        why = str(problems[0]) if problems else f"{file}: {len(traces)} traces, expected one"
        raise TraceError(f"the baseline cannot be read: {why}")
    return traces[0]


def side_of(folder: Path, suites: Collection[str]) -> Side:
    """The saved baselines of these suites as one side of a comparison."""
    cases: dict[tuple[str, str], list[Seen]] = {}
    owners = {file_key(suite): suite for suite in suites}
    for file in saved_files(folder):
        suite = owners.get(file.parent.name)
        if suite is not None:
            trace = read_baseline(file)
            cases[suite, trace.name or file.stem] = [_seen(trace, file)]
    return Side(f"baseline {folder}", cases)


def _seen(trace: Trace, file: Path) -> Seen:
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
        answer=trace.output,
        path=trace.tool_call_sequence if TOOL_CALLS in trace.recorded else None,
        duration_ms=trace.total_duration_ms,
        metrics=metrics,
        **figures,
    )
