"""Read results of tau2-bench: each simulation is a conversation of an agent with a simulated user.

The user may call tools too, which are not the agent's. Costs and tokens of the simulated user are
not the agent's either. A run opens with a fixed greeting and ends with the user's last message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._usage import from_provider
from trialrun.importers._values import name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE, REASONING
from trialrun.model.trace import TokenUsage


class Tau2BenchImporter(Importer):
    """Reads one trace per simulation; several trials of a task are attempts at one case."""

    name = "tau2_bench"
    title = "results of tau2-bench"
    suffixes = (".json",)
    export = "`data/simulations/*.json` of a tau2 run"
    carries = EVIDENCE - {REASONING}
    example = (
        '{"info": {"agent_info": {"llm": "m"}}, "tasks": [{"id": "1"}], "simulations": ['
        '{"id": "s", "task_id": "1", "trial": 0, "messages": ['
        '{"role": "user", "content": "2 + 2?"}, '
        '{"role": "assistant", "content": "4", "usage": '
        '{"prompt_tokens": 3, "completion_tokens": 1}, "cost": 0.01}]}]}'
    )

    def recognises(self, source: Source) -> bool:
        return {"simulations", "tasks"} <= source.keys and isinstance(
            source.document["simulations"], list
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        info = source.document.get("info")
        agent = info.get("agent_info") if isinstance(info, dict) else None
        model = agent.get("llm") if isinstance(agent, dict) else None
        for number, simulation in enumerate(source.document["simulations"], 1):
            messages = simulation.get("messages") if isinstance(simulation, dict) else None
            if not isinstance(messages, list):
                yield Problem(f"simulation {number} has no messages", file=str(source))
                continue
            builder = TraceBuilder(self.name)
            _read(builder, messages, model if isinstance(model, str) else None)
            builder.fields |= {
                "id": name_of(simulation.get("id")),
                "framework": "tau2-bench",
            }
            reward = simulation.get("reward_info")
            trace = builder.trace(
                self.carries,
                name=f"task {simulation.get('task_id')}",
                trial=simulation.get("trial"),
                reward=reward.get("reward") if isinstance(reward, dict) else None,
                termination=name_of(simulation.get("termination_reason")),
            )
            yield trace, []


def _read(builder: TraceBuilder, messages: list[Any], model: str | None) -> None:
    known = [one for one in messages if isinstance(one, dict)]
    said = [index for index, one in enumerate(known) if one.get("role") == "assistant"]
    end = said[-1] if said else len(known)
    for index, message in enumerate(known):
        role, content = message.get("role"), message.get("content")
        at = message.get("timestamp")
        if role == "assistant":
            _reply(builder, message, model)
        elif role == "tool":
            _results(builder, message)
        elif role == "user" and message.get("tool_calls"):
            builder.dropped("call of a tool by the user")
        elif role == "user" and index > end:
            builder.dropped("closing message of the user")  # nothing answers it
        elif role == "user":
            builder.prompt(content if isinstance(content, str) else "", at)


def _reply(builder: TraceBuilder, message: dict[str, Any], model: str | None) -> None:
    tokens, cost = from_provider(message.get("usage"), model), message.get("cost")
    if message.get("usage") is None and not cost and builder.input is None:
        tokens, cost = TokenUsage(), None  # the greeting is a fixed text: no model was asked
    content = message.get("content")
    builder.reply(
        content if isinstance(content, str) else None,
        model=model,
        at=message.get("timestamp"),
        tokens=tokens,
        cost=cost,
    )
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            name, key = name_of(call.get("name")) or "", name_of(call.get("id"))
            builder.call(name, call.get("arguments"), key=key, at=message.get("timestamp"))


def _results(builder: TraceBuilder, message: dict[str, Any]) -> None:
    """One result, or several of parallel calls in one message."""
    parts = message.get("tool_messages")
    for part in parts if isinstance(parts, list) else [message]:
        if not isinstance(part, dict):
            continue
        if part.get("requestor") == "user":
            builder.dropped("result of a call by the user")
            continue
        failed = part.get("error") is True
        builder.result(
            name_of(part.get("id")), part.get("content"), failed=failed, at=part.get("timestamp")
        )
