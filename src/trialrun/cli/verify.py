"""`trialrun verify`: check each claim of a session against its recorded steps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from trialrun.cli.output import put, say
from trialrun.errors import NothingSelected, UsageError
from trialrun.importers import importer_of, scan, trace_files
from trialrun.model.ledger import NOT_COMPLIANT_AT_MOST, ClaimVerdict, Ledger
from trialrun.reports.views.printable import one_line
from trialrun.util.texts import did_you_mean

if TYPE_CHECKING:
    from trialrun.verification.settings import Settings

UNCHECKED = "unchecked"
_CHOICES = (
    ClaimVerdict.CONTRADICTED.value,
    ClaimVerdict.UNSUPPORTED.value,
    ClaimVerdict.STALE.value,
    UNCHECKED,
)
EXIT_FAILED = 1
EXIT_INCOMPLETE = 3


@click.command("verify")
@click.argument("paths", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--fail-on",
    multiple=True,
    metavar="VERDICTS",
    help="Exit with 1 if a claim is one of these: contradicted, unsupported, stale; or if a change "
    "is unchecked: never looked at afterwards, and not said to be unchecked.",
)
@click.option(
    "--spec",
    metavar="FILE",
    help="Use the custom tools, runners and phrases in `defaults: verification:` of this spec.",
)
@click.option("--quiet", "-q", is_flag=True, help="Show only the summary.")
def command(
    paths: tuple[str, ...], as_json: bool, fail_on: tuple[str, ...], spec: str | None, quiet: bool
) -> int:
    """Compare what an agent claims with what it did, in PATHS: sessions of Claude Code, files of
    traces, or folders of them.

    Every claim of the final message is verified, stale (something was changed afterwards),
    contradicted, unsupported, disclosed (the agent says that it is unchecked), or not checkable. No
    configuration is needed.
    """
    from trialrun.reports import terminal
    from trialrun.reports.views import ledger as report
    from trialrun.verification import audit

    wanted = _wanted(fail_on)
    settings = _custom_settings(spec) if spec is not None else None
    ledgers: list[tuple[str, Ledger]] = []
    problems: list[str] = []
    notes: list[str] = []
    files: list[tuple[Path, bool]] = []
    for path in map(Path, paths):
        listed, unreadable = trace_files(path)
        files += [(file, file != path) for file in listed]
        problems += [f"{place}: {why}" for place, why in unreadable]
    for file, among_others in files:
        traces, unread, left_out = scan(file, in_folder=among_others)
        problems += [str(problem) for problem in unread]
        notes += [str(note) for note in left_out]
        for trace in traces:
            ledger = audit(trace, settings)
            if unread and importer_of(file).one_run_a_file:
                ledger = replace(
                    ledger,
                    compliant=False,
                    score=min(ledger.score, NOT_COMPLIANT_AT_MOST),
                    reason=f"parts of the session cannot be read; {ledger.reason}",
                )
            ledgers.append((trace.name or trace.id or str(file), ledger))
    if not ledgers and not problems:
        raise NothingSelected("there is no run in these files")
    if as_json:
        put(report.as_json(ledgers, problems), for_machines=True)
    else:
        colour = terminal.wants_colour(sys.stdout is not None and sys.stdout.isatty())
        put(report.render(ledgers, colour=colour, quiet=quiet))
    for line in (*notes, *problems):
        say(line)
    failed = [(name, found) for name, ledger in ledgers if (found := _found(ledger, wanted))]
    if failed:
        shown = ", ".join(f"{one_line(name)} ({', '.join(found)})" for name, found in failed[:5])
        more = f" and {len(failed) - 5} more" if len(failed) > 5 else ""
        say(f"failed by --fail-on: {shown}{more}")
        return EXIT_FAILED
    return EXIT_INCOMPLETE if problems else 0


def _custom_settings(file: str) -> Settings:
    """The tools, runners and phrases that a spec adds for all of its cases."""
    from trialrun.spec.load import load_suite
    from trialrun.verification.runners import Table
    from trialrun.verification.settings import Settings, own_of

    block = load_suite(file).defaults.get("verification")
    tools, rows, phrases = own_of(block)
    if tools is None and not rows and not phrases:
        raise UsageError(
            f"--spec {file}: no `tools`, `runners` or `phrases` below `defaults: verification:`"
        )
    return Settings(tools, Table(rows) if rows else None, phrases)


def _wanted(fail_on: tuple[str, ...]) -> frozenset[str]:
    names = [
        name.strip().replace("-", "_")
        for given in fail_on
        for name in given.split(",")
        if name.strip()
    ]
    for name in names:
        if name not in _CHOICES:
            raise UsageError(f"--fail-on {name}: no such verdict{did_you_mean(name, _CHOICES)}")
    if fail_on and not names:
        raise UsageError(f"--fail-on: name one or more of {', '.join(_CHOICES)}")
    return frozenset(names)


def _found(ledger: Ledger, wanted: frozenset[str]) -> list[str]:
    """The wanted verdicts that occur in the ledger."""
    found = {claim.verdict.value for claim in ledger.claims}
    if ledger.unchecked:
        found.add(UNCHECKED)
    return [name for name in _CHOICES if name in wanted & found]
