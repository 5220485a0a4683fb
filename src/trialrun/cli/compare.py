"""`trialrun compare`: what changed between two runs, and whether chance may explain it."""

from __future__ import annotations

from typing import Any

import click

from trialrun.cli.comparing import compare_sides, fail_on_option
from trialrun.cli.reporting import Wanted, to_file, wanted_options
from trialrun.cli.stores import store_option


@click.command("compare")
@click.argument("before")
@click.argument("after", default="latest")
@fail_on_option
@wanted_options(to_file)
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Show all changes and all names, not only the first of them.",
)
@store_option
def command(
    before: str,
    after: str,
    fail_on: tuple[str, ...],
    verbose: bool,
    store: str | None,
    **given: Any,
) -> int:
    """Compare the run BEFORE with the run AFTER (default: `latest`).

    A run is `latest`, `latest~1`, an id or the first characters of one; RUN/AGENT is one agent of
    it. BEFORE may be `baseline`, or a folder of baselines.
    """
    from trialrun.store import open_store

    with open_store(store, create=False) as opened:
        wanted = Wanted(verbose=verbose, **given)
        return compare_sides(opened, before, after, fail_on, wanted)
