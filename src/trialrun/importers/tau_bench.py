"""Read results of tau-bench: conversations of an agent with a simulated user, as chat messages.

Ids of calls are used again within a run, so results are joined in order. The user's last message
only ends the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._values import dicts_in, name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import COSTS, EVIDENCE, REASONING, TIMINGS, TOKENS


class TauBenchImporter(Importer):
    """Reads one trace per run; several trials of a task are attempts at one case."""

    name = "tau_bench"
    title = "results of tau-bench"
    suffixes = (".json",)
    export = "`results/*.json` of `run.py`, `historical_trajectories/*.json`"
    carries = EVIDENCE - {TOKENS, COSTS, TIMINGS, REASONING}
    example = (
        '[{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": '
        '[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "2 + 2?"}, '
        '{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", '
        '"function": {"name": "add", "arguments": "{}"}}]}, '
        '{"role": "tool", "tool_call_id": "c", "name": "add", "content": "4"}, '
        '{"role": "assistant", "content": "4"}, {"role": "user", "content": "###STOP###"}]}]'
    )

    def recognises(self, source: Source) -> bool:
        runs = _runs(source)
        return bool(runs) and all(map(_is_run, runs))

    def records(self, source: Source) -> Iterator[Record | Problem]:
        for run in _runs(source):
            builder = TraceBuilder(self.name)
            _read(builder, dicts_in(run["traj"]))
            builder.fields["framework"] = "tau-bench"
            name, trial = f"task {run['task_id']}", run.get("trial")
            yield builder.trace(self.carries, name=name, trial=trial, reward=run["reward"]), []


def _runs(source: Source) -> list[Any]:
    """The runs of a file; some hold one, without a list around it."""
    document = source.document
    return document if isinstance(document, list) else [document]


def _is_run(value: Any) -> bool:
    if not isinstance(value, dict) or not {"task_id", "reward", "traj"} <= value.keys():
        return False
    return isinstance(value["traj"], list)


def _read(builder: TraceBuilder, messages: list[dict[str, Any]]) -> None:
    said = [index for index, one in enumerate(messages) if one.get("role") == "assistant"]
    end = said[-1] if said else len(messages)
    waiting: list[Draft] = []
    for index, message in enumerate(messages):
        role, text = message.get("role"), text_of(message.get("content"))
        if role == "assistant":
            builder.reply(text)
            waiting = _calls(builder, message)
        elif role == "tool" and waiting:
            failed = text.startswith("Error")  # how its environments report a refused call
            builder.result(waiting.pop(0), text, failed=failed)
        elif role == "tool":
            builder.dropped("result without a call")
        elif role == "user" and index > end:
            builder.dropped("closing message of the user")  # nothing answers it
        elif role == "user":
            builder.prompt(text)


def _calls(builder: TraceBuilder, message: dict[str, Any]) -> list[Draft]:
    found = []
    for call in dicts_in(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict):
            name = name_of(function.get("name")) or ""
            found.append(builder.call(name, function.get("arguments")))
    return found
