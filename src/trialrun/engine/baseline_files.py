"""Save and read baselines as files for git: one per case, redacted, keys sorted.

Values that differ in every run (ids, clock times, printed output) are left out, so that a diff
shows only what the agent does differently.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.engine.baseline_lookup import REPEATS, RULES, read_baseline
from trialrun.engine.baseline_rules import kept, propose
from trialrun.engine.evaluate import why_no_answer
from trialrun.errors import TraceError, UsageError
from trialrun.model.argument_rules import EXACT, NO_RULES, Rules
from trialrun.model.baseline import Baseline, changes_from, repeats_of
from trialrun.model.behaviour import Changes
from trialrun.model.results import CheckResult, EvaluationResult, LayerStatus
from trialrun.model.statuses import fold_checks
from trialrun.model.trace import Trace
from trialrun.model.trace_format import from_plain
from trialrun.redaction import is_masked
from trialrun.store.records import Attempt
from trialrun.util.files import reason, replace_file

VERDICT = "baseline"
"""Metadata key of a saved baseline that holds its verdict and its metrics."""

_RUN_FIELDS = ("id", "started_at", "completed_at")
_RUN_NOTES = ("printed", "tries", "notes", "teardown_failed")

Redact = Callable[[Any], Any]


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
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


class Written(Struct, frozen=True):
    """A baseline file: the runs and the rules in it, and whether it differs from the one before.

    `changes` is how its first run differs from the baseline that it replaced.
    """

    file: Path
    repeats: Sequence[Trace]
    rules: Rules
    is_new: bool
    changes: Changes | None = None


def write(
    target: Path, attempts: Sequence[Attempt], redact: Redact, *, keeps_rules: bool = False
) -> Written:
    """Write the attempts as a baseline; rules that a person changed in the file are kept.

    With `keeps_rules`, and if it had more attempts, so are all others: fewer attempts do not show
    what may vary. A file stays as it is where only durations differ.
    """
    try:
        old = target.read_bytes() if target.is_file() else None
        earlier = read_earlier(target)
        had_more = isinstance(earlier, Baseline) and len(repeats_of(earlier)) > len(attempts)
        plain = _content(attempts, redact, earlier, keeps_rules or had_more)
        data = _encoded(plain)
        is_new = old is None or not _same_but_for_times(old, data)
        if is_new:
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, [data])
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {reason(error)}") from None
    rules = msgspec.convert(plain.pop(RULES, {}), Rules)
    traces = [from_plain(one)[0] for one in (plain, *plain.pop(REPEATS, ()))]
    changes = None if earlier is None else changes_from(earlier, traces[0], is_hidden=is_masked)
    return Written(target, traces, rules, is_new, changes)


def read_earlier(target: Path) -> Trace | None:
    """The baseline that will be replaced; None if there is none, or if it is damaged."""
    try:
        return read_baseline(target) if target.is_file() else None
    except (TraceError, OSError):
        return None


_TIMES = ("duration_ms", "duration", "last_turn_ms")


def _same_but_for_times(old: bytes, new: bytes) -> bool:
    """Whether only durations differ, which they always do: the file then stays as it is.

    Compared as they are read: the same run in an older format is the same.
    """
    try:
        before, after = (_as_read(data) for data in (old, new))
    except (TraceError, ValueError, RecursionError):
        return False
    return bool(before == after)


def _as_read(data: bytes) -> Any:
    plain = msgspec.json.decode(data)
    traces = [plain, *plain.pop(REPEATS, ())]
    rules = plain.pop(RULES, None)
    return [rules, *(_without_times(from_plain(one)[0].to_dict()) for one in traces)]


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key not in _TIMES}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def baseline_bytes(
    attempts: Sequence[Attempt], redact: Redact, earlier: Trace | None = None
) -> bytes:
    """The content of a baseline file; rules that a person changed in `earlier` are kept."""
    return _encoded(_content(attempts, redact, earlier, keeps_rules=False))


def _encoded(plain: dict[str, Any]) -> bytes:
    encoded = msgspec.json.encode(plain, order="sorted")
    return msgspec.json.format(encoded, indent=2) + b"\n"


def _content(
    attempts: Sequence[Attempt], redact: Redact, earlier: Trace | None, keeps_rules: bool
) -> dict[str, Any]:
    traces = [redact(_stable_trace(attempt)) for attempt in attempts]
    rules = kept(earlier, propose([from_plain(dict(trace))[0] for trace in traces]))
    if keeps_rules and isinstance(earlier, Baseline):
        rules = with_earlier(rules, earlier.rules)
    plain: dict[str, Any] = dict(traces[0])
    if len(traces) > 1:
        plain[REPEATS] = traces[1:]
    if rules != NO_RULES:
        plain[RULES] = msgspec.to_builtins(rules)
    return plain


def with_earlier(found: Rules, earlier: Rules) -> Rules:
    """The rules, with those of the earlier file for calls that are made no more, or alike.

    An argument that was exact and varies now has the new rule.
    """
    arguments = {tool: dict(rules) for tool, rules in found.arguments.items()}
    for tool, rules in earlier.arguments.items():
        known = arguments.setdefault(tool, {})
        known |= {name: rule for name, rule in rules.items() if rule != EXACT or name not in known}
    any_number = dict.fromkeys((*found.any_number, *earlier.any_number))
    return Rules(dict(sorted(arguments.items())), list(any_number))


def _stable_trace(attempt: Attempt) -> dict[str, Any]:
    """The trace of an attempt without what differs in every run, with its verdict."""
    trace, result = attempt.trace, attempt.result
    assert trace is not None
    plain = trace.to_dict()
    for key in _RUN_FIELDS:
        plain.pop(key, None)
    keeps_ids = any("parent_id" in step for step in plain.get("steps", ()))
    if "steps" in plain:  # steps that were never given stay so
        plain["steps"] = [_stable_step(step, keeps_ids) for step in plain["steps"]]
    plain["recorded"] = sorted(trace.recorded)
    if trace.duration_ms is not None:
        plain["duration_ms"] = _rounded(trace.duration_ms)
    saved = {key: value for key, value in trace.metadata.items() if key not in _RUN_NOTES}
    saved[VERDICT] = {
        "status": verdict_apart(result, trace).value,
        # As the run computed them: it may have used custom prices.
        "cost_usd": result.cost_usd,
        "total_tokens": result.total_tokens,
        "metrics": {metric.metric_name: metric.value for metric in result.metrics},
    }
    plain["metadata"] = saved
    return plain


_MULTIPLIERS = ("max_cost_multiplier",)  # against a baseline, and not of the layer `regression`


def is_against_baseline(layer: str, check: CheckResult) -> bool:
    """Whether the check compares the run with its baseline."""
    return layer == "regression" or check.name in _MULTIPLIERS


def verdict_apart(result: EvaluationResult, trace: Trace) -> LayerStatus:
    """The verdict on the attempt apart from the checks against the baseline before."""
    checks = list(result.checks())
    others = [check for layer, check in checks if not is_against_baseline(layer, check)]
    if len(others) == len(checks) or why_no_answer(trace) is not None:
        return result.status
    folded = fold_checks(others)
    return LayerStatus.PASS if folded is LayerStatus.SKIP else folded


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
