"""Between records and rows of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Row

from trialrun.store.codec import Redactor
from trialrun.store.records import PlannedCase, RunRecord, RunState

Item = TypeVar("Item")


def chunks(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """The items, so many at a time."""
    while chunk := list(islice(items, size)):
        yield chunk


def run_row(run: RunRecord, redactor: Redactor) -> dict[str, Any]:
    """The row of a run. `spec_key` stays as it is: runs are looked up by it."""
    return {
        **{field: getattr(run, field) for field in run.__struct_fields__},
        "state": run.state.value,
        "spec": redactor(run.spec),
        # The names of settings are our own: a user's pattern must not make them unreadable.
        "settings": {name: redactor(value) for name, value in run.settings.items()},
        "warnings": redactor(run.warnings),
    }


def planned_row(case: PlannedCase, redactor: Redactor) -> dict[str, Any]:
    """The row of a planned case; its names are what a report shows, and may hold secrets."""
    suite, agent, name, tags = redactor([case.suite, case.agent, case.case, list(case.tags)])
    return {
        "position": case.position,
        "suite": suite,
        "agent": agent,
        "case": name,
        "tags": tags,
    }


def planned_case(row: Row[Any]) -> PlannedCase:
    """The planned case of a row."""
    return PlannedCase(
        position=row.position,
        suite=row.suite,
        agent=row.agent,
        case=row.case,
        tags=tuple(row.tags),
    )


def run_record(row: Row[Any]) -> RunRecord:
    """The run of a row."""
    return RunRecord(**{**row._mapping, "state": RunState(row.state)})
