"""A store of runs: written while they go on, and read at any time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from types import TracebackType
from typing import Any

from trialrun.errors import StoreError, StoreWriteError, UsageError
from trialrun.model.asked import Asked
from trialrun.model.results import EvaluationResult
from trialrun.store.backends.base import Conflict, ConnectionLost, Database
from trialrun.store.codec import (
    Damaged,
    Redactor,
    Unwritable,
    pack_attempt,
    redact_plain,
    safe_text,
    unpack_result,
    unpack_trace,
)
from trialrun.store.labels import LabelBook
from trialrun.store.lookup import find
from trialrun.store.records import Attempt, PlannedCase, RunRecord, RunState
from trialrun.store.rows import (
    INSERT_ASKED,
    INSERT_ATTEMPT,
    INSERT_PLANNED,
    INSERT_RUN,
    SELECT_ATTEMPTS,
    SELECT_PLANNED,
    SELECT_RESULTS,
    SELECT_RUNS,
    asked_of,
    asked_values,
    attempt_content,
    chunks,
    json_text,
    origin_text,
    planned_case,
    planned_values,
    run_record,
    run_values,
)
from trialrun.store.tallies import Tallies
from trialrun.store.written import Differences, Written

_PLAN_CHUNK = 1000
_RESULT_CHUNK = 200
_TRACE_CHUNK = 20  # a trace may have megabytes
_POSITIONS_CHUNK = 500  # values in one query
_LONGEST_ERROR = 300


class Store:
    """Runs in a database. Threads may share it; each call is a separate transaction.

    Whatever is written goes through a redactor first: a function from a plain value to the same
    value without secrets.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.location = database.location
        self.tallies = Tallies(database)
        self.labels = LabelBook(database)
        self._written: dict[str, Written] = {}  # of runs that this process writes: see `watch`
        self._with_masks: set[str] = set()

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
        count = 0
        try:
            with self._database.writing() as connection:
                values = run_values(run, redactor, self._database.moment)
                connection.execute(INSERT_RUN, values)
                for cases in chunks(iter(plan), _PLAN_CHUNK):
                    rows = planned_values(run.id, cases, redactor)
                    connection.execute_many(INSERT_PLANNED, rows)
                    count += len(rows)
                if count != run.planned:
                    raise ValueError(f"run {run.id} plans {run.planned} cases, {count} were given")
        except Conflict:
            raise StoreWriteError(
                f"run {run.id} is in {self.location} already, or plans a position twice"
            ) from None

    def extend(
        self, run_id: str, plan: Sequence[PlannedCase], redactor: Redactor = redact_plain
    ) -> None:
        """Plan further cases: for a run that finds its cases as it goes on."""
        rows = planned_values(run_id, plan, redactor)
        more = "UPDATE trialrun_runs SET planned = planned + ? WHERE id = ?"
        with self._database.writing() as connection:
            connection.execute_many(INSERT_PLANNED, rows)
            connection.execute(more, [len(rows), run_id])

    def add(self, run_id: str, attempts: Sequence[Attempt], redactor: Redactor) -> None:
        """Record the attempts, all or none: on disk when this returns, and never a second time."""
        now = self._database.moment(datetime.now(UTC))
        rows = [self._attempt_row(run_id, attempt, redactor, now) for attempt in attempts]
        asked = [asked_values(run_id, attempt, redactor) for attempt in attempts]
        if not rows:
            return
        try:
            self._insert(run_id, rows, [values for values in asked if values is not None])
        except Conflict:
            raise self._refused(run_id, attempts) from None
        if run_id in self._written:
            self._written[run_id].add(map(attempt_content, rows))

    def _insert(self, run_id: str, rows: list[list[Any]], asked: list[list[Any]]) -> None:
        """Insert the rows; a second time, if the connection was lost and a new one can be made."""
        try:
            self._insert_once(rows, asked)
        except ConnectionLost:
            if not self._database.recovered():
                raise
            try:
                self._insert_once(rows, asked)
            except Conflict:
                # Only the confirmation of the first time was lost, if these are the same rows.
                positions = [row[1] for row in rows]
                there = Written(self._content(run_id, positions))
                if not all(there.holds(attempt_content(row)) for row in rows):
                    raise

    def _insert_once(self, rows: list[list[Any]], asked: list[list[Any]]) -> None:
        with self._database.writing() as connection:
            connection.execute_many(INSERT_ATTEMPT, rows)
            if asked:
                connection.execute_many(INSERT_ASKED, asked)

    def _attempt_row(
        self, run_id: str, attempt: Attempt, redactor: Redactor, now: Any
    ) -> list[Any]:
        try:
            plain, result, trace, has_masks = pack_attempt(attempt, redactor)
        except Unwritable as reason:
            raise StoreWriteError(
                f"run {run_id}, case {attempt.result.case_name!r}, attempt {attempt.attempt} "
                f"cannot be recorded: {reason}"
            ) from None
        if has_masks:
            self._with_masks.add(run_id)
        error = plain.get("error")
        return [
            run_id,
            attempt.position,
            attempt.attempt,
            attempt.fingerprint,
            plain["status"],
            None if error is None else safe_text(error[:_LONGEST_ERROR]),
            plain.get("duration_ms"),
            plain.get("total_tokens"),
            plain.get("cost_usd"),
            now,
            result,
            trace,
        ]

    def _refused(self, run_id: str, attempts: Sequence[Attempt]) -> StoreWriteError:
        """Which of the attempts is there already, or was not planned."""
        try:
            recorded = self.recorded(run_id)
            planned = {case.position for case in self.plan(run_id)}
        except UsageError as error:
            if run_id not in self._written:
                raise
            return StoreWriteError(str(error))  # the run was there, and was deleted meanwhile
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
        origin: dict[str, Any] | None = None,
    ) -> None:
        """Record how the run ended, or (RUNNING, None) that it is running again."""
        ended = None if finished_at is None else self._database.moment(finished_at)
        change = "UPDATE trialrun_runs SET state = ?, finished_at = ?, warnings = ?"
        values = [state.value, ended, json_text(redactor(list(warnings)))]
        if origin is not None:
            change += ", origin = ?"
            values.append(origin_text(origin, redactor))
        with self._database.writing() as connection:
            if not connection.execute(f"{change} WHERE id = ?", [*values, run_id]).rowcount:
                raise self._no_run(run_id)

    def watch(self, run_id: str) -> None:
        """From now on, trust only what this store wrote of the run, or what is there now.

        Whatever else appears in the record is left out, and what is changed in it is an ERROR.
        """
        self._written[run_id] = Written(self._content(run_id), self._plan_digest(run_id))

    def wrote_masks(self, run_id: str) -> bool:
        """Whether something is masked in a result that this store wrote of the run."""
        return run_id in self._with_masks

    def verify(self, run_id: str) -> Differences:
        """Read the watched run again from where the store is; how it differs from what was written.

        Rows that are not what was written are deleted: a resumed run makes these attempts again.
        """
        self._database.reconnect()
        if self._plan_digest(run_id) != self._written[run_id].plan:
            raise StoreError(f"the plan of run {run_id} in {self.location} was changed")
        found = self._written[run_id].verified(self._content(run_id))
        wrong = [(run_id, *key) for key in (*found.changed, *found.foreign)]
        if wrong:
            one = "run_id = ? AND position = ? AND attempt = ?"
            with self._database.writing() as connection:
                connection.execute_many(f"DELETE FROM trialrun_attempts WHERE {one}", wrong)
        return found

    def _plan_digest(self, run_id: str) -> bytes:
        digest = blake2b(digest_size=16)
        for case in self.plan(run_id):
            digest.update(repr(case).encode("utf-8", "surrogatepass"))
        return digest.digest()

    def asked(self, run_id: str, of: Collection[str]) -> dict[str, Asked]:
        """What was asked, by fingerprint, as far as these are recorded; older stores have none."""
        with self._database.reading() as connection:
            return dict(asked_of(connection, run_id, of))

    def hold(self, run_id: str) -> AbstractContextManager[None]:
        """Keep the run for this process; UsageError if another has it. A kill releases it."""
        return self._database.hold(run_id)

    def is_held(self, run_id: str) -> bool:
        """Whether a process, this one included, holds the run."""
        return self._database.is_held(run_id)

    def delete_runs(self, ids: Iterable[str], *, held: bool = False) -> int:
        """Delete runs with all that belongs to them; how many there were.

        One that a process holds is refused; `held` says that this process holds them.
        """
        wanted = sorted(set(ids))
        for run_id in wanted:
            if not held and self.is_held(run_id):
                raise self._database.held_already(run_id)
        with self._database.writing() as connection:
            deleted = sum(
                connection.execute("DELETE FROM trialrun_runs WHERE id = ?", [run_id]).rowcount
                for run_id in wanted
            )
        if deleted:
            self._database.reclaim()
        return deleted

    def runs(self, spec_key: str | None = None, limit: int | None = None) -> list[RunRecord]:
        """The last one that was begun first, whatever its clock said; of one spec, if given."""
        query = SELECT_RUNS
        values: list[str | int] = []
        if spec_key is not None:
            query += " WHERE spec_key = ?"
            values.append(safe_text(spec_key))
        query += f" ORDER BY {self._database.run_number} DESC"
        if limit is not None:
            query += " LIMIT ?"
            values.append(limit)
        with self._database.reading() as connection:
            return [run_record(row) for row in connection.rows(query, values)]

    def find_run(self, reference: str, spec_key: str | None = None) -> RunRecord:
        """The run meant by `latest`, `latest~1`, an id or the beginning of one."""
        return find(reference, self.runs(), spec_key, self.location)

    def plan(self, run_id: str) -> Iterator[PlannedCase]:
        """What the run planned, in order."""
        self._require(run_id)
        query = (
            f"{SELECT_PLANNED} WHERE run_id = ? AND position > ?"
            f" ORDER BY position LIMIT {_PLAN_CHUNK}"
        )
        last = -1
        while True:
            with self._database.reading() as connection:
                cases = [planned_case(row) for row in connection.rows(query, [run_id, last])]
            yield from cases
            if len(cases) < _PLAN_CHUNK:
                return
            last = cases[-1].position

    def recorded(self, run_id: str) -> dict[int, list[tuple[int, str]]]:
        """The attempts that were made, with their statuses, by position."""
        return dict(self.made(run_id))

    def made(self, run_id: str) -> Iterator[tuple[int, list[tuple[int, str]]]]:
        """The same, position by position and in pages: a large run would fill the memory."""
        self._require(run_id)
        written = self._written.get(run_id)
        rows = self._statuses(run_id) if written is None else written.made()
        for position, group in groupby(rows, key=itemgetter(0)):
            yield position, [(attempt, status) for _, attempt, status in group]

    def _statuses(self, run_id: str) -> Iterator[Sequence[Any]]:
        query = (
            "SELECT position, attempt, status FROM trialrun_attempts WHERE run_id = ?"
            f" AND (position, attempt) > (?, ?) ORDER BY position, attempt LIMIT {_PLAN_CHUNK}"
        )
        return self._database.pages(query, [run_id], _PLAN_CHUNK)

    def tally(self, run_id: str) -> dict[str, int]:
        """The number of attempts with each status."""
        self._require(run_id)
        query = "SELECT status, count(*) FROM trialrun_attempts WHERE run_id = ? GROUP BY status"
        with self._database.reading() as connection:
            return dict(connection.rows(query, [run_id]))

    def fingerprints(self, run_id: str) -> dict[int, set[str]]:
        """What was asked in the attempts that were made, by position."""
        self._require(run_id)
        query = "SELECT position, fingerprint FROM trialrun_attempts WHERE run_id = ?"
        found: dict[int, set[str]] = {}
        with self._database.reading() as connection:
            for position, asked in connection.rows(query, [run_id]):
                found.setdefault(position, set()).add(asked)
        return found

    def attempts(
        self, run_id: str, positions: Collection[int] | None = None, *, traces: bool = True
    ) -> Iterator[Attempt]:
        """The attempts by position and number; their traces too where `traces` is set.

        A damaged one has no trace, and a result that is an ERROR and says so.
        """
        for (position, number), row in self._trusted_rows(run_id, positions, traces):
            fingerprint, trace = "", None
            try:
                if row is None:
                    raise Damaged("it is not what this run wrote")
                fingerprint, packed, packed_trace = row[2], row[-2], row[-1]
                result = unpack_result(packed)
                if packed_trace is not None:
                    trace = unpack_trace(packed_trace)
            except Damaged as damage:
                result = self._damaged(run_id, position, number, damage)
            yield Attempt(
                position=position,
                attempt=number,
                fingerprint=fingerprint,
                result=result,
                trace=trace,
            )

    def _trusted_rows(
        self, run_id: str, positions: Collection[int] | None, traces: bool
    ) -> Iterator[tuple[tuple[int, int], Sequence[Any] | None]]:
        rows = self._content(run_id, positions, traces)
        if run_id in self._written:
            return self._written[run_id].merged(rows, positions, traces)
        return (((row[0], row[1]), row) for row in rows)

    def _content(
        self, run_id: str, positions: Collection[int] | None = None, traces: bool = True
    ) -> Iterator[Sequence[Any]]:
        """The columns of `ATTEMPT_CONTENT` of each attempt; None for the trace without `traces`.

        They are read some at a time so that a long run does not fill the memory. Each part has a
        separate transaction: one that lasted as long as the reader takes would keep SQLite from
        cleaning its log up.
        """
        self._require(run_id)
        size = _TRACE_CHUNK if traces else _RESULT_CHUNK
        query = SELECT_ATTEMPTS if traces else SELECT_RESULTS
        part = f"AND (position, attempt) > (?, ?) ORDER BY position, attempt LIMIT {size}"
        groups: Iterable[list[int]] = [[]]
        if positions is not None:
            groups = chunks(iter(sorted(set(positions))), _POSITIONS_CHUNK)
        for group in groups:
            chosen = f"AND position IN ({', '.join('?' * len(group))})" if group else ""
            yield from self._database.pages(f"{query} {chosen} {part}", [run_id, *group], size)

    def _damaged(
        self, run_id: str, position: int, attempt: int, damage: Damaged
    ) -> EvaluationResult:
        """An ERROR in the place of a record that cannot be read: it counts, and never as a pass."""
        query = f"{SELECT_PLANNED} WHERE run_id = ? AND position = ?"
        with self._database.reading() as connection:
            (case,) = map(planned_case, connection.rows(query, [run_id, position]))
        return EvaluationResult.without_verdict(
            case.case,
            f"the record of run {run_id}, case {case.case!r}, attempt {attempt} is damaged in "
            f"{self.location}: {damage}",
            suite_name=case.suite,
            agent=case.agent,
            attempt=attempt,
            tags=case.tags,
        )

    def costs(
        self, spec_key: str, limit_runs: int = 3
    ) -> dict[tuple[str, str | None, str], list[float]]:
        """What the cases of a spec cost of late, where known: (suite, agent, case) → dollars."""
        newest = [run.id for run in self.runs(spec_key) if run.kind == "run"][:limit_runs]
        query = (
            'SELECT position, suite, agent, "case", tags, cost_usd FROM trialrun_planned'
            " JOIN trialrun_attempts USING (run_id, position)"
            f" WHERE run_id IN ({', '.join('?' * len(newest))}) AND cost_usd IS NOT NULL"
            " ORDER BY run_id DESC, position, attempt"
        )
        found: dict[tuple[str, str | None, str], list[float]] = {}
        if not newest:
            return found
        with self._database.reading() as connection:
            for *row, dollars in connection.rows(query, newest):
                case = planned_case(row)
                found.setdefault((case.suite, case.agent, case.case), []).append(dollars)
        return found

    def _require(self, run_id: str) -> None:
        """A run that is not there is an error: it would look like one without results."""
        with self._database.reading() as connection:
            found = connection.value("SELECT id FROM trialrun_runs WHERE id = ?", [run_id])
        if found is None:
            raise self._no_run(run_id)

    def _no_run(self, run_id: str) -> UsageError:
        return UsageError(f"there is no run {run_id} in {self.location}")
