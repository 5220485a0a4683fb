"""Sessions of Claude Code, written for tests of `trialrun verify`."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = "/srv/app"
"""A folder that is not scratch, and does not exist on a machine that runs the tests."""


def edit(path, new="x = 2", old="x = 1", root=ROOT):
    """An edit that succeeded."""
    arguments = {"file_path": f"{root}/{path}", "old_string": old, "new_string": new}
    return "Edit", arguments, "The file has been updated."


def bash(command, output, fails=False):
    """A command with what it printed."""
    return "Bash", {"command": command}, output, fails


PASSED = bash("pytest -q", "3 passed in 0.1s")
STALE = [edit("tax.py"), PASSED, edit("tax.py", "x = 3", "x = 2")]
SOUND = [edit("tax.py"), PASSED]


def rows(calls, says=None, prompt="Fix it.", root=ROOT, start=1, parent=None, **fields):
    """The rows of a session: a prompt, calls with results, and the final message."""
    found = []

    def add(kind, content):
        number = start + len(found)
        before = parent if not found else found[-1]["uuid"]
        message = {"role": kind, "model": "m", "content": content}
        found.append(
            {
                "type": kind,
                "uuid": f"u{number}",
                "parentUuid": before,
                "sessionId": "the-session",
                "cwd": root,
                "timestamp": f"2026-01-02T03:{number // 60 % 60:02}:{number % 60:02}Z",
                "message": message,
                **fields,
            }
        )

    add("user", prompt)
    for name, arguments, result, *fails in calls:
        key = f"t{start + len(found)}"
        add("assistant", [{"type": "tool_use", "id": key, "name": name, "input": arguments}])
        failed = bool(fails and fails[0])
        block = {"type": "tool_result", "tool_use_id": key, "content": result, "is_error": failed}
        if result is not None:
            add("user", [block])
    if says is not None:
        add("assistant", [{"type": "text", "text": says}])
    return found


def write(file: Path, *turns) -> Path:
    """Write the rows of all turns to the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row) for turn in turns for row in turn)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file
