"""`trialrun checks`: a list of every check, by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trialrun.cli.output import summary, write_table
from trialrun.model.results import LAYERS

if TYPE_CHECKING:
    from trialrun.checks.base import Check


@click.command("checks")
def command() -> int:
    """List every installed check, by layer. `trialrun explain NAME` shows its rule and examples."""
    from trialrun import registry

    kinds = registry.all_checks()
    kinds.sort(key=lambda kind: (list(LAYERS).index(kind.layer), kind.key))
    write_table(
        ("check", "layer", "severity", "what it checks"),
        [(*_place(kind), summary(kind.__module__)) for kind in kinds],
    )
    return 0


def _place(kind: type[Check]) -> tuple[str, str, str]:
    """The name of the check, its layer and its severity."""
    if kind.any_layer:
        return kind.key, "every layer", "that of the layer"
    return kind.key, kind.layer, kind.default_severity.value
