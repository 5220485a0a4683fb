"""Between records and rows of the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeVar

import msgspec

from trialrun.model.asked import Asked
from trialrun.store.codec import Redactor, original_text, safe_text
from trialrun.store.connection import Connection
from trialrun.store.migrations import ASKED_TABLE
from trialrun.store.records import Attempt, PlannedCase, RunRecord, RunState

_MOST_VALUES = 500
"""In one query; databases have limits."""

Item = TypeVar("Item")
Moment = Callable[[datetime], Any]
"""What turns a time into a value that the driver takes."""

_RUN = (
    *("id", "spec", "spec_key", "state", "created_at", "finished_at", "planned", "repeat"),
    *("trialrun", "settings", "warnings", "kind", "source", "origin"),
)
_PLANNED = ("run_id", "position", "suite", "agent", "case", "tags")
_ATTEMPT = (
    *("run_id", "position", "attempt", "fingerprint", "status", "error"),
    *("duration_ms", "total_tokens", "cost_usd", "recorded_at", "result", "trace"),
)


_ASKED = ("run_id", "fingerprint", "asked")


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)  # `case` is a word of SQL


def _insert(table: str, columns: Sequence[str]) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({_listed(columns)}) VALUES ({marks})"


INSERT_RUN = _insert("trialrun_runs", _RUN)
INSERT_PLANNED = _insert("trialrun_planned", _PLANNED)
INSERT_ATTEMPT = _insert("trialrun_attempts", _ATTEMPT)
INSERT_ASKED = f"{_insert(ASKED_TABLE, _ASKED)} ON CONFLICT DO NOTHING"
SELECT_ASKED = f"SELECT {_listed(_ASKED[1:])} FROM {ASKED_TABLE} WHERE run_id = ?"
SELECT_RUNS = f"SELECT {_listed(_RUN)} FROM trialrun_runs"
ATTEMPT_CONTENT = tuple(name for name in _ATTEMPT if name not in ("run_id", "recorded_at"))
"""What an attempt is: position and number first, the fingerprint third, the trace last."""
_OF_RUN = "FROM trialrun_attempts WHERE run_id = ?"
SELECT_ATTEMPTS = f"SELECT {_listed(ATTEMPT_CONTENT)} {_OF_RUN}"
SELECT_RESULTS = f"SELECT {_listed(ATTEMPT_CONTENT[:-1])}, NULL {_OF_RUN}"
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
        origin_text(run.origin, redactor),
    ]


def origin_text(origin: dict[str, Any], redactor: Redactor) -> str | None:
    """Where a run came from as it is stored; its keys are our own, and stay as they are."""
    if not origin:
        return None
    return json_text({name: redactor(value) for name, value in origin.items()})


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
            "planned": _whole(given["planned"]),
            "repeat": _whole(given["repeat"]),
            "settings": _json(given["settings"]),
            "warnings": _json(given["warnings"]),
            "origin": {} if given["origin"] is None else _json(given["origin"]),
        }
    )


def planned_values(
    run_id: str, cases: Sequence[PlannedCase], redactor: Redactor
) -> list[list[Any]]:
    """The values of `INSERT_PLANNED`; names are what a report shows, and may hold secrets."""
    shown = redactor([[case.suite, case.agent, case.case, list(case.tags)] for case in cases])
    return [
        [
            run_id,
            case.position,
            safe_text(suite),
            None if agent is None else safe_text(agent),
            safe_text(name),
            json_text(tags),
        ]
        for case, (suite, agent, name, tags) in zip(cases, shown, strict=True)
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


def asked_values(run_id: str, attempt: Attempt, redactor: Redactor) -> list[Any] | None:
    """The values of `INSERT_ASKED`; None if the attempt does not say what was asked."""
    if attempt.asked is None:
        return None
    plain = msgspec.to_builtins(attempt.asked)
    if redactor(plain) is not plain:
        plain["questions"] = redactor(plain["questions"])
        for check in plain["checks"].values():
            check["settings"] = redactor(check["settings"])
    return [run_id, attempt.fingerprint, json_text(plain)]


def asked_of(
    connection: Connection, run_id: str, fingerprints: Iterable[str]
) -> Iterator[tuple[str, Asked]]:
    """What was asked, by these fingerprints; ValueError if a record of it is damaged."""
    for some in chunks(iter(fingerprints), _MOST_VALUES):
        query = f"{SELECT_ASKED} AND fingerprint IN ({', '.join('?' * len(some))})"
        for fingerprint, text in connection.rows(query, [run_id, *some]):
            yield fingerprint, msgspec.convert(_json(text), Asked)


def attempt_content(values: Sequence[Any]) -> list[Any]:
    """The columns of `ATTEMPT_CONTENT`, from the values of `INSERT_ATTEMPT`."""
    named = dict(zip(_ATTEMPT, values, strict=True))
    return [named[column] for column in ATTEMPT_CONTENT]


def row_digest(row: Sequence[Any]) -> bytes:
    """A digest of a row of attempts as `ATTEMPT_CONTENT` lists it: equal rows, equal digests.

    Databases give a whole number back as 5.0, and bytes as another type of bytes.
    """
    facts: list[Any] = []
    blobs = []
    for value in row:
        if isinstance(value, (bytes, memoryview)):
            blobs.append(value)
            facts.append((len(value),))  # like no other value: where one ends is part of the digest
        else:
            facts.append(float(value) if isinstance(value, (int, float)) else value)
    digest = blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16)
    for blob in blobs:
        digest.update(blob)
    return digest.digest()


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


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise ValueError(f"expected a whole number, found {value!r:.50}")
    return value


def _utc(value: Any) -> datetime:
    """A time in UTC: PostgreSQL gives one with a time zone, SQLite a text without one."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return datetime.fromisoformat(_text(value)).replace(tzinfo=UTC)
