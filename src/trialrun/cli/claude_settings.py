"""`trialrun init --claude-code`: the hooks of `trialrun verify` in the settings of Claude Code."""

from __future__ import annotations

import difflib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from trialrun.cli.demo import typed
from trialrun.cli.output import put, say, write_file
from trialrun.errors import UsageError
from trialrun.reports.views.printable import printable
from trialrun.util.files import reason

EVENTS = ("Stop", "SubagentStop")
SECONDS = 30
# "trialrun verify --hook --block", "/x/.venv/bin/python -m trialrun verify --hook"
_OURS = re.compile(r"\btrialrun\b.*\bverify\b.*--hook\b")

Settings = dict[str, Any]


def set_up(*, block: bool, local: bool, remove: bool, dry_run: bool) -> int:
    """Write the hooks into the settings of the current project, or take them out."""
    file = Path(".claude") / ("settings.local.json" if local else "settings.json")
    text = _text(file)
    before = _parsed(file, text)
    # Settings that are committed name no path of this machine.
    program = typed() if local else "trialrun"
    line = f"{program} verify --hook{' --block' if block else ''}"
    after = without_hooks(before) if remove else with_hooks(before, line)
    if after == before:
        say(f"{file}: {'holds no hook of trialrun' if remove else 'has these hooks already'}")
        return 0
    new = json.dumps(after, indent=_indent(text), ensure_ascii=False) + "\n"
    put(_diff(file, text, new))
    if dry_run:
        say(f"dry run: {file} was not changed")
        return 0
    _write(file, text, new)
    if not remove and not local and shutil.which("trialrun") is None:
        say("note: there is no `trialrun` on the PATH; --local writes the path of this one")
    if not remove:
        say("Claude Code reads it when it starts; `trialrun init --claude-code --remove` undoes it")
    return 0


def with_hooks(settings: Settings, line: str) -> Settings:
    """The settings with our hook at both events, and no other hook of ours."""
    made = without_hooks(settings)
    hooks = made.setdefault("hooks", {})
    entry = {"type": "command", "command": line, "timeout": SECONDS}
    for event in EVENTS:
        hooks[event] = [*hooks.get(event, []), {"hooks": [entry]}]
    return made


def without_hooks(settings: Settings) -> Settings:
    """The settings without our hooks; whatever becomes empty by that is left out."""
    made = json.loads(json.dumps(settings))
    hooks = made.get("hooks", {})
    for event in [event for event in EVENTS if event in hooks]:
        groups = [group for group in map(_without_ours, hooks[event]) if group is not None]
        if groups != hooks[event]:
            hooks[event] = groups
            if not groups:
                del hooks[event]
    if made != settings and not hooks:
        del made["hooks"]
    return dict(made)


def _without_ours(group: Any) -> Any:
    """A group of hooks without ours; None if it had no other."""
    entries = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(entries, list):
        return group
    kept = [entry for entry in entries if not _is_ours(entry)]
    if len(kept) == len(entries):
        return group
    return {**group, "hooks": kept} if kept else None


def _is_ours(entry: Any) -> bool:
    line = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(line, str) and _OURS.search(line) is not None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: cannot be read: {reason(error)}") from None


def _parsed(file: Path, text: str) -> Settings:
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: not JSON, so that it is left as it is: {error}") from None
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not all(
        isinstance(hooks.get(event, []), list) for event in EVENTS
    ):
        raise UsageError(f"{file}: `hooks` is not an object of lists; it is left as it is")
    return dict(found)


def _indent(text: str) -> int | str:
    found = re.search(r"^\{\s*\n([ \t]+)", text)
    return found[1] if found else 2


def _diff(file: Path, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), str(file), str(file), lineterm=""
    )
    return "".join(f"{printable(line)}\n" for line in lines)


def _write(file: Path, old: str, new: str) -> None:
    try:
        file.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"{file.parent}: cannot be created: {reason(error)}") from None
    if old:
        backup = file.with_name(f"{file.name}.before-trialrun")
        write_file(backup, old)
        say(f"the settings as they were: {backup}")
    write_file(file, new)
    say(f"wrote {file}")
