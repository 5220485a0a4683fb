"""`trialrun accept`: take what the agent does now as the new baseline, after a look at it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trialrun.cli.output import put, say, shown_path
from trialrun.cli.saving import allow_errors_option, in_ci, say_saved
from trialrun.cli.stores import store_option
from trialrun.errors import UsageError
from trialrun.reports.views.printable import one_line
from trialrun.util.files import is_folder
from trialrun.util.texts import counted

if TYPE_CHECKING:
    from trialrun.engine.baseline_accept import Proposal

_SHOWN = 20


@click.command("accept")
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option("--run", default="latest", show_default=True, help="The run to take it from.")
@click.option("--agent", help="Only this agent, if the run has several.")
@click.option(
    "--folder",
    metavar="FOLDER",
    help="The folder of baselines [default: `baselines` beside the spec].",
)
@allow_errors_option
@click.option("--dry-run", is_flag=True, help="Only show what would be accepted.")
@store_option
def command(
    cases: tuple[str, ...],
    run: str,
    agent: str | None,
    folder: str | None,
    allow_errors: bool,
    dry_run: bool,
    store: str | None,
) -> int:
    """Take the behaviour of a run as the new baseline of each CASE.

    Without CASE, of every case that differs from its baseline. What changed is shown first. A case
    is refused if anything fails or is unknown in it besides the checks against the baseline. In CI
    nothing is accepted: a person decides, and commits the files.
    """
    from trialrun.engine.baseline_accept import accept, proposals
    from trialrun.engine.baseline_saving import Saved, spec_of
    from trialrun.redaction import Redactor
    from trialrun.spec.load import load_suites
    from trialrun.store import open_store

    if in_ci():
        raise UsageError("nothing is accepted in CI (CI is set): accept it at home, and commit it")
    if folder is not None and not is_folder(Path(folder)):
        raise UsageError(f"--folder {folder[:200]}: no such folder")
    saved = Saved()
    with open_store(store, create=False) as opened:
        record = opened.find_run(run)
        given = folder or record.settings.get("given", {}).get("baseline")
        every = proposals(
            opened,
            record,
            load_suites(spec_of(record)),
            None if given is None else Path(given),
            saved,
            names=cases,
            agent=agent,
            allows_errors=allow_errors,
        )
        found = [one for one in every if cases or one.is_broken]
        if not found:
            say(f"nothing to accept: {_why_nothing(every, record.id)}")
            return 0
        put("".join(f"{one_line(line)}\n" for one in found for line in _shown(one)))
        accepted = [one for one in found if one.refused is None]
        if not dry_run:
            accept(accepted, Redactor().plain, saved)
    if not dry_run:
        say_saved(saved, "accepted")
    for one in accepted:
        if one.has < one.had:
            say(
                f"{one.case}: taken from {counted(one.has, 'attempt')}, the baseline before from "
                f"{one.had}: run with --repeat {one.had}, and accept it again, for as many"
            )
    return 0 if len(accepted) == len(found) else 1


def _why_nothing(every: Sequence[Proposal], run: str) -> str:
    without = sum(not one.had for one in every)
    if without == len(every):
        return f"no case of run {run} has a baseline; `trialrun baseline save` makes one"
    more = f"; {counted(without, 'case')} without a baseline" if without else ""
    return f"no case of run {run} differs from its baseline{more}"


def _shown(one: Proposal) -> list[str]:
    """The case, and what accepting it changes: the same change in several attempts once."""
    from trialrun.reports.views.changes import change_lines

    if one.refused is not None:
        head = f"{one.case}: refused: {one.refused}"
    else:
        head = f"{one.case}: {shown_path(one.file or Path())}"
    texts = dict.fromkeys(text for found in one.changes for text in change_lines(found))
    lines = [*texts, *one.others]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return [head, *(f"  {line}" for line in (*lines[:_SHOWN], *more) or ("no change",))]
