"""Read trajectories of mini-swe-agent: chat messages whose commands are fenced blocks.

A command is the one fenced bash block of an assistant's message, and the next message of the user
is what it printed, with its return code. Version 2 has the commands under `extra.actions`, and the
messages under `messages`, with costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._usage import from_provider
from trialrun.importers._values import name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import EVIDENCE, REASONING

# "```mswea_bash_command\nls\n```", and "```bash" in older runs
_COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)\s*\n(.*?)\n?```", re.DOTALL)
# "<returncode>1</returncode>\n<output>\n…\n</output>"
_RETURNED = re.compile(r"\s*<returncode>(-?\d+)</returncode>")


class MiniSweAgentImporter(Importer):
    """Reads one run."""

    name = "mini_swe_agent"
    title = "trajectories of mini-swe-agent (`.traj.json`)"
    suffixes = (".json",)
    export = "`*.traj.json` of `mini` or `mini-extra`"
    carries = EVIDENCE - {REASONING}
    example = (
        '[{"role": "system", "content": "You answer with one command."}, '
        '{"role": "user", "content": "Which files are there?"}, '
        '{"role": "assistant", "content": "Let me look.\\n\\n```mswea_bash_command\\nls\\n```"}, '
        '{"role": "user", "content": "<returncode>0</returncode>\\n<output>\\na.py\\n</output>"}]'
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        if isinstance(document, dict):
            version = document.get("trajectory_format")
            return isinstance(version, str) and version.startswith("mini-swe-agent")
        return isinstance(document, list) and any(_returned(one) for one in document)

    def records(self, source: Source) -> Iterator[Record | Problem]:
        document = source.document
        run = document if isinstance(document, dict) else {"messages": document}
        messages = run.get("messages")
        builder = TraceBuilder(self.name)
        _read(builder, messages if isinstance(messages, list) else [])
        info = run.get("info")
        info = info if isinstance(info, dict) else {}
        builder.fields["framework"] = "mini-swe-agent"
        if builder.is_empty:
            yield Problem("a trajectory without messages", file=str(source))
            return
        yield (
            builder.trace(
                self.carries,
                name=source.path.name.partition(".")[0],
                exit_status=name_of(info.get("exit_status")),
                submission=name_of(info.get("submission")),
            ),
            [],
        )


def _returned(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") != "user":
        return False
    return _RETURNED.match(text_of(message.get("content"))) is not None


def _read(builder: TraceBuilder, messages: list[Any]) -> None:
    waiting: list[Draft] = []
    for message in messages:
        if not isinstance(message, dict):
            builder.dropped("message that is not an object")
            continue
        role, content = message.get("role"), text_of(message.get("content"))
        extra = message.get("extra")
        extra = extra if isinstance(extra, dict) else {}
        if role == "assistant":
            waiting = _reply(builder, content, extra)
        elif role in ("user", "tool") and waiting:
            _results(builder, waiting, content, extra)
        elif role == "user":
            builder.prompt(content)


def _reply(builder: TraceBuilder, content: str, extra: dict[str, Any]) -> list[Draft]:
    response = extra.get("response")
    response = response if isinstance(response, dict) else {}
    model = name_of(response.get("model"))
    builder.reply(
        content,
        model=model,
        at=extra.get("timestamp"),
        tokens=from_provider(response.get("usage"), model),
        cost=extra.get("cost"),
    )
    actions = extra.get("actions")
    if isinstance(actions, list):
        given = [one.get("command") for one in actions if isinstance(one, dict)]
        commands = [one for one in given if isinstance(one, str)]
    else:
        commands = _COMMAND.findall(content)
    return [builder.call("bash", {"command": command}) for command in commands]


def _results(
    builder: TraceBuilder, waiting: list[Draft], content: str, extra: dict[str, Any]
) -> None:
    call = waiting.pop(0)
    found = _RETURNED.match(content)
    code = extra.get("returncode", int(found[1]) if found else None)
    builder.result(call, content, exit_code=code, at=extra.get("timestamp"))
