"""What a call was given, by any agent: `file_path` of one is `filename` of another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trialrun.verification.tables import words

Arguments = Mapping[str, Any]

_PATH_KEYS = words("argument path")
_COMMAND_KEYS = words("argument command")
_NEW_KEYS = words("argument new")
_OLD_KEYS = words("argument old")
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
                one if isinstance(one, str) else text_of(by_name(one), _PATH_KEYS) for one in value
            ]
            kept = tuple(name for name in names if name)
            if kept:
                return kept
    return ()


def exchanged(arguments: Arguments) -> tuple[str | None, str | None]:
    """What an edit puts in and what it takes out; of several edits, all of them."""
    several = arguments.get("edits")
    calls = [by_name(one) for one in several] if isinstance(several, list) else [arguments]
    new = [text for call in calls if (text := text_of(call, _NEW_KEYS)) is not None]
    old = [text for call in calls if (text := text_of(call, _OLD_KEYS)) is not None]
    return "\n".join(new) or None, "\n".join(old) or None


def command_of(arguments: Arguments) -> str | list[str] | None:
    """The script that a shell was given, or the words of one command."""
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return value
    return None


def safe_text(value: Any) -> str:
    """The value as JSON, or as Python shows it; nothing where neither can be had.

    Keys that are no strings, numbers of thousands of digits and lists within lists without end
    are a tool's own affair, and none of them may end an audit.
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return repr(value)
    except (TypeError, ValueError, RecursionError):
        return ""
