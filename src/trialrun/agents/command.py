"""`command: [program, argument, …]`: a program in any language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trialrun.agents._placeholders import check_words
from trialrun.agents.base import Agent, AgentContext, AgentKind
from trialrun.spec.types import Command

if TYPE_CHECKING:
    from trialrun.spec.validation import Place, Problems


class CommandSettings(Struct, frozen=True, omit_defaults=True):
    """The command line."""

    command: Command


class CommandKind(AgentKind):
    """A program: it gets JSON on stdin and prints its answer to stdout, once per question.

    With `{{input}}` among its arguments, the question is there, and nothing is on stdin.
    """

    name = "command"
    settings = CommandSettings
    about = {  # noqa: RUF012
        "command": "the program and its arguments; {{input}} and {{history}} are filled in",
    }

    @classmethod
    def check(cls, key: str, value: Any, place: Place, problems: Problems) -> Any:
        check_words(value, place, problems)
        return value

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
