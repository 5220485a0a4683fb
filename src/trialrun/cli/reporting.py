"""Reports of comparisons, sessions and audits: which one is asked for, and where it is written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
from msgspec import Struct

from trialrun import registry
from trialrun.cli.output import put, say, share_option, write_file
from trialrun.errors import UsageError
from trialrun.reports.base import Report, View
from trialrun.util.texts import did_you_mean


class Wanted(Struct, frozen=True, kw_only=True):
    """Which report is asked for."""

    form: str | None = None
    output: str | None = None
    as_json: bool = False
    share: bool = False
    quiet: bool = False
    verbose: bool = False


def wanted_options(output: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add `--format`, `--json`, `-o` (with this help) and `--share` to a command."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        for option in (
            share_option,
            click.option("-o", "--output", metavar="FILE", help=output),
            click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
            click.option("--format", "form", metavar="NAME", help="terminal, json, markdown …"),
        ):
            command = option(command)
        return command

    return decorate


to_file = "Write the report to a file; its ending chooses the format: .md, .json …"
"""The help of `-o`."""


def kind_of(wanted: Wanted, reads: str) -> type[Report]:
    """The report that is asked for; UsageError for one that cannot show it.

    `reads` is the attribute of reports that can: `reads_comparisons`.
    """
    if wanted.as_json and wanted.form not in (None, "json"):
        raise UsageError(f"--json and --format {wanted.form}: give one of the two")
    name = "json" if wanted.as_json else wanted.form
    if name is None and wanted.output is None:  # no other report is imported
        terminal: type[Report] = registry.find(registry.REPORTS, "terminal")
        return terminal
    kinds: dict[str, type[Report]] = {
        name: kind for name, kind in registry.reports().items() if getattr(kind, reads)
    }
    if name is None:
        assert wanted.output is not None
        ending = Path(wanted.output).suffix.lower()
        name = next((name for name, kind in kinds.items() if ending in kind.suffixes), None)
        if name is None:
            raise UsageError(f"{wanted.output[:200]}: no format for {ending}; give a --format")
    if name not in kinds:
        what = reads.removeprefix("reads_")
        raise UsageError(f"--format {name}: not a report of {what}{did_you_mean(name, kinds)}")
    kinds[name].require()
    return kinds[name]


def write(kind: type[Report], wanted: Wanted, render: Callable[[Report, View], str]) -> None:
    """Render with the view that fits, and write to the file or to stdout."""
    from trialrun.reports.views.consoles import terminal_width, wants_colour

    on_terminal = wanted.output is None and sys.stdout is not None and sys.stdout.isatty()
    view = View(
        quiet=wanted.quiet,
        verbose=wanted.verbose,
        colour=wants_colour(on_terminal) and not kind.for_machines,
        width=terminal_width(on_terminal),
    )
    text = render(kind(), view)
    if kind.name == "github":
        from trialrun.cli.step_summary import add_step_summary

        add_step_summary(render, view)
    if wanted.output is None:
        put(text, for_machines=kind.for_machines)
    else:
        write_file(Path(wanted.output), text)
        say(f"report written to {wanted.output}")
