"""The tables, as the newest migration leaves them.

Their names begin with `trialrun_`, the table of the schema's version included: a store may be a
database that others use too.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

from trialrun.store.codec import original_text, safe_text

VERSION_TABLE = "trialrun_alembic_version"


class SafeText(TypeDecorator[str]):
    """Any text of Python's. PostgreSQL refuses NUL; neither database takes half a character."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else safe_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else original_text(value)


class JsonText(TypeDecorator[Any]):
    """Plain values as JSON in text: PostgreSQL's own JSON types refuse NUL and NaN."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        return safe_text(json.dumps(value, ensure_ascii=False))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(original_text(value))


class Moment(TypeDecorator[datetime]):
    """A time in UTC. SQLite forgets time zones: two moments could then not be compared."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


metadata = MetaData()

runs = Table(
    "trialrun_runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("spec", SafeText, nullable=False),
    Column("spec_key", SafeText, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("finished_at", Moment),
    Column("planned", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("trialrun", String(64), nullable=False),
    Column("settings", JsonText, nullable=False),
    Column("warnings", JsonText, nullable=False),
    Column("kind", String(16), nullable=False, server_default="run"),
    Column("source", String(64)),
    Index("trialrun_runs_by_time", "created_at"),
)

planned = Table(
    "trialrun_planned",
    metadata,
    Column("run_id", ForeignKey(runs.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("suite", SafeText, nullable=False),
    Column("agent", SafeText),
    Column("case", SafeText, nullable=False),
    Column("tags", JsonText, nullable=False),
)

attempts = Table(
    "trialrun_attempts",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("fingerprint", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("error", SafeText),
    Column("duration_ms", Float(53)),
    Column("total_tokens", BigInteger),
    Column("cost_usd", Float(53)),
    Column("recorded_at", Moment, nullable=False),
    Column("result", LargeBinary, nullable=False),
    Column("trace", LargeBinary),
    ForeignKeyConstraint(
        ["run_id", "position"], [planned.c.run_id, planned.c.position], ondelete="CASCADE"
    ),
)
