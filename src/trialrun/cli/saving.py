"""What `baseline save` and `accept` share: an option, and what they say of the files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trialrun.cli.output import say, shown_path
from trialrun.reports.views.changes import change_lines
from trialrun.util.texts import counted

if TYPE_CHECKING:
    from trialrun.engine.baseline_saving import Saved

_NOT_CI = ("", "0", "false")
_SHOWN = 20

allow_errors_option = click.option(
    "--allow-errors", is_flag=True, help="Also take attempts in which a call failed."
)


def in_ci() -> bool:
    """Whether this is a job of CI, where no baseline is replaced."""
    return os.environ.get("CI", "").lower() not in _NOT_CI


def say_saved(saved: Saved, verb: str, *, shows_changes: bool = False) -> None:
    """Say which files were written, and which attempts were left out."""
    new = [one for one in saved.written if one.is_new]
    for one in new:
        say(f"wrote {shown_path(one.file)}")
        for line in change_lines(one.changes) if shows_changes and one.changes else ():
            say(f"  not as in the baseline before: {line}")
    same = len(saved.written) - len(new)
    unchanged = f", {same} unchanged" if same else ""
    say(f"{counted(len(new), 'baseline')} {verb}{unchanged}")
    if saved.not_replaced:
        say(f"not replaced in CI, where nothing is accepted: {listed(saved.not_replaced)}")
    if saved.flaky:
        say(f"saved though not every attempt passed: {listed(saved.flaky)}")
    if saved.failed_calls:
        say(f"left out, because a call failed: {listed(saved.failed_calls)}")
        say("if that is right, --allow-errors saves these attempts, too")


def listed(texts: Sequence[str]) -> str:
    """The first texts, and how many more there are."""
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
