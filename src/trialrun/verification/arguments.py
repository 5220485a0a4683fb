"""What a call was given, whatever its agent calls it: `file_path` of one is `filename` of another."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from trialrun.verification.values import safe_text

Arguments = Mapping[str, Any]

_PATH_KEYS = (
    "file_path", "path", "filename", "file", "filepath", "notebook_path", "notebook", "target_file", "relative_workspace_path", "file_name",
    "absolutepath", "targetfile", "uri", "absolute_path", "relative_path", "doc", "doc_id", "document", "document_id", "page_id",
    "page", "id", "key", "name", "issue_number", "pull_number", "number", "uid", "slug", "sheet", "title", "resource", "target", "dir", "directory", "searchdirectory", "directorypath", "folder",
)  # fmt: skip
_COMMAND_KEYS = (
    "command", "cmd", "commandline", "script", "shell_command", "bash", "commands", "keystrokes", "input", "code", "args", "argv", "line",
)  # fmt: skip
_FOLDER_KEYS = (
    "cwd",
    "workdir",
    "working_directory",
    "working_dir",
    "dir",
    "directory",
    "workspace",
)
HOST_KEYS = ("host", "hostname", "server", "machine", "target", "node")
_CONTENT_KEYS = (
    "new_string", "new_str", "content", "file_text", "new_source", "replacement", "replace", "code_edit", "text", "new_text",
    "contents", "diff", "patch", "input", "body", "codeedit", "codecontent", "new_content", "insert_text", "edits", "replace_text", "code",
)  # fmt: skip

_NEW_KEYS = (
    "new_string", "new_str", "content", "file_text", "new_source", "replacement", "replace", "new_text", "contents", "new_content",
    "insert_text", "newtext", "text", "body", "to",
)  # fmt: skip
_OLD_KEYS = (
    "old_string",
    "old_str",
    "old_text",
    "search",
    "find",
    "old_content",
    "target_content",
    "from",
)
_PART_KEYS = frozenset(
    "offset limit view_range start_line end_line line_start line_end startline endline line_range"
    " lines head tail start_line_one_indexed".split()
)
_NUMBER_KEYS = frozenset({"issue_number", "pull_number", "number"})


def by_name(arguments: Any) -> Arguments:
    """The arguments by name, in lower case: `filePath` of one agent is `filepath` of another."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {"input": arguments}
    if not isinstance(arguments, dict):
        return {}
    return {safe_text(key).lower(): value for key, value in arguments.items()}


def text_of(arguments: Arguments, keys: Sequence[str]) -> str | None:
    """The text under the first of these names that has one."""
    if arguments.keys().isdisjoint(keys):
        return None
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return None


def paths_of(arguments: Arguments) -> tuple[str, ...]:
    """The files, pages, issues or whatever the call is about."""
    for key in _PATH_KEYS:
        value = arguments.get(key)
        if type(value) is int and key in _NUMBER_KEYS:
            return (f"#{safe_text(value)}",)
        if isinstance(value, str) and value.strip():
            return (value,)
    for key in ("paths", "files", "file_paths", "edits"):
        value = arguments.get(key)
        if isinstance(value, list):
            names = [
                one
                if isinstance(one, str)
                else text_of(by_name(one), _PATH_KEYS)
                if isinstance(one, dict)
                else None
                for one in value
            ]
            kept = tuple(name for name in names if name)
            if kept:
                return kept
    return ()


def folder_of(arguments: Arguments) -> str | None:
    """Where the call is made; None where that is not said."""
    folder = text_of(arguments, _FOLDER_KEYS)
    return None if folder == "." else folder


def exchanged(arguments: Arguments) -> tuple[str | None, str | None]:
    """The text that an edit puts in and the one that it takes out; of several edits, all of them."""
    several = arguments.get("edits")
    calls = [by_name(one) for one in several] if isinstance(several, list) else [arguments]
    new = [text for call in calls if (text := text_of(call, _NEW_KEYS)) is not None]
    old = [text for call in calls if (text := text_of(call, _OLD_KEYS)) is not None]
    return "\n".join(new) or None, "\n".join(old) or None


def asks_for_part(arguments: Arguments) -> bool:
    """Whether a part of the file was asked for."""
    given = _PART_KEYS & arguments.keys()
    return any(arguments[key] not in (None, False, "", []) for key in given)


def content_of(arguments: Arguments) -> str | None:
    """All that an edit puts in, patches included."""
    given = [key for key in _CONTENT_KEYS if key in arguments]
    parts = [arguments[key] for key in given if isinstance(arguments[key], (str, list))]
    if not parts:
        return None
    return "\n".join(safe_text(part) for part in parts)


def command_of(arguments: Arguments) -> str | list[str] | None:
    """The script that a shell was given, or the words of one command."""
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return value
    return None


def words_of(arguments: Arguments) -> str | None:
    """What a tool that is a program was given behind its name."""
    given = arguments.get("args", arguments.get("arguments", arguments.get("command")))
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        return shlex.join(given)
    return given if isinstance(given, str) and given.strip() else None
