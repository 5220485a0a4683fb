"""What a tool call is: its kind by the tool's name, its arguments, and its result as text.

Tools that agents are known to use are in a table (`catalogue/words.txt`). Any other tool is
classified by the words of its name and by its arguments; one that fits nothing may have done
anything, and is `OTHER`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from trialrun.model.steps import Step, StepStatus
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.arguments import Arguments, by_name, command_of, paths_of, safe_text
from trialrun.verification.code_mode import source_of, unpacked
from trialrun.verification.tables import group

EDIT, PATCH, DELETE, MOVE, EDITOR = "edit", "patch", "delete", "move", "editor"
READ, SEARCH, SHELL, CODE, SCRIPT = "read", "search", "shell", "code", "script"
AGENT, LATER, QUIET, OTHER, PROBE = "agent", "later", "quiet", "other", "probe"
DIAGNOSE = "diagnose"  # an editor's own check of a file
PULL_REQUEST = "pull request"

_KINDS = {name: kind for kind, names in group("tool").items() for name in names}
_PREFIXES = ("copilot", "vscode", "functions.")

_WORDS = {kind: frozenset(names) for kind, names in group("word").items()}
_SPLIT = lazy_pattern(r"[^a-z0-9]+")
_CAMEL = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")

READ_ONLY_AGENTS = lazy_pattern(r"explor|plan|review|research|search|guide|analy|advis", re.I)
"""Kinds of subagents that only read, such as Claude Code's `Explore` and `code-reviewer`."""


class Call(Struct, frozen=True, gc=False):
    """One call, its parts by the names that this package uses."""

    step: Step
    kind: str
    name: str
    arguments: Arguments
    text: str
    head: str  # the beginning of the result as recorded: where a tool says that the call goes on
    failed: bool
    exit_code: int | None
    cwd: str
    agent: str
    recorded: bool  # whether a result was recorded


def short_name(name: str) -> str:
    """Without the server in front of an MCP tool's name, and without separators."""
    if name.startswith("mcp__"):
        name = name.rpartition("__")[2]
    return name


def kind_of(name: str, arguments: Arguments, own: Mapping[str, str]) -> str:
    """What the tool of that name does with these arguments; `own` are tools named in a spec."""
    if name in own or short_name(name) in own:
        return own.get(name) or own[short_name(name)]
    plain = re.sub(r"[^a-z0-9.]", "", short_name(name).lower())
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    if "path" in arguments and arguments.get("command") in _EDITOR_VERBS:
        return EDITOR  # by whatever name: no program is called `str_replace`
    known = _KINDS.get(plain)
    if known == SHELL and command_of(arguments) is None:
        return OTHER
    if known == SCRIPT and command_of(arguments) is not None and not source_of(arguments):
        return SHELL
    return known or _kind_by_words(name, arguments)


def _kind_by_words(name: str, arguments: Arguments) -> str:
    """What a tool that nobody has listed does, by the words of its name."""
    words = set(_SPLIT.split(_CAMEL.sub("_", short_name(name)).lower()))
    if command_of(arguments) is not None and words & {"bash", "shell", "terminal", "command"}:
        return SHELL
    if {"pull", "request"} <= words and words & _OPENS:
        return PULL_REQUEST
    for kind, names in _WORDS.items():
        if words & names:
            return kind if kind not in (EDIT, DELETE) or paths_of(arguments) else OTHER
    return OTHER


_OPENS = frozenset({"create", "open", "submit", "update", "merge"})
_EDITOR_VERBS = ("view", "create", "str_replace", "insert", "undo_edit")

# "Exit code 1" of Claude Code; "Process exited with code 0" and "Exit code: 0" of Codex.
_EXIT = lazy_pattern(r"\A(?:.{0,200}?\n)?(?:Exit code:?|Process exited with code) (-?\d+)", re.S)
# What Claude Code adds to an output: reminders, and a line in place of nothing.
_REMINDER = lazy_pattern(
    r"<system-reminder>.*?(?:</system-reminder>|\Z)|^\(Bash completed with no output\)$",
    re.S | re.M,
)
_ENVELOPE = lazy_pattern(  # what Codex writes above an output
    r"\A(?:Chunk ID: .*\n|Wall time:? .*\n|Process (?:exited|running) .*\n|Exit code: .*\n"
    r"|Original token count: .*\n|Total output lines: .*\n|Script \w+.*\n)*Output:\n"
)


_COLOURS = lazy_pattern(r"\x1b\[[0-9;?]*[ -/]*[@-~]")  # as in `\x1b[32m14 passed\x1b[0m`


def without_colours(text: str) -> str:
    """The text without the signs by which a terminal is told colours."""
    return _COLOURS.sub("", text) if "\x1b" in text else text


def call_of(step: Step, own: Mapping[str, str], cwd: str) -> Call:
    """The call that a step records."""
    arguments = by_name(step.tool_args)
    name = step.tool_name or ""
    text = without_colours(result_text(step.tool_result))
    metadata = step.metadata
    code = metadata.get("exit_code")
    if not isinstance(code, int):
        found = _EXIT.match(text[:400])
        code = int(found.group(1)) if found else None
    kind = kind_of(name, arguments, own)
    plain = _ENVELOPE.sub("", _REMINDER.sub("", text))
    if kind in (SCRIPT, LATER):
        plain, told = unpacked(plain)
        code = code if told is None else told
    failed = step.status is StepStatus.FAILURE or bool(code) or step.error is not None
    folder = arguments.get("workdir") or arguments.get("cwd") or metadata.get("cwd")
    agent = metadata.get("agent") or metadata.get("subagent")
    return Call(
        step=step,
        kind=kind,
        name=name,
        arguments=arguments,
        text=plain,
        head=text[:400],
        failed=failed,
        exit_code=code,
        cwd=folder if isinstance(folder, str) and folder else cwd,
        agent=agent if isinstance(agent, str) else "",
        recorded=step.tool_result is not None or failed,
    )


def result_text(result: Any) -> str:
    """The text of a result: as it is, or of its `stdout`, `text` and `content` parts."""
    if isinstance(result, str):
        return result
    if result is None:
        return ""
    parts: list[str] = []
    _collect(result, parts, 0)
    return "\n".join(parts) if parts else safe_text(result)


_TEXT_KEYS = ("stdout", "output", "text", "content", "message", "stderr", "error", "result")


def _collect(value: Any, parts: list[str], depth: int) -> None:
    if isinstance(value, str):
        parts.append(value)
    elif depth < 4 and isinstance(value, Sequence):
        for one in value:
            _collect(one, parts, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for key in _TEXT_KEYS:
            if key in value:
                _collect(value[key], parts, depth + 1)
