"""Runs, what they planned, and attempts."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the three tables."""
    moment = sql.DateTime(timezone=True)
    op.create_table(
        "trialrun_runs",
        sql.Column("id", sql.String(64), primary_key=True),
        sql.Column("spec", sql.Text, nullable=False),
        sql.Column("spec_key", sql.Text, nullable=False),
        sql.Column("state", sql.String(16), nullable=False),
        sql.Column("created_at", moment, nullable=False),
        sql.Column("finished_at", moment),
        sql.Column("planned", sql.Integer, nullable=False),
        sql.Column("repeat", sql.Integer, nullable=False),
        sql.Column("trialrun", sql.String(64), nullable=False),
        sql.Column("settings", sql.Text, nullable=False),
        sql.Column("warnings", sql.Text, nullable=False),
    )
    op.create_table(
        "trialrun_planned",
        sql.Column(
            "run_id",
            sql.String(64),
            sql.ForeignKey("trialrun_runs.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sql.Column("position", sql.Integer, primary_key=True, autoincrement=False),
        sql.Column("suite", sql.Text, nullable=False),
        sql.Column("agent", sql.Text),
        sql.Column("case", sql.Text, nullable=False),
        sql.Column("tags", sql.Text, nullable=False),
    )
    op.create_table(
        "trialrun_attempts",
        sql.Column("run_id", sql.String(64), primary_key=True),
        sql.Column("position", sql.Integer, primary_key=True, autoincrement=False),
        sql.Column("attempt", sql.Integer, primary_key=True, autoincrement=False),
        sql.Column("fingerprint", sql.String(64), nullable=False),
        sql.Column("status", sql.String(16), nullable=False),
        sql.Column("error", sql.Text),
        sql.Column("duration_ms", sql.Float(53)),
        sql.Column("total_tokens", sql.BigInteger),
        sql.Column("cost_usd", sql.Float(53)),
        sql.Column("recorded_at", moment, nullable=False),
        sql.Column("result", sql.LargeBinary, nullable=False),
        sql.Column("trace", sql.LargeBinary),
        sql.ForeignKeyConstraint(
            ["run_id", "position"],
            ["trialrun_planned.run_id", "trialrun_planned.position"],
            ondelete="CASCADE",
        ),
    )
