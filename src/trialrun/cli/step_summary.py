"""The summary of a step on GitHub Actions: the Markdown report, added to the file of the step."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from trialrun.cli.output import say
from trialrun.reports.base import Report, View
from trialrun.util.files import reason

VARIABLE = "GITHUB_STEP_SUMMARY"
LARGEST = 1024 * 1024
"""Bytes of a step's summary: GitHub shows nothing of a larger one."""


def add_step_summary(render: Callable[[Report, View], str], view: View) -> None:
    """Add the report, if this is a step of GitHub Actions.

    The summary is a copy of what the log says: a run does not fail because it cannot be written.
    """
    name = os.environ.get(VARIABLE)
    if not name:
        return
    from trialrun.reports.markdown import MarkdownReport

    text = render(MarkdownReport(), view)
    try:
        _append(Path(name), text.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        say(f"the step summary was not written: {VARIABLE}: {reason(error)}")


def _append(file: Path, data: bytes) -> None:
    if file.exists() and not file.is_file():
        raise ValueError("it is not a file")  # opening a pipe would wait for its reader
    with file.open("ab") as stream:
        begun = stream.tell()
        # What another step's command wrote may not end its line: our heading begins one.
        addition = (b"\n\n" if begun else b"") + data
        if begun + len(addition) > LARGEST:
            raise ValueError(f"it would have more than {LARGEST >> 20} MiB")
        stream.write(addition)
