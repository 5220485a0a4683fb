"""Real agents: functions in worker processes, programs, a local HTTP server."""

from __future__ import annotations

import asyncio
import textwrap

import pytest

from trialrun.agents.base import Question
from trialrun.agents.running.processes import Reaper
from trialrun.agents.running.python import PythonAgent


@pytest.fixture
def reaper():
    made = Reaper()
    yield made
    made.close()


@pytest.fixture
def python_agent(tmp_path, reaper):
    """Asks a Python agent with the given source, and returns the replies in order."""

    def ask(source, *questions, limit=20.0, at_once=False, folder=None, name="run"):
        (tmp_path / "an_agent.py").write_text(textwrap.dedent(source))

        async def run():
            agent = PythonAgent(f"an_agent:{name}", str(tmp_path), reaper)
            try:
                await agent.start(takes_turns=False)
                asked = [
                    agent.ask(Question(input=text, folder=folder), limit) for text in questions
                ]
                if at_once:
                    return await asyncio.gather(*asked)
                return [await reply for reply in asked]
            finally:
                await agent.close()

        return asyncio.run(run())

    return ask
