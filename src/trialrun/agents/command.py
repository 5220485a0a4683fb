"""`command: [program, argument, …]`: a program in any language."""

from __future__ import annotations

from msgspec import Struct

from trialrun.agents.base import Agent, AgentKind, Surroundings
from trialrun.spec.types import Command


class CommandSettings(Struct, frozen=True, omit_defaults=True):
    """The command line."""

    command: Command


class CommandKind(AgentKind):
    """A program: JSON on its stdin, its answer on stdout, once for every question."""

    name = "command"
    settings = CommandSettings

    @classmethod
    def create(cls, settings: CommandSettings, surroundings: Surroundings) -> Agent:
        from trialrun.agents.running.command import CommandAgent

        return CommandAgent(settings.command, surroundings.folder, surroundings.keeper)
