"""Codex's code mode: JavaScript that calls tools, `tools.exec_command({cmd: "pytest"})`.

Nothing is run: the names of the tools and the commands that stand in the source are taken from it.
"""

from __future__ import annotations

import json
import re

from msgspec import Struct

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.arguments import Arguments, text_of

_UNIFIED = lazy_pattern(r"^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+)", re.MULTILINE)
_CODEX = lazy_pattern(r"^\*\*\* (?:(Update|Add|Delete) File|(Move) to): (.+)$", re.MULTILINE)
_TOOL = lazy_pattern(r"\btools\.(\w+)")
# The literal behind `cmd:`, in any of JavaScript's quotes, or a name that stands for one.
_COMMAND = lazy_pattern(
    r"""\bcmd["']?\s*(?::\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|(?=[\s:,}]))""",
    re.S,
)
_JOB = lazy_pattern(r"""\b(?:session_id|cell_id)["']?\s*:\s*["']?(\w+)""")
_HANDLED = frozenset({"exec_command", "apply_patch", "write_stdin"})


class Source(Struct, frozen=True, gc=False):
    """What a script asks for."""

    commands: tuple[str, ...]
    patched: tuple[str, ...]
    job: str  # of a command that runs in the background, whose output is asked for
    tools: tuple[str, ...]  # the other tools that it calls
    unread: bool  # a command is put together while it runs


def source_of(arguments: Arguments) -> str:
    """The script that a call was given; a shell command stands under another name."""
    return text_of(arguments, ("input", "code", "script")) or ""


def read_source(source: str) -> Source:
    """The tools that the script calls."""
    names = dict.fromkeys(_TOOL.findall(source))
    literals = _COMMAND.findall(source) if "exec_command" in names else []
    commands = [text for literal in literals if (text := _text_of(literal))]
    patched: tuple[str, ...] = ()
    if "apply_patch" in names:
        files = patched_files(source.replace("\\n", "\n"))
        patched = tuple(path.strip("\"'`") for path in files)
    job = _JOB.search(source) if "write_stdin" in names else None
    return Source(
        tuple(commands),
        patched,
        job.group(1) if job else "",
        tuple(name for name in names if name not in _HANDLED),
        unread="exec_command" in names and len(commands) < max(1, len(literals)),
    )


def _text_of(literal: str) -> str | None:
    """The text of a literal of JavaScript; None where it is put together while it runs."""
    if not literal or (literal[0] == "`" and "${" in literal):
        return None
    inner = literal[1:-1]
    if literal[0] != '"':
        inner = inner.replace(f"\\{literal[0]}", literal[0]).replace('"', '\\"')
        inner = inner.replace("\n", "\\n").replace("\t", "\\t")
    try:
        text = json.loads(f'"{inner}"')
    except ValueError:
        return None
    return text if isinstance(text, str) else None


_RESULT = lazy_pattern(r'^\{"chunk_id".*\}\s*$', re.MULTILINE)


def unpacked(text: str) -> tuple[str, int | None]:
    """The output of the one command whose result a script printed as JSON, and its exit code."""
    found = _RESULT.findall(text)
    if len(found) != 1:
        return text, None
    try:
        result = json.loads(found[0])
    except ValueError:
        return text, None
    code = result.get("exit_code")
    output = result.get("output")
    known = code if isinstance(code, int) else None
    return (output, known) if isinstance(output, str) else (text, known)


def patched_files(text: str) -> list[str]:
    """The files that the patch names, each once, in order."""
    names = [match.group(3).strip() for match in _CODEX.finditer(text)]
    if not names:
        names = [name.strip() for name in _UNIFIED.findall(text)]
    return list(dict.fromkeys(name for name in names if name != "/dev/null"))
