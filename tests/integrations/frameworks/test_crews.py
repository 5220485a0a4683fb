"""CrewAI and LlamaIndex: the examples of docs/frameworks.md, and what their results show."""

from __future__ import annotations

import asyncio

import pytest
from tests.framework_examples import (
    EXAMPLES,
    OLD_OPENAI,
    has_its_calls_results_and_tokens,
    passes_as_it_is_written,
    workers_of,
)
from tests.scripted_models import ANSWER, QUESTION

from trialrun.agents.running.answers import from_returned
from trialrun.model.trace_format import from_plain


@pytest.mark.parametrize("name", OLD_OPENAI)
def test_an_example_passes_as_it_is_written(name, environment, tmp_path):
    passes_as_it_is_written(name, tmp_path)


@pytest.mark.parametrize("name", OLD_OPENAI)
def test_an_example_has_its_calls_results_and_tokens(name, environment, tmp_path):
    has_its_calls_results_and_tokens(name, tmp_path)


def test_workers_are_used_again_with_crewai(environment, tmp_path):
    """The threads of its events wait for the next run, and hold up nothing."""
    code = EXAMPLES["CrewAI"].replace("def run(", "def answer(")
    assert workers_of(code, tmp_path) == 1


def understood(value):
    return from_plain({**from_returned(value, QUESTION), "input": QUESTION})[0]


@pytest.fixture
def shop(environment):
    """An agent of CrewAI whose tool has no rum."""
    from crewai import Agent
    from crewai.tools import tool

    @tool
    def price(of: str) -> int:
        """The price of an article."""
        return {"tea": 2}[of]

    return Agent(role="shop", goal="answer", backstory="-", tools=[price], llm="openai/gpt-5")


def test_a_crew_that_is_used_again_goes_on_counting_tokens(shop):
    from crewai import Crew, Task

    task = Task(description=QUESTION, expected_output="a sum", agent=shop)
    crew = Crew(agents=[shop], tasks=[task])
    first, second = understood(crew.kickoff()), understood(crew.kickoff())
    assert (first.total_tokens, second.total_tokens) == (240, None)
    assert "llm_calls" not in second.recorded
    for trace in (first, second):
        assert [call.status.value for call in trace.tool_calls] == ["success", "failure"]
        assert trace.tool_calls[1].error == "'rum'"


def test_two_tasks_of_a_crew_are_one_run(shop):
    from crewai import Crew, Task

    tasks = [Task(description=text, expected_output="a sum", agent=shop) for text in "ab"]
    trace = understood(Crew(agents=[shop], tasks=tasks).kickoff())
    assert trace.tool_call_sequence == ["price"] * 4
    assert [step.metadata["agent"] for step in trace.llm_calls] == ["shop"] * 4
    assert (trace.output, trace.total_tokens) == (ANSWER, 480)


def test_an_agent_of_crewai_without_a_crew(shop):
    trace = understood(shop.kickoff(QUESTION))
    assert trace.tool_call_sequence == ["price", "price"]
    assert (trace.output, trace.total_tokens) == (ANSWER, 240)


def test_calls_as_text_are_not_recorded(shop):
    """A model that cannot call tools writes what it wants; the result is in the same text."""
    from crewai import Agent, BaseLLM, Crew, Task

    replies = ['Thought: so\nAction: price\nAction Input: {"of": "tea"}', "Final Answer: 2"]

    class Old(BaseLLM):
        def call(self, *arguments, **settings):
            return replies.pop(0) if len(replies) > 1 else replies[0]

        def supports_function_calling(self):
            return False

    agent = Agent(role="a", goal="b", backstory="c", tools=shop.tools, llm=Old(model="old"))
    task = Task(description=QUESTION, expected_output="a sum", agent=agent)
    trace = understood(Crew(agents=[agent], tasks=[task]).kickoff())
    assert trace.output == "2"
    assert not trace.recorded & {"tool_calls", "tool_args", "tool_results", "llm_calls", "tokens"}


def test_a_call_that_failed_and_a_handoff_of_llama_index(environment):
    from llama_index.core.agent.workflow import AgentOutput, FunctionAgent, ToolCallResult
    from llama_index.core.llms import ChatMessage
    from llama_index.core.tools import ToolOutput
    from llama_index.llms.openai import OpenAI

    def price(of: str) -> int:
        """The price of an article."""
        return {"tea": 2}[of]

    async def run():
        return await FunctionAgent(tools=[price], llm=OpenAI(model="gpt-5")).run(QUESTION)

    result = asyncio.run(run())
    assert [call.status.value for call in understood(result).tool_calls] == ["success", "failure"]

    arguments = {"to_agent": "clerk", "reason": "-"}
    said = ToolOutput(content="ok", tool_name="handoff", raw_input={}, raw_output="ok")
    call = ToolCallResult(
        tool_name="handoff",
        tool_kwargs=arguments,
        tool_id="a",
        tool_output=said,
        return_direct=True,
    )
    message = ChatMessage("bye", role="assistant")
    output = AgentOutput(response=message, current_agent_name="clerk")
    output.tool_calls.append(call)
    trace = understood(output)
    assert [step.handoff_to for step in trace.steps] == ["clerk"]
    assert (trace.output, trace.tool_calls) == ("bye", [])
