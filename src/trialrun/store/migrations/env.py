"""What alembic runs to migrate: the connection comes from `migrations.upgrade`."""

from __future__ import annotations

from alembic import context

from trialrun.store.tables import VERSION_TABLE, metadata


def migrate() -> None:
    """Run the migrations in the transaction that the caller began and will commit."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        version_table=VERSION_TABLE,
    )
    with context.begin_transaction():
        context.run_migrations()


# alembic loads this file under that name; any other import of it must do nothing.
if __name__ == "env_py":
    migrate()
