"""`trialrun cache`: the judges' verdicts that are kept on disk."""

from __future__ import annotations

import click

from trialrun.cli.output import put
from trialrun.util.money import dollars
from trialrun.util.texts import counted


@click.group("cache")
def command() -> None:
    """Count or delete cached verdicts of judges: the same answer is not judged twice."""


@command.command("stats")
def stats_command() -> int:
    """Count the cached verdicts, and say what they cost."""
    from trialrun.judge.cache import VerdictCache

    cache = VerdictCache()
    found = cache.stats()
    worth = "what asking for them again would cost is not known"
    if found.saved_usd is not None:
        worth = f"asking for them again would cost {dollars(found.saved_usd)}"
    put(f"{counted(found.verdicts, 'verdict')} in {cache.folder}, {found.size:,} bytes; {worth}\n")
    return 0


@command.command("clear")
def clear_command() -> int:
    """Delete all cached verdicts."""
    from trialrun.judge.cache import VerdictCache

    cache = VerdictCache()
    put(f"{counted(cache.clear(), 'verdict')} removed from {cache.folder}\n")
    return 0
