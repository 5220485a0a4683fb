"""A harness for tests of agents with pytest.

    from trialrun import Step
    from trialrun.testing import AgentType, BaseAgentTest

    class TestEngineer(BaseAgentTest):
        agent_type = AgentType.ENGINEER

        def test_it_proves_its_work(self, mock_agent):
            ran = Step.tool_call("Bash", {"command": "pytest -q"}, "12 passed in 0.2s")
            mock_agent.reply("Run the tests", "All 12 tests pass.", steps=[ran])
            response = self.invoke_agent(mock_agent, "Run the tests")
            ledger = self.verification(response)
            assert ledger.compliant, ledger.reason

`mock_agent` is a scripted `FakeAgent` that comes with this package's plug-in for pytest; any
callable that takes a prompt does as well: your own agent.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from trialrun.errors import UsageError
from trialrun.model.ledger import ComplianceSummary, Ledger, summarised
from trialrun.model.trace import Step, Trace

SCENARIOS = Path(__file__).parent / "scenarios"
"""The bundled suite: a spec, and runs that prove their work and runs that do not."""


class AgentType(StrEnum):
    """The roles that agents have in a team."""

    BASE = "base"
    ENGINEER = "engineer"
    QA = "qa"
    OPS = "ops"
    RESEARCH = "research"
    DOCUMENTATION = "documentation"
    PROMPT_ENGINEER = "prompt_engineer"
    PROJECT_MANAGER = "project_manager"


class AgentResponse(Struct, frozen=True):
    """What an agent gave back: its text, and the run behind it as far as it is known."""

    raw_output: str
    trace: Trace
    agent_type: AgentType = AgentType.BASE


class FakeAgent:
    """An agent that says what it was told to say, and calls what it was told to call.

    `reply(prompt, output, steps)` scripts an answer; several for one prompt are given one after
    the other, the last one again and again. A prompt that nobody scripted is an error: a test must
    not pass on an answer that it did not ask for.
    """

    def __init__(self, replies: dict[str, str] | None = None, default: str | None = None) -> None:
        self.default = default
        self.prompts: list[str] = []
        self._replies: dict[str, list[tuple[str, Sequence[Step]]]] = {}
        for prompt, output in (replies or {}).items():
            self.reply(prompt, output)

    def reply(self, prompt: str, output: str, steps: Iterable[Step] = ()) -> FakeAgent:
        """Script the next answer to a prompt."""
        self._replies.setdefault(prompt, []).append((output, tuple(steps)))
        return self

    def __call__(self, prompt: str) -> Trace:
        self.prompts.append(prompt)
        answers = self._replies.get(prompt)
        if answers is None:
            if self.default is None:
                known = ", ".join(repr(one) for one in self._replies) or "none"
                raise UsageError(
                    f"no reply is scripted for {prompt!r}; there is one for: {known}. "
                    "Script it with .reply(prompt, output, steps), or give a default"
                )
            return Trace(input=prompt, output=self.default)
        output, steps = answers.pop(0) if len(answers) > 1 else answers[0]
        return Trace(input=prompt, output=output, steps=steps)


Agent = Callable[[str], Any]


class BaseAgentTest:
    """The base of a test class for one kind of agent."""

    agent_type: ClassVar[AgentType] = AgentType.BASE

    def invoke_agent(self, agent: Agent, prompt: str) -> AgentResponse:
        """Ask the agent. It may return a text, a `Trace`, or anything with `raw_output`."""
        given = agent(prompt)
        if inspect.isawaitable(given):
            from trialrun.engine.evaluate import run_coroutine

            given = run_coroutine(_awaited(given))
        return AgentResponse(*_output_and_trace(given, prompt), self.agent_type)

    def create_test_case(self, input: str, output: str, **fields: Any) -> Any:
        """A test case of DeepEval's where that is installed, otherwise a `Trace`."""
        try:
            from deepeval.test_case import LLMTestCase
        except ModuleNotFoundError:
            return Trace(input=input, output=output, **fields)
        return LLMTestCase(input=input, actual_output=output, **fields)

    def verification(self, response: AgentResponse) -> Ledger:
        """The evidence ledger of a response."""
        from trialrun.verification import audit

        return audit(response.trace)


async def _awaited(given: Any) -> Any:
    return await given


def _output_and_trace(given: Any, prompt: str) -> tuple[str, Trace]:
    if isinstance(given, Trace):
        return given.output or "", given
    text = given if isinstance(given, str) else getattr(given, "raw_output", None)
    if not isinstance(text, str):
        kind = type(given).__name__
        raise UsageError(f"the agent returned {kind}: expected text, a Trace, or raw_output")
    trace = getattr(given, "trace", None)
    return text, trace if isinstance(trace, Trace) else Trace(input=prompt, output=text)


def compliance_report(
    traces: Iterable[Trace],
) -> tuple[ComplianceSummary, list[tuple[str, Ledger]]]:
    """The ledgers of many runs and what they come to; `render_compliance` prints them."""
    from trialrun.verification import audit

    ledgers = [(trace.name or trace.id or "run", audit(trace)) for trace in traces]
    return summarised([ledger for _, ledger in ledgers]), ledgers


def render_compliance(traces: Iterable[Trace], colour: bool = False) -> str:
    """The compliance report over many runs: bands, components, and what would raise each."""
    from trialrun.reports.views.ledger import render

    return render(compliance_report(traces)[1], colour=colour)


__all__ = [
    "SCENARIOS",
    "AgentResponse",
    "AgentType",
    "BaseAgentTest",
    "FakeAgent",
    "compliance_report",
    "render_compliance",
]
