"""Every example of docs/frameworks.md, run with the real framework against a scripted server."""

from __future__ import annotations

import asyncio
import json
import re
import runpy
from pathlib import Path

import pytest
from tests.scripted_models import ANSWER, PRICES, QUESTION, scripted_models

import trialrun
from trialrun.agents.running.answers import from_returned
from trialrun.model.trace_format import from_plain

PAGE = (Path(__file__).parents[3] / "docs" / "frameworks.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
EXAMPLES = {
    name: found[1]
    for name, text in SECTIONS.items()
    if name != "What is understood"
    and (found := re.search(r"```python\n(.*?)```", text, re.DOTALL))
}
SPEC = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]
TOKENS = {
    "LangGraph and LangChain": 240,
    "pydantic-ai": 240,
    "OpenAI Agents SDK": 240,
    "AutoGen": 240,
    "OpenAI's SDK": 240,
    "Anthropic's SDK": 260,
}


@pytest.fixture(scope="module")
def address():
    with scripted_models() as found:
        yield found


@pytest.fixture
def environment(address, monkeypatch):
    """The models of all providers are the scripted ones."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_every_example_has_an_expectation():
    assert set(EXAMPLES) == set(TOKENS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_passes_as_it_is_written(name, environment, tmp_path):
    (tmp_path / "agent.py").write_text(EXAMPLES[name], encoding="utf-8")
    (tmp_path / "prices.yaml").write_text(SPEC, encoding="utf-8")
    (result,) = trialrun.run(str(tmp_path / "prices.yaml"), timeout=120).results
    assert result.status.value == "pass", result


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_its_calls_results_and_tokens(name, environment, tmp_path):
    (tmp_path / "agent.py").write_text(EXAMPLES[name], encoding="utf-8")
    value = runpy.run_path(str(tmp_path / "agent.py"))["run"](QUESTION)
    value = asyncio.run(_awaited(value)) if asyncio.iscoroutine(value) else value
    trace = from_plain({**from_returned(value, QUESTION), "input": QUESTION})[0]
    assert trace.output == ANSWER
    assert [call.tool_args for call in trace.tool_calls] == [{"of": "tea"}, {"of": "rum"}]
    assert [int(call.tool_result) for call in trace.tool_calls] == list(PRICES.values())
    assert len({call.parent_id for call in trace.tool_calls}) == 1
    assert len(trace.llm_calls) == 2
    assert trace.summed_tokens == TOKENS[name]
    assert ("tokens" in trace.recorded) is (TOKENS[name] is not None)


async def _awaited(value):
    return await value


def test_a_handoff_of_the_agents_sdk_is_a_step(environment):
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

    from agents import Agent, RunConfig, Runner

    class Scripted(Model):
        def __init__(self, item):
            self.item = item

        async def get_response(self, *args, **kwargs):
            usage = Usage(requests=1, input_tokens=90, output_tokens=10, total_tokens=100)
            return ModelResponse(output=[self.item], usage=usage, response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    text = {"type": "output_text", "text": "Bonjour", "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
    answer = ResponseOutputMessage.model_validate({**message, "content": [text]})
    call = ResponseFunctionToolCall(
        call_id="c", name="transfer_to_french", arguments="{}", type="function_call"
    )
    french = Agent(name="french", model=Scripted(answer))
    agent = Agent(name="first", model=Scripted(call), handoffs=[french])
    config = RunConfig(tracing_disabled=True)
    result = asyncio.run(Runner.run(agent, "Bonjour?", run_config=config))
    trace = from_plain({**from_returned(result, "Bonjour?"), "input": "Bonjour?"})[0]
    assert [step.handoff_to for step in trace.steps if step.handoff_to] == ["french"]
    assert trace.tool_calls == []
    assert [step.metadata["agent"] for step in trace.llm_calls] == ["first", "french"]
    assert (trace.output, trace.summed_tokens) == ("Bonjour", 200)


def test_dumps_of_langchain_are_read_as_files(tmp_path):
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict

    call = {"name": "price", "args": {"of": "tea"}, "id": "a"}
    messages = [
        HumanMessage("Q"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("2", tool_call_id="a"),
        AIMessage("two"),
    ]
    forms = [dumps(messages), dumps({"messages": messages}), json.dumps(messages_to_dict(messages))]
    forms.append(json.dumps([message.model_dump() for message in messages]))
    for number, text in enumerate(forms):
        file = tmp_path / f"{number}.json"
        file.write_text(text, encoding="utf-8")
        (trace,) = trialrun.read_traces(file)
        assert (trace.input, trace.output) == ("Q", "two")
        assert [(one.tool_args, one.tool_result) for one in trace.tool_calls] == [
            ({"of": "tea"}, "2")
        ]


# The SDK's own exporter of traces, with its thread, sent to the scripted server.
EXPORTER = """
import os

from agents.tracing import set_trace_processors
from agents.tracing.processors import BackendSpanExporter, BatchTraceProcessor

address = os.environ["OPENAI_BASE_URL"] + "/traces"
set_trace_processors([BatchTraceProcessor(BackendSpanExporter(api_key="x", endpoint=address))])


def ask(question):
    result = Runner.run_sync(agent, question)
    with open(os.environ["PIDS"], "a") as file:
        print(os.getpid(), file=file)
    return result
"""


def test_workers_are_used_again_with_the_agents_sdk(environment, tmp_path, monkeypatch):
    """Idle threads of libraries must not cost a new process for each case."""
    monkeypatch.delenv("OPENAI_AGENTS_DISABLE_TRACING")
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
    (tmp_path / "agent.py").write_text(EXAMPLES["OpenAI Agents SDK"] + EXPORTER, encoding="utf-8")
    spec = SPEC.replace("agent:run", "agent:ask\nisolate: false")
    (tmp_path / "prices.yaml").write_text(spec, encoding="utf-8")
    results = trialrun.run(str(tmp_path / "prices.yaml"), repeat=4, jobs=1, timeout=120).results
    assert [one.status.value for one in results] == ["pass"] * 4
    assert len(set((tmp_path / "pids").read_text(encoding="utf-8").split())) == 1
