"""`trialrun baseline`: saved traces that later runs are compared with, as text files for git."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trialrun.cli.comparing import BASELINE, compare_sides, fail_on_option
from trialrun.cli.output import put, say, shown_path, write_table
from trialrun.cli.stores import store_option
from trialrun.engine.baseline_lookup import DEFAULT_FOLDER, baselines_beside
from trialrun.errors import UsageError
from trialrun.reports.views.printable import one_line
from trialrun.util.money import dollars
from trialrun.util.texts import counted, did_you_mean

if TYPE_CHECKING:
    from trialrun.store.records import RunRecord

_folder = click.option(
    "--folder",
    metavar="FOLDER",
    help="The folder of baselines [default: `baselines` beside the spec].",
)


@click.group("baseline")
def command() -> None:
    """Save, list, show and compare baselines: text files for git, one file per case."""


@command.command("save")
@click.argument("run", default="latest")
@click.option("--case", "names", multiple=True, help="Only this case; may be repeated.")
@click.option("--agent", help="Only this agent, if the run has several.")
@click.option("--accept-failures", is_flag=True, help="Also save cases that did not pass.")
@_folder
@store_option
def save_command(
    run: str,
    names: tuple[str, ...],
    agent: str | None,
    accept_failures: bool,
    folder: str | None,
    store: str | None,
) -> int:
    """Save the passing cases of RUN (default: `latest`) as baselines."""
    from trialrun.engine.baseline_files import save
    from trialrun.redaction import Redactor
    from trialrun.store import open_store

    with open_store(store, create=False) as opened:
        record = opened.find_run(run)
        saved = save(
            opened,
            record,
            _baseline_folder(folder, record),
            Redactor().plain,
            names=names,
            agent=agent,
            accepts_failures=accept_failures,
        )
    for file in saved.written:
        say(f"wrote {shown_path(file)}")
    same = f", {len(saved.unchanged)} unchanged" if saved.unchanged else ""
    say(f"{counted(len(saved.written), 'baseline')} written{same}")
    if saved.flaky:
        say(f"saved though not every attempt passed: {', '.join(saved.flaky[:5])}")
    if saved.not_passed:
        shown = ", ".join(saved.not_passed[:5])
        more = f" and {len(saved.not_passed) - 5} more" if len(saved.not_passed) > 5 else ""
        say(f"not saved, because they did not pass: {shown}{more}")
    return 0 if saved.written or saved.unchanged else 5


@command.command("list")
@click.argument("folder", required=False)
@store_option
def list_command(folder: str | None, store: str | None) -> int:
    """List the baselines in FOLDER (default: where `save` puts those of the latest run)."""
    from trialrun.engine.baseline_files import saved_files
    from trialrun.engine.baseline_lookup import read_baseline

    folder = folder or _latest_folder(store)
    rows = []
    for file in saved_files(Path(folder)):
        trace = read_baseline(file)
        cost = "–" if trace.total_cost_usd is None else dollars(trace.total_cost_usd)
        tokens = "–" if trace.total_tokens is None else f"{trace.total_tokens:,}"
        calls = str(len(trace.tool_calls))
        rows.append([one_line(trace.name or file.stem), calls, tokens, cost, str(file)])
    if not rows:
        say(f"{folder}: there are no baselines in this folder")
        return 5
    write_table(["case", "calls", "tokens", "cost", "file"], rows)
    return 0


@command.command("show")
@click.argument("case")
@_folder
@store_option
def show_command(case: str, folder: str | None, store: str | None) -> int:
    """Print the baseline of CASE."""
    from trialrun.engine.baseline_files import saved_files
    from trialrun.engine.baseline_lookup import read_baseline
    from trialrun.reports.views.printable import escaped_json

    folder = folder or _latest_folder(store)
    files = saved_files(Path(folder))
    named = {read_baseline(file).name or file.stem: file for file in files}
    if case not in named:
        hint = did_you_mean(case, named)
        raise UsageError(f"{folder}: there is no baseline of `{case}`{hint}")
    put(escaped_json(named[case].read_text(encoding="utf-8")), for_machines=True)
    return 0


@command.command("diff")
@click.argument("run", default="latest")
@fail_on_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--verbose", "-v", is_flag=True, help="Show all changes, not only the first twenty.")
@_folder
@store_option
def diff_command(
    run: str,
    fail_on: tuple[str, ...],
    as_json: bool,
    verbose: bool,
    folder: str | None,
    store: str | None,
) -> int:
    """Show what changed from the baselines to RUN (default: `latest`), case by case."""
    from trialrun.store import open_store

    with open_store(store, create=False) as opened:
        return compare_sides(opened, folder or BASELINE, run, fail_on, as_json, verbose)


def _latest_folder(store: str | None) -> str:
    """Where `save` puts the baselines of the latest run; `baselines` here if there is no run."""
    from trialrun.store import open_store

    try:
        with open_store(store, create=False) as opened:
            return shown_path(_baseline_folder(None, opened.find_run("latest")))
    except UsageError:
        return DEFAULT_FOLDER


def _baseline_folder(folder: str | None, record: RunRecord) -> Path:
    return baselines_beside(record.spec_key) if folder is None else Path(folder)
