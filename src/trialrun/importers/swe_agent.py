"""Read trajectories of SWE-agent: the steps of `trajectory`, else the messages of `history`.

An action is one line of commands; its first word names the tool. A demonstration in the history is
not part of the run. Model statistics of 0 are those of a replay, where no model was asked: unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._values import as_arguments, name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import COSTS, EVIDENCE, LLM_CALLS, TOKENS


class SweAgentImporter(Importer):
    """Reads one run, of SWE-agent before and after version 1."""

    name = "swe_agent"
    title = "trajectories of SWE-agent (`.traj`)"
    suffixes = (".traj", ".json")
    export = "`trajectories/…/*.traj` of `sweagent run`"
    carries = EVIDENCE - {COSTS, TOKENS}
    example = (
        '{"environment": "swe_main", "trajectory": [{"action": "ls -F\\n", "observation": "a.py", '
        '"response": "Let us look.", "thought": "Let us look.", "state": "{}"}], "history": '
        '[{"role": "user", "content": "Fix it.", "message_type": "observation"}], '
        '"info": {"exit_status": "submitted", "submission": "diff"}}'
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        if not isinstance(document, dict) or not isinstance(document.get("history"), list):
            return False
        if isinstance(document.get("trajectory"), list):
            return "info" in document or "environment" in document
        return any(isinstance(one, dict) and "message_type" in one for one in document["history"])

    def records(self, source: Source) -> Iterator[Record | Problem]:
        run = source.document
        history = [one for one in run["history"] if isinstance(one, dict) and not _is_demo(one)]
        builder = TraceBuilder(self.name)
        for message in history:
            if message.get("role") == "user":
                builder.prompt(text_of(message.get("content")))
                break
        for _ in range(len(run["history"]) - len(history)):
            builder.dropped("message of a demonstration")
        if isinstance(run.get("trajectory"), list):
            _steps(builder, run["trajectory"])
        else:
            _messages(builder, history)
        info = run.get("info")
        info = info if isinstance(info, dict) else {}
        builder.fields["framework"] = "swe-agent"
        name = source.path.name.partition(".")[0]
        yield (
            builder.trace(
                self._carried(info),
                name=name,
                exit_status=name_of(info.get("exit_status")),
                submission=name_of(info.get("submission")),
            ),
            [],
        )

    def _carried(self, info: dict[str, Any]) -> frozenset[str]:
        """A replay asked no model: its steps are not model calls."""
        statistics = info.get("model_stats")
        asked = statistics.get("api_calls") if isinstance(statistics, dict) else None
        return self.carries - {LLM_CALLS} if asked == 0 else self.carries


def _is_demo(message: dict[str, Any]) -> bool:
    return message.get("is_demo") is True or message.get("message_type") == "demonstration"


def _steps(builder: TraceBuilder, steps: list[Any]) -> None:
    for step in steps:
        if not isinstance(step, dict):
            builder.dropped("step that is not an object")
            continue
        thought = name_of(step.get("thought")) or name_of(step.get("response"))
        builder.reply(thought)
        action = (name_of(step.get("action")) or "").strip()
        if not action:
            continue
        call = builder.call(action.split(None, 1)[0], {"command": action})
        call.note(cwd=_folder(step.get("state")))
        seconds = step.get("execution_time")
        ms = seconds * 1000 if isinstance(seconds, (int, float)) else None
        if isinstance(step.get("observation"), str):
            builder.result(call, step["observation"], ms=ms)


def _folder(state: Any) -> str | None:
    """The folder in which the command ran; the state is an object, or its JSON."""
    known = as_arguments(state) if isinstance(state, (str, dict)) else None
    return name_of((known or {}).get("working_dir"))


def _messages(builder: TraceBuilder, history: list[dict[str, Any]]) -> None:
    for message in history:
        role, content = message.get("role"), text_of(message.get("content"))
        if role == "assistant":
            builder.reply(content)
            calls = message.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                function = call.get("function") if isinstance(call, dict) else None
                if isinstance(function, dict):
                    name, key = name_of(function.get("name")) or "", name_of(call.get("id"))
                    builder.call(name, function.get("arguments"), key=key)
        elif role == "tool":
            keys = message.get("tool_call_ids")
            for key in keys if isinstance(keys, list) else [message.get("tool_call_id")]:
                builder.result(name_of(key), content)
