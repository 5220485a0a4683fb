"""`runner: module:function`: a Python function, called in worker processes."""

from __future__ import annotations

from msgspec import Struct

from trialrun.agents.base import Agent, AgentContext, AgentKind
from trialrun.spec.types import Function


class RunnerSettings(Struct, frozen=True, omit_defaults=True):
    """The function, and whether each case runs in a process of its own.

    By default it does where that is cheap: in a forked copy, if the function is not async and its
    import started no threads.
    """

    runner: Function
    isolate: bool | None = None


class RunnerKind(AgentKind):
    """A Python function that gets the question and, if it takes two arguments, the history."""

    name = "runner"
    settings = RunnerSettings
    about = {  # noqa: RUF012
        "runner": "module:function",
        "isolate": "true: each case in its own process; false: cases share worker processes",
    }

    @classmethod
    def create(cls, settings: RunnerSettings, context: AgentContext) -> Agent:
        if context.in_process:
            from trialrun.agents.running.in_process import InProcessAgent

            return InProcessAgent(settings.runner, context.folder)
        from trialrun.agents.running.python import PythonAgent

        return PythonAgent(settings.runner, context.folder, context.reaper, settings.isolate)
