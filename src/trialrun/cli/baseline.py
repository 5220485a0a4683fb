"""`trialrun baseline`: saved traces that later runs are compared with, as text files for git."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trialrun.cli.comparing import BASELINE, compare_sides, fail_on_option
from trialrun.cli.output import put, say, say_lines, shown_path, write_table
from trialrun.cli.reporting import Wanted, to_file, wanted_options
from trialrun.cli.saving import allow_errors_option, in_ci, listed, say_saved
from trialrun.cli.stores import store_option
from trialrun.engine.baseline_lookup import DEFAULT_FOLDER, baselines_beside
from trialrun.errors import UsageError
from trialrun.reports.views.printable import one_line, printable
from trialrun.util.money import dollars
from trialrun.util.texts import did_you_mean

if TYPE_CHECKING:
    from trialrun.engine.baseline_gate import GateNote
    from trialrun.engine.baseline_saving import Saved
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
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--case", "names", multiple=True, help="Only this case; may be repeated.")
@click.option("--agent", help="Only this agent, if the run has several.")
@click.option("--accept-failures", is_flag=True, help="Also save cases that did not pass.")
@allow_errors_option
@click.option("--no-gate", is_flag=True, help="Add no `regression:` lines to the spec.")
@_folder
@store_option
def save_command(
    runs: tuple[str, ...],
    names: tuple[str, ...],
    agent: str | None,
    accept_failures: bool,
    allow_errors: bool,
    no_gate: bool,
    folder: str | None,
    store: str | None,
) -> int:
    """Save the passing cases of each RUN (default: `latest`) as baselines.

    From several attempts (`run --repeat 5`, or several runs) the rules for arguments are proposed:
    what varied may vary. The first time, the lines that make `run` and `score` compare with the
    baselines are added to the spec.
    """
    from trialrun.engine.baseline_gate import add_gates
    from trialrun.engine.baseline_saving import named_files, save, spec_of
    from trialrun.redaction import Redactor
    from trialrun.store import open_store

    with open_store(store, create=False) as opened:
        found = [opened.find_run(run) for run in runs or ("latest",)]
        records = list({record.id: record for record in found}.values())
        saved = save(
            opened,
            records,
            baseline_folder(folder, records[0]),
            Redactor().plain,
            named={} if folder is not None else named_files(spec_of(records[0])),
            names=names,
            agent=agent,
            accepts_failures=accept_failures,
            allows_errors=allow_errors,
            replaces=not in_ci(),
        )
    say_saved(saved, "written", shows_changes=True)
    _say_rules(saved)
    if saved.not_passed:
        say(f"not saved, because they did not pass: {listed(saved.not_passed)}")
    if saved.first_suites and not no_gate:
        for note in add_gates(spec_of(records[0]), saved.first_suites):
            _say_gate(note)
    return 0 if saved.written else 5


def _say_rules(saved: Saved) -> None:
    """Say what in the new files is not compared exactly."""
    from trialrun.engine.baseline_notes import notes_on

    new = [one for one in saved.written if one.is_new]
    if any(len(one.repeats) == 1 and one.rules.arguments for one in new):
        say("saved from one attempt: `run --repeat 5` shows which arguments may vary")
    notes = notes_on(new)
    if notes.free_texts:
        say(f"free texts, compared only by type: {listed(notes.free_texts)}")
    if notes.others:
        say(f"may vary, by a rule in the file: {listed(notes.others)}")
    if notes.masked:
        say(f"not compared, because they are masked: {listed(notes.masked)}")


def _say_gate(note: GateNote) -> None:
    file = shown_path(Path(note.file))
    unknown = listed(note.unknown)
    if note.why_not is not None:
        say(f"nothing is compared with the baselines yet: {file} was not changed: {note.why_not}")
        if note.lines:
            say("add these lines to it:")
    elif note.lines:
        say(f"added to {file}, so that `run` and `score` compare with the baselines:")
    else:
        say(f"{file}: unknown in later runs, too, unless they record what it needs: {unknown}")
    say_lines("".join(f"  {printable(line)}\n" for line in note.lines))
    if note.lines and note.unknown:
        say(f"not added, because these runs did not record what it needs: {unknown}")


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
@wanted_options(to_file)
@click.option("--verbose", "-v", is_flag=True, help="Show all changes, not only the first twenty.")
@_folder
@store_option
def diff_command(
    run: str,
    fail_on: tuple[str, ...],
    verbose: bool,
    folder: str | None,
    store: str | None,
    **given: Any,
) -> int:
    """Show what changed from the baselines to RUN (default: `latest`), case by case."""
    from trialrun.store import open_store

    with open_store(store, create=False) as opened:
        wanted = Wanted(verbose=verbose, **given)
        return compare_sides(opened, folder or BASELINE, run, fail_on, wanted)


def _latest_folder(store: str | None) -> str:
    """Where `save` puts the baselines of the latest run; `baselines` here if there is no run."""
    from trialrun.store import open_store

    try:
        with open_store(store, create=False) as opened:
            return shown_path(baseline_folder(None, opened.find_run("latest")))
    except UsageError:
        return DEFAULT_FOLDER


def baseline_folder(folder: str | None, record: RunRecord) -> Path:
    """The folder of baselines: the given one, else that beside the spec of the run."""
    return baselines_beside(record.spec_key) if folder is None else Path(folder)
