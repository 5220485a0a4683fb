"""`command: [program, argument, …]`: a program in any language."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from trialrun.agents.base import Agent, AgentContext, AgentKind
from trialrun.spec.types import Command


class CommandSettings(Struct, frozen=True, omit_defaults=True):
    """The command line."""

    command: Command


class CommandKind(AgentKind):
    """A program: it gets JSON on stdin and prints its answer to stdout, once per question."""

    name = "command"
    settings = CommandSettings

    @classmethod
    def create(cls, settings: CommandSettings, context: AgentContext) -> Agent:
        from trialrun.agents.running.command import CommandAgent

        return CommandAgent(settings.command, context.folder, context.reaper)

    @classmethod
    def missing(cls, settings: CommandSettings, folder: str) -> str | None:
        from shutil import which

        program = settings.command[0]
        place = program if "/" not in program else str(Path(folder, program).absolute())
        return None if which(place) else f"`{program}`: command not found, or not executable"
