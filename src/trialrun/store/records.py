"""What a store holds: runs, what each of them planned, and the attempts that were made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.model.asked import Asked
from trialrun.model.results import EvaluationResult
from trialrun.model.trace import Trace

VERIFY = "verify"
"""The kind of runs whose cases are sessions: no spec belongs to them."""


class RunState(StrEnum):
    """The state of a run. `stopped`: ended on purpose before all had a verdict; can be resumed."""

    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"


def spec_key(path: str | Path) -> str:
    """The key under which the runs of a spec are found, independent of the working folder."""
    return str(Path(path).resolve())


class RunRecord(Struct, kw_only=True):
    """One run. `spec` is what the user gave, `spec_key` the resolved path that runs are found by.

    `planned` counts cases × agents. `source` is the run that a regrade judged again. `origin` says
    where the run came from: commit, CI, labels, names of agents and models.
    """

    id: str
    spec: str
    spec_key: str
    kind: str = "run"
    source: str | None = None
    state: RunState = RunState.RUNNING
    created_at: datetime
    finished_at: datetime | None = None
    planned: int
    repeat: int = 1
    trialrun: str
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    warnings: list[str] = msgspec.field(default_factory=list)
    origin: dict[str, Any] = msgspec.field(default_factory=dict)


class PlannedCase(Struct, kw_only=True):
    """One case for one agent, at its place in the run."""

    position: int
    suite: str
    agent: str | None = None
    case: str
    tags: Sequence[str] = ()


class Attempt(Struct, kw_only=True):
    """One answer to a planned case, and what was found in it.

    `fingerprint` says what was asked: a case that was changed since has another one. `asked` says
    it in full, and is read back by `Store.asked`.
    Read from a store, `trace` is None where there was none, or where the record is damaged:
    `result` is then an ERROR that says so.
    """

    position: int
    attempt: int
    fingerprint: str = ""
    result: EvaluationResult
    trace: Trace | None = None
    asked: Asked | None = None


_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # without l, o, 0 and 1, which are read wrongly


def new_run_id(now: datetime) -> str:
    """An id that sorts by time: `20261115-233847-k3f9`."""
    import secrets  # loads OpenSSL; reading a store needs no new id

    end = "".join(secrets.choice(_ALPHABET) for _ in range(4))
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{end}"
