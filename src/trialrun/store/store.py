"""A store of runs: written while they go on, read by whoever wants to know."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from trialrun.errors import StoreWriteError, UsageError
from trialrun.model.results import LAYERS, EvaluationResult, LayerStatus
from trialrun.store.codec import (
    Damaged,
    Redactor,
    Unwritable,
    pack_attempt,
    redact_plain,
    unpack_result,
    unpack_trace,
)
from trialrun.store.database import Database
from trialrun.store.lookup import find
from trialrun.store.records import Attempt, PlannedCase, RunRecord, RunState
from trialrun.store.rows import chunks, planned_case, planned_row, run_record, run_row
from trialrun.store.tables import attempts as attempts_table
from trialrun.store.tables import planned as planned_table
from trialrun.store.tables import runs as runs_table

_PLAN_CHUNK = 1000
_RESULT_CHUNK = 200
_TRACE_CHUNK = 20  # a trace may have megabytes
_POSITIONS_CHUNK = 500  # values in one query
_LONGEST_ERROR = 300

_INSERT_RUN = insert(runs_table)
_INSERT_PLANNED = insert(planned_table)
_INSERT_ATTEMPT = insert(attempts_table)


class Store:
    """Runs in a database. Threads may share it; each call is a transaction of its own.

    Whatever is written goes through a redactor first: a function from a plain value to the same
    value without secrets.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.location = database.location

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def create_run(
        self, run: RunRecord, plan: Iterable[PlannedCase], redactor: Redactor = redact_plain
    ) -> None:
        """Record the run and all that it plans, or nothing."""
        rows = ({"run_id": run.id, **planned_row(case, redactor)} for case in plan)
        count = 0
        try:
            with self._database.writing() as connection:
                connection.execute(_INSERT_RUN, run_row(run, redactor))
                for chunk in chunks(rows, _PLAN_CHUNK):
                    connection.execute(_INSERT_PLANNED, chunk)
                    count += len(chunk)
                if count != run.planned:
                    raise ValueError(f"run {run.id} plans {run.planned} cases, {count} were given")
        except IntegrityError:
            raise StoreWriteError(
                f"run {run.id} is in {self.location} already, or plans a position twice"
            ) from None

    def add(self, run_id: str, attempts: Sequence[Attempt], redactor: Redactor) -> None:
        """Record the attempts, all or none: on disk when this returns, and never a second time."""
        now = datetime.now(UTC)
        rows = [self._attempt_row(run_id, attempt, redactor, now) for attempt in attempts]
        if not rows:
            return
        try:
            with self._database.writing() as connection:
                connection.execute(_INSERT_ATTEMPT, rows)
        except IntegrityError:
            raise self._refused(run_id, attempts) from None

    def _attempt_row(
        self, run_id: str, attempt: Attempt, redactor: Redactor, now: datetime
    ) -> dict[str, Any]:
        try:
            plain, result, trace = pack_attempt(attempt, redactor)
        except Unwritable as reason:
            raise StoreWriteError(
                f"run {run_id}, case {attempt.result.case_name!r}, attempt {attempt.attempt} "
                f"cannot be recorded: {reason}"
            ) from None
        error = plain.get("error")
        return {
            "run_id": run_id,
            "position": attempt.position,
            "attempt": attempt.attempt,
            "fingerprint": attempt.fingerprint,
            "status": plain["status"],
            "error": None if error is None else error[:_LONGEST_ERROR],
            "duration_ms": plain.get("duration_ms"),
            "total_tokens": plain.get("total_tokens"),
            "cost_usd": plain.get("cost_usd"),
            "recorded_at": now,
            "result": result,
            "trace": trace,
        }

    def _refused(self, run_id: str, attempts: Sequence[Attempt]) -> StoreWriteError:
        """Which of the attempts is there already, or was not planned."""
        recorded = self.recorded(run_id)
        planned = {case.position for case in self.plan(run_id)}
        seen: set[tuple[int, int]] = set()
        for made in attempts:
            name = f"case {made.result.case_name!r}, attempt {made.attempt}"
            if made.position not in planned:
                return StoreWriteError(f"run {run_id} does not plan {name} (at {made.position})")
            before = any(made.attempt == attempt for attempt, _ in recorded.get(made.position, ()))
            if before or (made.position, made.attempt) in seen:
                return StoreWriteError(f"run {run_id}: {name} is recorded already")
            seen.add((made.position, made.attempt))
        return StoreWriteError(f"run {run_id}: the attempts are refused by {self.location}")

    def finish(
        self,
        run_id: str,
        state: RunState,
        finished_at: datetime | None,
        warnings: Sequence[str],
        redactor: Redactor = redact_plain,
    ) -> None:
        """Say how the run ended; or, with RUNNING and None, that it goes on."""
        ended = {
            "state": state.value,
            "finished_at": finished_at,
            "warnings": redactor(list(warnings)),
        }
        with self._database.writing() as connection:
            where = runs_table.c.id == run_id
            if not connection.execute(update(runs_table).where(where).values(ended)).rowcount:
                raise self._no_run(run_id)

    def hold(self, run_id: str) -> AbstractContextManager[None]:
        """Keep the run for this process; UsageError if another has it. A kill releases it."""
        return self._database.hold(run_id)

    def is_held(self, run_id: str) -> bool:
        """Whether a process, this one included, holds the run."""
        return self._database.is_held(run_id)

    def delete_runs(self, ids: Iterable[str], *, held: bool = False) -> int:
        """Delete runs with all that belongs to them; how many there were.

        One that a process holds is refused, unless that is ourselves (`held`).
        """
        wanted = sorted(set(ids))
        for run_id in wanted:
            if not held and self.is_held(run_id):
                raise self._database.held_already(run_id)
        with self._database.writing() as connection:
            deleted = sum(
                connection.execute(delete(runs_table).where(runs_table.c.id == run_id)).rowcount
                for run_id in wanted
            )
        if deleted:
            self._database.reclaim()
        return deleted

    def runs(self, spec_key: str | None = None, limit: int | None = None) -> list[RunRecord]:
        """The newest first; of one spec, where it is given."""
        query = select(runs_table).order_by(runs_table.c.created_at.desc(), runs_table.c.id.desc())
        if spec_key is not None:
            query = query.where(runs_table.c.spec_key == spec_key)
        with self._database.reading() as connection:
            return [run_record(row) for row in connection.execute(query.limit(limit))]

    def find_run(self, reference: str, spec_key: str | None = None) -> RunRecord:
        """The run meant by `latest`, `latest~1`, an id or the beginning of one."""
        return find(reference, self.runs(), spec_key, self.location)

    def plan(self, run_id: str) -> Iterator[PlannedCase]:
        """What the run planned, in order."""
        self._require(run_id)
        last = -1
        while True:
            query = (
                select(planned_table)
                .where(planned_table.c.run_id == run_id, planned_table.c.position > last)
                .order_by(planned_table.c.position)
                .limit(_PLAN_CHUNK)
            )
            with self._database.reading() as connection:
                rows = connection.execute(query).all()
            yield from map(planned_case, rows)
            if len(rows) < _PLAN_CHUNK:
                return
            last = rows[-1].position

    def recorded(self, run_id: str) -> dict[int, list[tuple[int, str]]]:
        """The attempts that were made, with their statuses, by position."""
        self._require(run_id)
        table = attempts_table.c
        query = select(table.position, table.attempt, table.status).where(table.run_id == run_id)
        found: dict[int, list[tuple[int, str]]] = {}
        with self._database.reading() as connection:
            for row in connection.execute(query.order_by(table.position, table.attempt)):
                found.setdefault(row.position, []).append((row.attempt, row.status))
        return found

    def tally(self, run_id: str) -> dict[str, int]:
        """How many attempts of the run ended how."""
        self._require(run_id)
        table = attempts_table.c
        query = (
            select(table.status, func.count().label("attempts"))
            .where(table.run_id == run_id)
            .group_by(table.status)
        )
        with self._database.reading() as connection:
            return {row.status: row.attempts for row in connection.execute(query)}

    def fingerprints(self, run_id: str) -> dict[int, set[str]]:
        """What was asked in the attempts that were made, by position."""
        self._require(run_id)
        table = attempts_table.c
        query = select(table.position, table.fingerprint).where(table.run_id == run_id)
        found: dict[int, set[str]] = {}
        with self._database.reading() as connection:
            for position, asked in connection.execute(query):
                found.setdefault(position, set()).add(asked)
        return found

    def attempts(
        self, run_id: str, positions: Collection[int] | None = None, *, traces: bool = True
    ) -> Iterator[Attempt]:
        """The attempts by position and number; their traces too, unless they are not wanted.

        A damaged one has no trace, and a result that is an ERROR and says so.
        """
        table = attempts_table.c
        columns: list[ColumnElement[Any]] = [table.fingerprint, table.result]
        if traces:
            columns.append(table.trace)
        size = _TRACE_CHUNK if traces else _RESULT_CHUNK
        for row in self._rows(run_id, columns, positions, size):
            trace = None
            try:
                result = unpack_result(row.result)
                if traces and row.trace is not None:
                    trace = unpack_trace(row.trace)
            except Damaged as damage:
                result = self._damaged(run_id, row, damage)
            yield Attempt(
                position=row.position,
                attempt=row.attempt,
                fingerprint=row.fingerprint,
                result=result,
                trace=trace,
            )

    def _rows(
        self,
        run_id: str,
        columns: Sequence[ColumnElement[Any]],
        positions: Collection[int] | None,
        size: int,
    ) -> Iterator[Row[Any]]:
        """Rows of attempts, read some at a time so that a long run does not fill the memory.

        Each part is a transaction of its own: one that lasted as long as the reader takes would
        keep SQLite from cleaning its log up.
        """
        self._require(run_id)
        table = attempts_table.c
        place = tuple_(table.position, table.attempt)
        query = select(table.position, table.attempt, *columns).where(table.run_id == run_id)
        query = query.order_by(table.position, table.attempt).limit(size)
        groups: Iterable[list[int] | None] = [None]
        if positions is not None:
            groups = chunks(iter(sorted(set(positions))), _POSITIONS_CHUNK)
        for group in groups:
            part = query if group is None else query.where(table.position.in_(group))
            last = (-1, -1)
            while True:
                with self._database.reading() as connection:
                    rows = connection.execute(part.where(place > last)).all()
                yield from rows
                if len(rows) < size:
                    break
                last = (rows[-1].position, rows[-1].attempt)

    def _damaged(self, run_id: str, row: Row[Any], damage: Damaged) -> EvaluationResult:
        """An ERROR in the place of a record that cannot be read: it counts, and never as a pass."""
        where = (planned_table.c.run_id == run_id) & (planned_table.c.position == row.position)
        with self._database.reading() as connection:
            case = planned_case(connection.execute(select(planned_table).where(where)).one())
        plain = {
            "case_name": case.case,
            "suite_name": case.suite,
            "agent": case.agent,
            "attempt": row.attempt,
            "tags": case.tags,
            "status": LayerStatus.ERROR,
            "layers": {layer: {"status": "skip"} for layer in LAYERS},
            "metrics": [],
            "error": f"the record of run {run_id}, case {case.case!r}, attempt {row.attempt} is "
            f"damaged in {self.location}: {damage}",
        }
        return msgspec.convert(plain, EvaluationResult)

    def costs(
        self, spec_key: str, limit_runs: int = 3
    ) -> dict[tuple[str, str | None, str], list[float]]:
        """What the cases of a spec cost of late, where known: (suite, agent, case) → dollars."""
        newest = [run.id for run in self.runs(spec_key) if run.kind == "run"][:limit_runs]
        joined = planned_table.join(attempts_table)
        case, cost = planned_table.c, attempts_table.c.cost_usd
        query = (
            select(case.suite, case.agent, case.case, cost)
            .select_from(joined)
            .where(case.run_id.in_(newest), cost.is_not(None))
            .order_by(case.run_id.desc(), case.position, attempts_table.c.attempt)
        )
        found: dict[tuple[str, str | None, str], list[float]] = {}
        with self._database.reading() as connection:
            for suite, agent, name, dollars in connection.execute(query):
                found.setdefault((suite, agent, name), []).append(dollars)
        return found

    def _require(self, run_id: str) -> None:
        """A run that is not there is an error: it would look like one without results."""
        with self._database.reading() as connection:
            if not _is_there(connection, run_id):
                raise self._no_run(run_id)

    def _no_run(self, run_id: str) -> UsageError:
        return UsageError(f"there is no run {run_id} in {self.location}")


def _is_there(connection: Connection, run_id: str) -> bool:
    return connection.scalar(select(runs_table.c.id).where(runs_table.c.id == run_id)) is not None
