"""Options that several commands share: where runs are recorded, whether verdicts are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., int])


def judge_cache_option(command: Command) -> Command:
    """`--no-judge-cache`: every rubric is put to the judge again."""
    return click.option(
        "--no-judge-cache",
        "judge_cache",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Ask the judge again, also where a verdict on the same answer is kept.",
    )(command)


def store_option(command: Command) -> Command:
    """`--store`: where runs are recorded."""
    return click.option(
        "--store",
        metavar="PATH|URL",
        help="Where runs are recorded: a file, or postgresql://… "
        "[default: $TRIALRUN_STORE, else .trialrun/runs.db]",
    )(command)
