"""The table of commands; each is imported only when it is called."""

from __future__ import annotations

import gc
from importlib import import_module

import click

from trialrun import __version__

_COMMANDS = {
    "demo": "Judge recorded runs of a small agent; needs no keys and no configuration.",
    "init": "Write a commented spec to start from, or hooks for Claude Code.",
    "validate": "Check specs without running anything.",
    "run": "Run live agents, and judge and record every attempt.",
    "score": "Judge recorded traces against a spec.",
    "verify": "Compare what an agent claims with what it did; also as a hook while it works.",
    "import": "Convert recordings of other tools, and report what they hold and lack.",
    "inspect": "Show a recording as a timeline.",
    "runs": "List the recorded runs.",
    "show": "Show a recorded run, or one case of it in full.",
    "compare": "Compare two runs: what changed, and may it be chance?",
    "view": "Show recorded runs as pages in a browser, on this machine only.",
    "baseline": "Save, list, show and compare baselines.",
    "accept": "Take what the agent does now as the new baseline; shows what changed.",
    "case": "Make a case from a recorded trace.",
    "regrade": "Judge a recorded run again by the present spec; no agent is called.",
    "judge": "Audit the judge behind rubrics, and label answers for it.",
    "cache": "Count or delete the cached verdicts of judges.",
    "export": "Write a recorded run as JSONL or Parquet.",
    "prune": "Delete old runs from the store.",
    "checks": "List every check.",
    "metrics": "List every metric.",
    "explain": "Explain a check, metric or rule: what it means, examples.",
    "schema": "Print the JSON schema of the spec, for editors.",
}

_MODULES = {"import": "import_traces"}
"""Commands whose name cannot be that of a module."""


class LazyGroup(click.Group):
    """Lists its commands from a table, and imports one only to run it or to show its help."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        gc.disable()  # imports leave little garbage: looking for it takes a tenth of their time
        try:
            command = import_module(f"trialrun.cli.{_MODULES.get(name, name)}").command
        finally:
            gc.enable()
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0] if arguments else ""
        if name and not name.startswith("-") and name not in _COMMANDS:
            from trialrun.reports.views.printable import one_line
            from trialrun.util.texts import did_you_mean

            hint = did_you_mean(name, _COMMANDS)
            context.fail(f"there is no command `{one_line(name[:100])}`{hint}")
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="trialrun %(version)s")
def cli() -> None:
    """A trial run for your agent: right answer, right path, right price, proven work.

    Start with `trialrun demo`, then `trialrun init`.
    """
