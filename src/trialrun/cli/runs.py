"""`trialrun runs`: the recorded runs, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trialrun.cli.output import put, say, write_table
from trialrun.cli.stores import store_option
from trialrun.engine.stored_run import state_of
from trialrun.reports.views.origin import commit_text
from trialrun.reports.views.printable import one_line

if TYPE_CHECKING:
    from trialrun.store.records import RunRecord
    from trialrun.store.store import Store


@click.command("runs")
@click.argument("spec", required=False)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="The most to list."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@store_option
def command(spec: str | None, limit: int, as_json: bool, store: str | None) -> int:
    """List the recorded runs, or only those of SPEC."""
    from trialrun.store import open_store
    from trialrun.store.records import spec_key

    with open_store(store, create=False) as opened:
        found = opened.runs(None if spec is None else spec_key(spec), limit)
        if as_json:
            _put_json(opened, found)
        elif not found:
            say("no runs are recorded" + ("" if spec is None else f" of {spec}"))
        else:
            rows = [[*_row(opened, record), _from(record)] for record in found]
            header = ["run", "spec", "state", "cases", "verdicts", "from"]
            if not any(row[-1] for row in rows):
                header, rows = header[:-1], [row[:-1] for row in rows]
            write_table(header, rows)
    return 0


def _row(store: Store, record: RunRecord) -> Sequence[str]:
    counts = store.tally(record.id)
    words = {"pass": "passed", "warn": "warned", "fail": "failed", "error": "in error"}
    verdicts = ", ".join(f"{counts[key]} {word}" for key, word in words.items() if counts.get(key))
    spec = one_line(record.spec) + (" (regraded)" if record.kind == "regrade" else "")
    cases = f"{record.planned}" if record.repeat == 1 else f"{record.planned} × {record.repeat}"
    return [record.id, spec, state_of(store, record), cases, verdicts or "none"]


def _from(record: RunRecord) -> str:
    """The commit and the labels of a run."""
    labels = ", ".join(map(str, record.origin.get("labels", ())))
    return one_line(" · ".join(part for part in (commit_text(record.origin), labels) if part))


def _put_json(store: Store, found: Sequence[RunRecord]) -> None:
    import msgspec

    from trialrun.reports.json import cleaned
    from trialrun.reports.views.printable import escaped_json

    rows = [
        {
            "id": record.id,
            "spec": record.spec,
            "kind": record.kind,
            "source": record.source,
            "state": state_of(store, record),
            "created_at": record.created_at,
            "finished_at": record.finished_at,
            "planned": record.planned,
            "repeat": record.repeat,
            "attempts": store.tally(record.id),
            "warnings": record.warnings,
            "trialrun": record.trialrun,
            "origin": record.origin or None,
        }
        for record in found
    ]
    encoded = msgspec.json.encode(cleaned(msgspec.to_builtins(rows)))
    text = msgspec.json.format(encoded, indent=2).decode()
    put(escaped_json(text) + "\n", for_machines=True)
