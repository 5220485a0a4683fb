"""Records the sessions of `trialrun verify --store`: each a case with its trace and its ledger."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from trialrun import __version__
from trialrun.engine.origin import NamesSeen, origin_of
from trialrun.model.session_results import result_of
from trialrun.model.trace import Trace
from trialrun.model.verified import Session
from trialrun.redaction import Redactor
from trialrun.store.records import (
    VERIFY,
    Attempt,
    PlannedCase,
    RunRecord,
    RunState,
    new_run_id,
)

if TYPE_CHECKING:
    from trialrun.store.store import Store


class VerifiedRun:
    """One call of `verify`. The run begins with its first session, and is finished by `finish`."""

    def __init__(self, store: Store, given: str) -> None:
        """`given` is what the sessions were found by."""
        self._store = store
        self._given = given
        self._held = ExitStack()
        self._redactor = Redactor().plain
        self._names = NamesSeen({})
        self._origin = origin_of(Path.cwd())
        self._count = 0
        self.id: str | None = None

    def __enter__(self) -> VerifiedRun:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._held.close()

    def add(self, session: Session, trace: Trace) -> None:
        """Record one more session: on disk when this returns."""
        run_id = self._begun() if self.id is None else self.id
        position = self._count
        suite = Path(session.file).parent.name or "sessions"
        case = PlannedCase(
            position=position, suite=suite, agent=trace.agent_name, case=session.name
        )
        self._store.extend(run_id, [case], self._redactor)
        result = result_of(session, trace, suite)
        attempt = Attempt(position=position, attempt=1, result=result, trace=trace)
        self._store.add(run_id, [attempt], self._redactor)
        self._names.add(trace)
        self._count += 1

    def finish(self) -> None:
        """Record that every session was read."""
        if self.id is not None:
            origin = self._names.added_to(self._origin)
            now = datetime.now(UTC)
            self._store.finish(self.id, RunState.FINISHED, now, [], self._redactor, origin)

    def _begun(self) -> str:
        now = datetime.now(UTC)
        self.id = new_run_id(now)
        record = RunRecord(
            id=self.id,
            spec=self._given,
            spec_key=str(Path.cwd()),
            kind=VERIFY,
            created_at=now,
            planned=0,
            trialrun=__version__,
            origin=self._origin,
        )
        self._store.create_run(record, [], self._redactor)
        self._held.enter_context(self._store.hold(self.id))
        return self.id
