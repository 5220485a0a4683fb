"""Where a report goes: stdout carries only the report, everything else goes to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from trialrun.errors import UsageError
from trialrun.results import RunResult

Command = TypeVar("Command", bound=Callable[..., Any])

_FORMATS = ("terminal", "json", "junit")
_BY_SUFFIX = {".json": "json", ".xml": "junit"}
_SHOWN_WARNINGS = 20


def report_options(command: Command) -> Command:
    """The options that every command with a report has."""
    for option in (
        click.option("--verbose", "-v", is_flag=True, help="Also show what passed."),
        click.option("--quiet", "-q", is_flag=True, help="Only the summary, and no messages."),
        click.option("--strict", is_flag=True, help="A warning fails the run."),
        click.option(
            "-o",
            "--output",
            "output",
            metavar="FILE",
            help="Write the report to a file. Its ending chooses the format: .json, .xml (JUnit).",
        ),
        click.option("--format", "form", type=click.Choice(_FORMATS), help="terminal by default."),
    ):
        command = option(command)
    return command


def write_report(
    run: RunResult,
    *,
    form: str | None,
    output: str | None,
    strict: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Write the report where it was asked for; the exit code of the run."""
    if not quiet:
        say_warnings(run.warnings)
    if form is None:
        form = _BY_SUFFIX.get(Path(output).suffix.lower(), "terminal") if output else "terminal"
    if form == "json":
        from trialrun.reports import json

        text = json.render(run, strict=strict)
    elif form == "junit":
        from trialrun.reports import junit

        text = junit.render(run, strict=strict)
    else:
        from trialrun.reports import terminal

        colour = output is None and terminal.wants_colour(sys.stdout.isatty())
        text = terminal.render(run, colour=colour, quiet=quiet, verbose=verbose)
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _write_file(Path(output), text)
        if not quiet:
            say(f"report written to {output}")
    return run.exit_code(strict)


def _write_file(target: Path, text: str) -> None:
    """An earlier report is replaced whole or not at all."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8", errors="backslashreplace")
        beside.replace(target)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


def say(message: str) -> None:
    """A message to the person, beside the report."""
    from trialrun.reports.printable import printable

    sys.stderr.write(printable(message) + "\n")


def say_warnings(warnings: Sequence[str]) -> None:
    """What is worth knowing though nothing failed; the JSON report holds all of it."""
    for warning in warnings[:_SHOWN_WARNINGS]:
        say(f"warning: {warning}")
    if len(warnings) > _SHOWN_WARNINGS:
        say(f"warning: and {len(warnings) - _SHOWN_WARNINGS} more like these")


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A plain table on stdout: columns as wide as they must be, the last one free."""
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header) - 1)]
    for row in (header, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())
