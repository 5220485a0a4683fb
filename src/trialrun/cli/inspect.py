"""`trialrun inspect`: a recording as a timeline."""

from __future__ import annotations

import click

from trialrun.cli.output import put, say
from trialrun.errors import UsageError
from trialrun.util.texts import counted

_SHOWN = 5


@click.command("inspect")
@click.argument("file")
@click.option("--trace", "wanted", metavar="NAME|N", help="Only this trace, by name or number.")
@click.option("--verbose", "-v", is_flag=True, help="Show texts, arguments and results whole.")
def command(file: str, wanted: str | None, verbose: bool) -> int:
    """Show the traces in FILE, of any known format, step by step (the first five)."""
    from trialrun.importers import each
    from trialrun.reports.views import timeline

    number = shown = problems = 0
    for found in each(file):
        if found.problem is not None:
            problems += 1
            say(f"error: {found.problem}")
        if found.trace is None:
            continue
        number += 1
        if wanted not in (None, str(number), found.trace.name, found.trace.id):
            continue
        if shown < _SHOWN or wanted is not None:
            put(timeline.render(found.trace, verbose) + "\n")
            shown += 1
    if wanted is not None and not shown:
        raise UsageError(f"{file}: there is no trace `{wanted}` among {counted(number, 'trace')}")
    if number > shown and wanted is None:
        say(f"{number - shown:,} more; show one with --trace {shown + 1}")
    return 3 if problems else 0 if number else 5
