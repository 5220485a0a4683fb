"""Loads what specs name, as a run would, for `validate` and `--dry-run`; no agent is asked."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from trialrun import registry
from trialrun.agents.base import AgentContext
from trialrun.agents.running.actions import Actions
from trialrun.agents.running.processes import Reaper
from trialrun.engine.evaluate import run_coroutine
from trialrun.engine.judges import Judges, rubrics_of
from trialrun.engine.live_run import functions_of
from trialrun.errors import PluginError, Problem, SpecError, TrialrunError
from trialrun.model.case import JudgeSettings, Suite

_REFERENCE = re.compile(r"`([^`]+)`")  # `my_agent:run`: there is no module 'my_agent'

_SECONDS = 60.0
"""How long the modules of one suite may take to load."""


def require_judges(suites: Sequence[Suite]) -> None:
    """Refuse rubrics without a judge before an agent is asked: none of them could be decided."""
    problems = []
    for suite in suites:
        block = suite.judge
        named = block is not None and not (
            isinstance(block, JudgeSettings) and block.model is None and block.models is None
        )
        if not named and any(rubric.model is None for rubric in rubrics_of(suite)):
            problems.append(
                Problem(
                    "the spec has rubrics and names no judge: give `judge: {model: …}` or "
                    "`judge: module:function`",
                    file=suite.file,
                )
            )
    if problems:
        raise SpecError(problems)


def require_loadable(suites: Sequence[Suite]) -> None:
    """Load the agents, functions and judges of the suites; SpecError for what is missing."""
    problems = []
    for suite in suites:
        try:
            run_coroutine(asyncio.wait_for(_load(suite), _SECONDS))
        except TimeoutError:
            message = f"what the spec names is not loaded after {_SECONDS:g} s"
            problems.append(Problem(message, file=suite.file))
        except TrialrunError as error:
            folder = Path(suite.file or "").parent.absolute()
            looked = f" (searched in {folder} first)" if "no module" in str(error) else ""
            line, column = _named_at(suite, str(error))
            problems.append(Problem(f"{error}{looked}", "", suite.file, line, column))
    if problems:
        raise SpecError(problems)


def _named_at(suite: Suite, message: str) -> tuple[int, int] | tuple[None, None]:
    """The first place in the spec of the `module:Name` that a message begins with."""
    reference = _REFERENCE.match(message)
    if reference is None or suite.file is None:
        return None, None
    text = Path(suite.file).read_text(encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        at = line.partition("#")[0].find(reference[1])
        if at >= 0:
            return number, at + 1
    return None, None


async def _load(suite: Suite) -> None:
    folder = str(Path(suite.file).parent.absolute() if suite.file else Path.cwd())
    async with AsyncExitStack() as stack:
        reaper = Reaper(None)
        stack.callback(reaper.close)
        if next(iter(rubrics_of(suite)), None) is not None:
            Judges([suite], cached=False)
        actions = Actions(folder, reaper)
        stack.push_async_callback(actions.close)
        await actions.require(functions_of(suite))
        for spec in suite.agents:
            kind = registry.find(registry.AGENTS, spec.kind)
            missing = kind.missing(spec.settings, folder)
            if missing is not None:
                raise PluginError(missing)
            context = AgentContext(folder=folder, reaper=reaper, in_process=False)
            agent = kind.create(spec.settings, context)
            stack.push_async_callback(agent.close)
            await agent.start(suite.takes_turns)
