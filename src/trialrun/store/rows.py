"""Between records and rows of the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

from trialrun.store.codec import Redactor, original_text, safe_text
from trialrun.store.records import PlannedCase, RunRecord, RunState

Item = TypeVar("Item")
Moment = Callable[[datetime], Any]
"""What turns a time into a value that the driver takes."""

_RUN = (
    *("id", "spec", "spec_key", "state", "created_at", "finished_at", "planned", "repeat"),
    *("trialrun", "settings", "warnings", "kind", "source"),
)
_PLANNED = ("run_id", "position", "suite", "agent", "case", "tags")
_ATTEMPT = (
    *("run_id", "position", "attempt", "fingerprint", "status", "error"),
    *("duration_ms", "total_tokens", "cost_usd", "recorded_at", "result", "trace"),
)


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)  # `case` is a word of SQL


def _insert(table: str, columns: Sequence[str]) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({_listed(columns)}) VALUES ({marks})"


INSERT_RUN = _insert("trialrun_runs", _RUN)
INSERT_PLANNED = _insert("trialrun_planned", _PLANNED)
INSERT_ATTEMPT = _insert("trialrun_attempts", _ATTEMPT)
SELECT_RUNS = f"SELECT {_listed(_RUN)} FROM trialrun_runs"
SELECT_PLANNED = f"SELECT {_listed(_PLANNED[1:])} FROM trialrun_planned"


def chunks(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """The items, so many at a time."""
    while chunk := list(islice(items, size)):
        yield chunk


def run_values(run: RunRecord, redactor: Redactor, moment: Moment) -> list[Any]:
    """The values of `INSERT_RUN`. `spec_key` stays as it is: runs are looked up by it."""
    # The names of settings are our own: a user's pattern must not make them unreadable.
    settings = {name: redactor(value) for name, value in run.settings.items()}
    return [
        run.id,
        safe_text(redactor(run.spec)),
        safe_text(run.spec_key),
        run.state.value,
        moment(run.created_at),
        None if run.finished_at is None else moment(run.finished_at),
        run.planned,
        run.repeat,
        run.trialrun,
        json_text(settings),
        json_text(redactor(run.warnings)),
        run.kind,
        run.source,
    ]


def run_record(row: Sequence[Any]) -> RunRecord:
    """The run of a row of `SELECT_RUNS`; ValueError if a value is damaged."""
    given = dict(zip(_RUN, row, strict=True))
    return RunRecord(
        **{
            **given,
            "spec": _text(given["spec"]),
            "spec_key": _text(given["spec_key"]),
            "state": RunState(given["state"]),
            "created_at": _utc(given["created_at"]),
            "finished_at": None if given["finished_at"] is None else _utc(given["finished_at"]),
            "settings": _json(given["settings"]),
            "warnings": _json(given["warnings"]),
        }
    )


def planned_values(run_id: str, case: PlannedCase, redactor: Redactor) -> list[Any]:
    """The values of `INSERT_PLANNED`; names are what a report shows, and may hold secrets."""
    suite, agent, name, tags = redactor([case.suite, case.agent, case.case, list(case.tags)])
    return [
        run_id,
        case.position,
        safe_text(suite),
        None if agent is None else safe_text(agent),
        safe_text(name),
        json_text(tags),
    ]


def planned_case(row: Sequence[Any]) -> PlannedCase:
    """The planned case of a row of `SELECT_PLANNED`; ValueError if a value is damaged."""
    position, suite, agent, name, tags = row
    return PlannedCase(
        position=position,
        suite=_text(suite),
        agent=None if agent is None else _text(agent),
        case=_text(name),
        tags=tuple(_json(tags)),
    )


def json_text(value: Any) -> str:
    """Plain values as JSON in text: PostgreSQL's own JSON types refuse NUL and NaN."""
    return safe_text(json.dumps(value, ensure_ascii=False))


def _json(value: Any) -> Any:
    return json.loads(_text(value))


def _text(value: Any) -> str:
    # SQLite keeps a value of any type in any column: damage may have changed the type too.
    if not isinstance(value, str):
        raise ValueError(f"expected a text, found {value!r:.50}")
    return original_text(value)


def _utc(value: Any) -> datetime:
    """A time in UTC: PostgreSQL gives one with a time zone, SQLite a text without one."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return datetime.fromisoformat(_text(value)).replace(tzinfo=UTC)
