"""`trialrun metrics`: a list of every metric."""

from __future__ import annotations

import click

from trialrun.cli.output import summary, write_table
from trialrun.metrics.base import DEFAULT_METRICS


@click.command("metrics")
def command() -> int:
    """List every installed metric. `trialrun explain NAME` shows its formula."""
    from trialrun import registry

    kinds = registry.all_metrics()
    write_table(
        ("metric", "unit", "by default", "what it measures"),
        [
            (
                kind.name,
                kind.unit or "–",
                "yes" if kind.name in DEFAULT_METRICS else "",
                summary(kind.__module__),
            )
            for kind in kinds
        ],
    )
    return 0
