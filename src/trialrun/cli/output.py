"""Writing of reports and messages: stdout carries only the report, messages go to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from functools import wraps
from pathlib import Path
from typing import Any, TextIO

import click
from msgspec import Struct
from msgspec.structs import replace

from trialrun import registry
from trialrun.errors import UsageError
from trialrun.model.results import RunResult
from trialrun.util.files import is_folder, reason, replace_file

_SHOWN_WARNINGS = 20
_MOST_CASES = 50  # in the terminal; files have all


class ReportOptions(Struct, frozen=True, kw_only=True):
    """The options of a report: its format, where it is written, what it shows."""

    form: str | None
    output: str | None
    strict: bool
    quiet: bool
    verbose: bool
    share: bool = False


share_option = click.option(
    "--share",
    is_flag=True,
    help="Leave out prompts, answers, arguments, results and whatever may quote them.",
)


class _Format(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no arguments
    """The name of a report; the registry is read when one is given, not at every start."""

    name = "format"

    def get_metavar(self, param: Any, ctx: Any = None) -> str:
        return f"[{'|'.join(registry.names(registry.REPORTS))}]"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value in registry.names(registry.REPORTS):
            return value
        choices = registry.names(registry.REPORTS)
        return self.fail(f"{value!r} is not one of {', '.join(choices)}.", param, ctx)


def report_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a report to a command, which gets them as one argument `report`."""

    @wraps(command)
    def with_report(**given: Any) -> int:
        own = {name: given.pop(name) for name in ReportOptions.__struct_fields__}
        return command(report=ReportOptions(**own), **given)

    decorated: Callable[..., int] = with_report
    for option in (
        share_option,
        click.option("--verbose", "-v", is_flag=True, help="Also show what passed."),
        click.option("--quiet", "-q", is_flag=True, help="Show only the summary, and no messages."),
        click.option("--strict", is_flag=True, help="Exit with 1 on warnings, too."),
        click.option(
            "-o",
            "--output",
            "output",
            metavar="FILE",
            help="Write the report to a file; its ending chooses the format: .json, .xml (JUnit) …",
        ),
        click.option(
            "--format", "form", type=_Format(), help="[default: by the file name, else terminal]"
        ),
    ):
        decorated = option(decorated)
    return decorated


require_baseline_option = click.option(
    "--require-baseline",
    is_flag=True,
    help="Checks against a baseline are unknown, not skipped, in cases that have none.",
)


def printing_to_stderr() -> redirect_stdout[TextIO]:
    """A context in which prints of plug-ins go to stderr: stdout carries only the report."""
    return redirect_stdout(sys.stderr)


def require_writable(report: ReportOptions) -> None:
    """Refuse a report that cannot be made or written, before agents are called and paid."""
    if report.output is not None:
        _require_file(report, report.output)
    kind = registry.find(registry.REPORTS, _name_of(report))
    kind.require()


def _name_of(report: ReportOptions) -> str:
    """The name of the report: as given, else by the ending of the file."""
    if report.form is not None or not report.output:
        return report.form or "terminal"  # no other report is imported
    return _by_suffix().get(Path(report.output).suffix.lower(), "terminal")


def _require_file(report: ReportOptions, output: str) -> None:
    target = Path(output)
    ending = target.suffix.lower()
    by_suffix = _by_suffix()
    if report.form is None and ending not in by_suffix:
        known = ", ".join(suffix for suffix in by_suffix if suffix)
        raise UsageError(
            f"{output[:200]}: there is no report format for {ending}; "
            f"expected one of {known}, or a --format"
        )
    if is_folder(target):
        raise UsageError(f"{output[:200]}: cannot be written: it is a folder")
    if not is_folder(target.parent):
        raise UsageError(f"{output[:200]}: cannot be written: there is no folder {target.parent}")


def _by_suffix() -> dict[str, str]:
    """File name ending → name of the report, `.xml` → `junit`."""
    found = registry.reports()
    return {suffix: name for name, kind in found.items() for suffix in kind.suffixes}


def write_report(run: RunResult, report: ReportOptions) -> int:
    """Write the report to its file or to stdout, and return the exit code of the run."""
    from trialrun.reports import terminal
    from trialrun.reports.base import View
    from trialrun.reports.views.consoles import terminal_width, wants_colour

    output, quiet = report.output, report.quiet
    if report.share:
        from trialrun.engine.sharing import shared_run

        run = shared_run(run)
    if not quiet:
        say_warnings(run.warnings)
    name = _name_of(report)
    kind = registry.find(registry.REPORTS, name)
    is_terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    view = View(
        strict=report.strict,
        quiet=quiet,
        verbose=report.verbose,
        colour=wants_colour(is_terminal),
        width=terminal_width(is_terminal),
        most=_MOST_CASES if output is None else None,
    )
    pieces = kind().pieces(run, view)
    if name == "github":
        from trialrun.cli.step_summary import add_step_summary

        add_step_summary(lambda report, view: report.render(run, view), view)
    if output is None:
        for text in pieces:
            put(text, for_machines=kind.for_machines)
    else:
        _write_pieces(Path(output), pieces)
        if not quiet:  # in CI the log is what people read first
            say_lines(terminal.render(run, replace(view, colour=False, most=_MOST_CASES)))
            say(f"report written to {output}")
    return run.exit_code(report.strict)


def put(text: str, for_machines: bool = False) -> None:
    """Write to stdout. A pipe that its reader closed (`head`, `less`) is ignored.

    `for_machines` writes UTF-8 whatever the terminal's encoding: escapes would break JSON.
    """
    if sys.stdout is None:
        raise UsageError("stdout cannot be written: it is closed")
    try:
        if for_machines and hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        else:
            sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon(sys.stdout)
    except (OSError, ValueError) as error:  # a full disk, a closed stream
        _abandon(sys.stdout)
        raise UsageError(f"stdout cannot be written: {error}") from None


def _abandon(stream: TextIO | None) -> None:
    """Point a broken stream at the null device: Python flushes it at exit, which would fail."""
    if stream is None:
        return
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, stream.fileno())
    except (OSError, ValueError):
        return


def write_file(target: Path, text: str) -> None:
    """Replace an earlier file atomically; a pipe or device is written to directly."""
    _write_pieces(target, [text])


def _write_pieces(target: Path, pieces: Iterable[str]) -> None:
    data = (piece.encode("utf-8", "backslashreplace") for piece in pieces)
    try:
        target = target.resolve()
        if target.is_dir():
            raise UsageError(f"{target}: cannot be written: it is a folder")
        is_special = target.exists() and not target.is_file()
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(target)[:200]}: cannot be written: {reason(error)}") from None
    try:
        if is_special:
            with target.open("wb") as stream:
                stream.writelines(data)
        else:
            replace_file(target, data)
    except OSError as error:  # a ValueError would be a mistake in a report
        raise UsageError(f"{str(target)[:200]}: cannot be written: {reason(error)}") from None


def say(message: str) -> None:
    """Write a message to stderr. A closed stderr is ignored."""
    from trialrun.reports.views.printable import one_line

    try:
        sys.stderr.write(one_line(message) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        _abandon(sys.stderr)


def say_lines(text: str) -> None:
    """Write a report of several lines, which is safe to show already, to stderr."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        _abandon(sys.stderr)


def say_warnings(warnings: Sequence[str]) -> None:
    """Write the first warnings to stderr; the JSON report has all of them."""
    for warning in warnings[:_SHOWN_WARNINGS]:
        say(f"warning: {warning}")
    if len(warnings) > _SHOWN_WARNINGS:
        say(f"warning: and {len(warnings) - _SHOWN_WARNINGS} more like these")


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table to stdout; each column but the last is as wide as its widest cell."""
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header) - 1)]
    lines = []
    for row in (header, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    put("\n".join(lines) + "\n")


def shown_path(file: Path) -> str:
    """The path relative to the current folder if it is in it, else as it is."""
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)


def summary(module: str) -> str:
    """The first line of a plug-in's module docstring, without its name."""
    from importlib import import_module

    line = (import_module(module).__doc__ or "").strip().split("\n")[0]
    return line.partition(": ")[2].rstrip(".") or line
