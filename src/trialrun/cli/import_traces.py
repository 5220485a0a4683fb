"""`trialrun import`: recordings of other tools as trialrun's traces, with a fidelity report."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trialrun.cli.output import put, say, shown_path
from trialrun.errors import UsageError
from trialrun.reports.views.printable import one_line
from trialrun.util.files import reason, replace_file
from trialrun.util.texts import counted

if TYPE_CHECKING:
    from trialrun.model.fidelity import Fidelity

_MOST_PROBLEMS = 20


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="FILE…")
@click.option("-o", "--output", metavar="FILE", help="Write the traces to this `.jsonl` file.")
def command(paths: tuple[str, ...], output: str | None) -> int:
    """Read recordings of any known format, and report what each holds and lacks.

    FILE may be a folder. The formats are listed in docs/formats.md; a file's content decides which
    one it is.
    """
    reading = _Reading(paths)
    if output is None:
        for _ in reading.traces():
            pass
    else:
        target = Path(output)
        if target.suffix.lower() not in (".jsonl", ".ndjson"):
            raise UsageError(f"{output}: expected a file name that ends in .jsonl")
        try:
            replace_file(target, reading.traces())
        except OSError as error:
            raise UsageError(f"{target}: cannot be written: {reason(error)}") from None
        say(f"{counted(reading.count, 'trace')} written to {shown_path(target)}")
    if reading.problems:
        say(f"{counted(reading.problems, 'record')} could not be read")
        return 3
    return 0 if reading.count else 5


class _Reading:
    """Reads the files one after the other, and reports on each when it is read."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self.paths = paths
        self.count = self.problems = 0

    def traces(self) -> Iterator[bytes]:
        """Each trace as a line of JSON; only one is held at a time."""
        from trialrun.importers import each
        from trialrun.model.fidelity import Fidelity

        for path in self.paths:
            for file, found in groupby(each(path), key=lambda one: one.file):
                report, problems = Fidelity(), 0
                for one in found:
                    for note in one.notes:
                        say(f"note: {note}")
                    if one.problem is not None:
                        problems += one.problem.count
                        if problems <= _MOST_PROBLEMS:
                            say(f"error: {one.problem}")
                    if one.trace is not None:
                        report.add(one.trace)
                        yield one.trace.to_json() + b"\n"
                self._report(file, report, problems)

    def _report(self, file: Path, report: Fidelity, problems: int) -> None:
        self.count += report.traces
        self.problems += problems
        if report.traces:
            shown = "\n  ".join(one_line(line) for line in report.lines())
            put(f"{one_line(shown_path(file))}: {shown}\n")
