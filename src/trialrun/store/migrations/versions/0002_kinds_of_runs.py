"""Runs that judge an earlier one again, and the index that lists runs by time."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Every run that is there already is an ordinary one."""
    kind = sql.Column("kind", sql.String(16), nullable=False, server_default="run")
    op.add_column("trialrun_runs", kind)
    op.add_column("trialrun_runs", sql.Column("source", sql.String(64)))
    op.create_index("trialrun_runs_by_time", "trialrun_runs", ["created_at"])
