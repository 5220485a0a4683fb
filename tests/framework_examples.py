"""The examples of docs/frameworks.md, for tests that run them with the real frameworks."""

from __future__ import annotations

import asyncio
import re
import runpy
from pathlib import Path

import trialrun
from tests.scripted_models import ANSWER, PRICES, QUESTION
from trialrun.agents.running.answers import from_returned
from trialrun.model.trace import Trace
from trialrun.model.trace_format import from_plain

PAGE = (Path(__file__).parents[1] / "docs" / "frameworks.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
EXAMPLES = {
    name: found[1]
    for name, text in SECTIONS.items()
    if name != "What is understood"
    and (found := re.search(r"```python\n(.*?)```", text, re.DOTALL))
}
SPEC = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
TOKENS = {
    "LangGraph and LangChain": 240,
    "pydantic-ai": 240,
    "OpenAI Agents SDK": 240,
    "AutoGen": 240,
    "OpenAI's SDK": 240,
    "Anthropic's SDK": 260,
    "CrewAI": 240,
    "LlamaIndex": None,
}
OLD_OPENAI = ["CrewAI", "LlamaIndex"]
"""They need an earlier version of OpenAI's SDK than the others: another environment."""


def passes_as_it_is_written(name: str, folder: Path) -> None:
    """The spec of the page passes with the agent of the section."""
    (folder / "agent.py").write_text(EXAMPLES[name], encoding="utf-8")
    (folder / "prices.yaml").write_text(SPEC, encoding="utf-8")
    (result,) = trialrun.run(str(folder / "prices.yaml"), timeout=120).results
    assert result.status.value == "pass", result


def has_its_calls_results_and_tokens(name: str, folder: Path) -> Trace:
    """What the function of the section returns is the run that the server scripted."""
    (folder / "agent.py").write_text(EXAMPLES[name], encoding="utf-8")
    value = runpy.run_path(str(folder / "agent.py"))["run"](QUESTION)
    value = asyncio.run(_awaited(value)) if asyncio.iscoroutine(value) else value
    found = from_returned(value, QUESTION)
    assert isinstance(found, dict), found
    trace = from_plain({**found, "input": QUESTION})[0]
    assert trace.output == ANSWER
    assert [call.tool_args for call in trace.tool_calls] == [{"of": "tea"}, {"of": "rum"}]
    assert [int(call.tool_result) for call in trace.tool_calls] == list(PRICES.values())
    assert ("tokens" in trace.recorded) is (TOKENS[name] is not None)
    if "llm_calls" in trace.recorded:
        assert len({call.parent_id for call in trace.tool_calls}) == 1
        assert len(trace.llm_calls) == 2
        assert trace.summed_tokens == TOKENS[name]
    return trace


# Each answer is written down with the process that gave it.
_ASK = """

def ask(question):
    import os

    with open({path!r}, "a") as file:
        print(os.getpid(), file=file)
    return answer(question)
"""


def workers_of(code: str, folder: Path) -> int:
    """The number of processes that four cases need, one after the other; `answer` is the agent."""
    pids = folder / "pids"
    (folder / "agent.py").write_text(code + _ASK.format(path=str(pids)), encoding="utf-8")
    spec = SPEC.replace("agent:run", "agent:ask\nisolate: false")
    (folder / "prices.yaml").write_text(spec, encoding="utf-8")
    results = trialrun.run(str(folder / "prices.yaml"), repeat=4, jobs=1, timeout=120).results
    assert [one.status.value for one in results] == ["pass"] * 4
    return len(set(pids.read_text(encoding="utf-8").split()))


async def _awaited(value):  # type: ignore[no-untyped-def]
    return await value
