"""Options that several commands share: `--store` and `--no-judge-cache`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from trialrun.errors import UsageError

if TYPE_CHECKING:
    from trialrun.store.records import RunRecord

Command = TypeVar("Command", bound=Callable[..., int])


def judge_cache_option(command: Command) -> Command:
    """`--no-judge-cache`: ask the judge again for every rubric."""
    return click.option(
        "--no-judge-cache",
        "judge_cache",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Ask the judge again even when a verdict on the same answer is cached.",
    )(command)


def store_option(command: Command) -> Command:
    """`--store`: where runs are recorded."""
    return click.option(
        "--store",
        metavar="PATH|URL",
        help="Where runs are recorded: a file, or postgresql://… "
        "[default: $TRIALRUN_STORE, else .trialrun/runs.db]",
    )(command)


def require_cases(record: RunRecord, spec: str | None) -> None:
    """UsageError for a run of `verify --store`: no spec says what its sessions must do."""
    from trialrun.store.records import VERIFY

    if record.kind == VERIFY and spec is None:
        raise UsageError(
            f"run {record.id} holds verified sessions, which no spec belongs to; give a --spec"
        )
