"""`trialrun prune`: delete old runs from the store."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

from trialrun.cli.output import say
from trialrun.cli.stores import store_option
from trialrun.errors import UsageError
from trialrun.util.texts import counted

_AGE = re.compile(r"(\d{1,5})([dhw])\Z")  # 30d, 12h, 8w
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@click.command("prune")
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Keep the newest N runs.")
@click.option("--older-than", metavar="AGE", help="Delete runs older than this: 30d, 12h, 8w.")
@click.option("--spec", help="Only runs of this spec.")
@click.option("--dry-run", is_flag=True, help="Only list what would be deleted.")
@store_option
def command(
    keep: int | None, older_than: str | None, spec: str | None, dry_run: bool, store: str | None
) -> int:
    """Delete old runs and their traces. A run in progress is never deleted.

    With both --keep and --older-than, a run is deleted only if both options select it.
    """
    from trialrun.store import open_store
    from trialrun.store.records import spec_key

    if keep is None and older_than is None:
        raise UsageError("say what to delete: --keep N, --older-than 30d, or both")
    oldest = None if older_than is None else datetime.now(UTC) - _age(older_than)
    with open_store(store, create=False) as opened:
        found = opened.runs(None if spec is None else spec_key(spec))
        selected = [
            record.id
            for record in found[keep or 0 :]
            if (oldest is None or record.created_at < oldest) and not opened.is_held(record.id)
        ]
        if not dry_run:
            opened.delete_runs(selected)
        word = "would be deleted" if dry_run else "deleted"
        kept = counted(len(found) - len(selected), "run")
        say(f"{counted(len(selected), 'run')} {word}, {kept} kept")
        for run_id in selected[:20]:
            say(f"  {run_id}")
    return 0


def _age(text: str) -> timedelta:
    found = _AGE.match(text)
    if found is None:
        raise UsageError(f"--older-than {text!r}: expected an age such as 30d, 12h or 8w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
