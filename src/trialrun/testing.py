"""A harness for testing agents with pytest.

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

`mock_agent` is a fixture of trialrun's pytest plug-in: a scripted `FakeAgent`. `invoke_agent` takes
any callable with a prompt as its argument, such as your own agent.
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
"""The bundled scenarios: a spec, compliant runs and non-compliant runs."""


class AgentType(StrEnum):
    """The role of an agent in a team."""

    BASE = "base"
    ENGINEER = "engineer"
    QA = "qa"
    OPS = "ops"
    RESEARCH = "research"
    DOCUMENTATION = "documentation"
    PROMPT_ENGINEER = "prompt_engineer"
    PROJECT_MANAGER = "project_manager"


class AgentResponse(Struct, frozen=True):
    """The answer of an agent: its text, and its trace as far as it is known."""

    raw_output: str
    trace: Trace
    agent_type: AgentType = AgentType.BASE


class FakeAgent:
    """An agent with scripted answers and steps.

    `reply(prompt, output, steps)` adds an answer. Several answers to one prompt are returned in
    order, and the last one from then on. A prompt without an answer raises an error, so that a test
    cannot pass on an answer that it did not script.
    """

    def __init__(self, replies: dict[str, str] | None = None, default: str | None = None) -> None:
        self.default = default
        self.prompts: list[str] = []
        self._replies: dict[str, list[tuple[str, Sequence[Step]]]] = {}
        for prompt, output in (replies or {}).items():
            self.reply(prompt, output)

    def reply(self, prompt: str, output: str, steps: Iterable[Step] = ()) -> FakeAgent:
        """Add the next answer to a prompt."""
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
    """The base of a test class for one type of agent."""

    agent_type: ClassVar[AgentType] = AgentType.BASE

    def invoke_agent(self, agent: Agent, prompt: str) -> AgentResponse:
        """Call the agent, which may return text, a `Trace`, or an object with `raw_output`."""
        given = agent(prompt)
        if inspect.isawaitable(given):
            from trialrun.engine.evaluate import run_coroutine

            given = run_coroutine(_await(given))
        return AgentResponse(*_output_and_trace(given, prompt), self.agent_type)

    def create_test_case(self, input: str, output: str, **fields: Any) -> Any:
        """An `LLMTestCase` if DeepEval is installed, else a `Trace`."""
        try:
            from deepeval.test_case import LLMTestCase
        except ModuleNotFoundError:
            return Trace(input=input, output=output, **fields)
        return LLMTestCase(input=input, actual_output=output, **fields)

    def verification(self, response: AgentResponse) -> Ledger:
        """The evidence ledger of a response."""
        from trialrun.verification import audit

        return audit(response.trace)


async def _await(given: Any) -> Any:
    return await given


def _output_and_trace(given: Any, prompt: str) -> tuple[str, Trace]:
    if isinstance(given, Trace):
        return given.answer_text or "", given
    text = given if isinstance(given, str) else getattr(given, "raw_output", None)
    if not isinstance(text, str):
        kind = type(given).__name__
        raise UsageError(f"the agent returned {kind}: expected text, a Trace, or raw_output")
    trace = getattr(given, "trace", None)
    return text, trace if isinstance(trace, Trace) else Trace(input=prompt, output=text)


def compliance_report(
    traces: Iterable[Trace],
) -> tuple[ComplianceSummary, list[tuple[str, Ledger]]]:
    """A summary of many runs, and the ledger of each with its name."""
    from trialrun.verification import audit

    ledgers = [(trace.name or trace.id or "run", audit(trace)) for trace in traces]
    return summarised([ledger for _, ledger in ledgers]), ledgers


def render_compliance(traces: Iterable[Trace], colour: bool = False) -> str:
    """The compliance report of many runs as text: bands, components, and advice for each."""
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
