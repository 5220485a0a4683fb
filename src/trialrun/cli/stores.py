"""What the commands that open a store share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., int])


def store_option(command: Command) -> Command:
    """`--store`: where runs are recorded."""
    return click.option(
        "--store",
        metavar="PATH|URL",
        help="Where runs are recorded: a file, or postgresql://… "
        "[default: $TRIALRUN_STORE, else .trialrun/runs.db]",
    )(command)
