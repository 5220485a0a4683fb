"""Reads the outcome of a call from the text that coding agents put around its output."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from trialrun.importers._values import text_of

# The head of an output of Codex, after the command, which may be long:
# `Process exited with code 2\nOriginal token count: 9\nOutput:` or
# `Exit code: 2\nWall time: 1 seconds\nOutput:`.
_CODEX_EXIT = re.compile(
    r"^(?:Process exited with code|Exit code:) (-?\d+)\n(?:[A-Z][a-z ]+:? [^\n]*\n){0,3}Output:",
    re.MULTILINE,
)
_CODEX_HEAD = 20_000
_CODEX_FAILED = (
    "Script failed",
    "aborted by user",
    "apply_patch verification failed",
    "collab spawn failed",
    "exec_command failed",
    "execution error",
    "failed to parse function arguments",
    "patch rejected",
    "unsupported call",
    "write_stdin failed",
)


def codex_outcome(output: Any) -> tuple[Any, int | None, bool]:
    """The result of a call of Codex, its exit code, and whether Codex itself says that it failed.

    The output is text, a list of parts, `{"content": …, "success": …}`, or JSON text with
    `output` and `metadata`. What a script printed is not searched.
    """
    if isinstance(output, dict):
        return output.get("content", output), None, output.get("success") is False
    text = output if isinstance(output, str) else text_of(output)
    if text.startswith("{") and '"metadata"' in text:
        try:
            whole = msgspec.json.decode(text)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            whole = None
        if isinstance(whole, dict) and isinstance(whole.get("metadata"), dict):
            code = whole["metadata"].get("exit_code")
            return whole.get("output", text), code if type(code) is int else None, False
    found = _CODEX_EXIT.search(text, 0, _CODEX_HEAD)
    return text, int(found[1]) if found else None, text.startswith(_CODEX_FAILED)


# `Exit Code: 2`, a line that Gemini CLI adds to the output of a command that failed.
_GEMINI_EXIT = re.compile(r"^Exit Code: (-?\d+)\s*$", re.MULTILINE)


def gemini_exit_code(text: Any) -> int | None:
    """The exit code in the result of Gemini CLI's `run_shell_command`; None if it has none.

    The line comes after the output, so the last one counts.
    """
    found = _GEMINI_EXIT.findall(text) if isinstance(text, str) else []
    return int(found[-1]) if found else None


# `<exited with exit code 2>` or `<shellId: 3 completed with exit code 2>`, the last line of the
# output of Copilot's shell.
_COPILOT_EXIT = re.compile(r"<(?:exited|[^<>\n]{0,60} completed) with exit code (-?\d+)>\s*$")


def copilot_exit_code(text: Any) -> int | None:
    """The exit code at the end of an output of Copilot's shell; None if it has none."""
    found = _COPILOT_EXIT.search(text[-200:]) if isinstance(text, str) else None
    return int(found[1]) if found else None


# `Command exited with code 2`, the last line of the output of pi's `bash`.
_PI_EXIT = re.compile(r"^Command exited with code (-?\d+)\s*$", re.MULTILINE)


def pi_exit_code(text: Any) -> int | None:
    """The exit code at the end of an output of pi's `bash`; None if it has none."""
    found = _PI_EXIT.findall(text[-200:]) if isinstance(text, str) else []
    return int(found[-1]) if found else None
