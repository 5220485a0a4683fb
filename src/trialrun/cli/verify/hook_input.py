"""What Claude Code gives a Stop hook: JSON on stdin, and a transcript that may lag behind."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.errors import Problem
from trialrun.model.steps import StepType
from trialrun.model.trace import Trace

TRIES = 6
PAUSE = 0.08
"""The transcript is read up to six times, with pauses that add up to 0.4 s."""

MOST_INPUT = 20_000_000
_HEAD_ROWS = 60  # rows in which the beginning of a session is looked for
_SKIP = re.compile(r"\btrialrun:\s*skip\b", re.IGNORECASE)


class LetGo(Exception):
    """The session cannot be judged now: the agent may stop, and the reason goes to stderr."""


class HookInput(Struct, frozen=True):
    """The fields that are used; further ones are left out."""

    hook_event_name: str = "Stop"
    session_id: str = ""
    transcript_path: str = ""
    agent_transcript_path: str = ""
    cwd: str = ""
    stop_hook_active: bool = False
    last_assistant_message: str | None = None

    @property
    def is_subagent(self) -> bool:
        """Whether a subagent is about to stop."""
        return self.hook_event_name == "SubagentStop"

    @property
    def transcript(self) -> Path:
        """The transcript of the agent that is about to stop."""
        name = self.agent_transcript_path if self.is_subagent else self.transcript_path
        if not name:
            raise LetGo("the hook was given no transcript")
        return Path(name).expanduser()


def hook_input() -> HookInput:
    """The hook's JSON from stdin."""
    try:
        data = sys.stdin.buffer.read(MOST_INPUT + 1)
        if len(data) > MOST_INPUT:
            raise LetGo("stdin is too long")
        return msgspec.json.decode(data, type=HookInput)
    except (OSError, ValueError, AttributeError) as error:
        raise LetGo(f"stdin is not the JSON of a hook: {error}") from None


def final_trace(given: HookInput) -> Trace:
    """The session up to its final message, read again for a moment where its end is missing.

    Claude Code writes the transcript behind its own work: the hook may start before the last call,
    its result and the last message are in it, and a run that is not there yet would be missed. So
    the message that the hook was given is awaited; if it does not come, it is put to what is there.
    A call without its result is not the end of a session in any case.
    """
    message = (given.last_assistant_message or "").strip()
    why, size = "", -1
    trace: Trace | None = None
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE)
        before, size = size, _size(given.transcript)
        if attempt and size == before:
            continue  # reading a long session again would take long, and say the same
        trace, problem = _read(given.transcript)
        why = problem or "its end is not in the transcript yet"
        if trace is not None and "ends_in" not in trace.metadata:
            said = (trace.answer_text or "").strip()
            if said and message in said:
                return trace
    if trace is not None and message and trace.metadata.get("ends_in") != "call":
        return _with_message(trace, message)
    raise LetGo(f"{given.transcript}: {why}")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except (OSError, ValueError):
        return 0


def _with_message(trace: Trace, message: str) -> Trace:
    """The session with that final message, which its transcript lacks."""
    trace.output = message
    trace.metadata = {key: value for key, value in trace.metadata.items() if key != "ends_in"}
    return trace


def _read(file: Path) -> tuple[Trace | None, str]:
    """The one session of the file, or why there is none."""
    from trialrun import registry
    from trialrun.importers import importer_of
    from trialrun.importers.base import Importer, Source

    try:
        source = Source(file)
        # Only this importer is loaded: a hook runs at every stop.
        kind: Any = registry.find(registry.IMPORTERS, "claude_code")
        importer: Importer = kind()
        if not importer.recognises(source):
            importer = importer_of(file)
        found = list(importer.records(source))
    except Exception as error:  # whatever is wrong with the file, the agent may stop
        return None, f"cannot be read: {error}"
    problems = [one for one in found if isinstance(one, Problem)]
    traces = [one[0] for one in found if not isinstance(one, Problem)]
    if problems:
        return None, f"cannot be read whole: {problems[0].message}"
    return (traces[0], "") if len(traces) == 1 else (None, "not the transcript of one session")


def prompts_of(trace: Trace) -> list[str]:
    """What the user asked for, turn by turn."""
    later = [step.input or "" for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    return [trace.input, *later]


def says_skip(given: HookInput, trace: Trace) -> bool:
    """Whether the user's latest prompt has the skip word.

    The prompt of a subagent was written by an agent: that of the session counts.
    """
    if not given.is_subagent:
        return bool(_SKIP.search(prompts_of(trace)[-1]))
    main = Path(given.transcript_path).expanduser()
    try:
        if not given.transcript_path or b"skip" not in main.read_bytes():
            return False
    except (OSError, ValueError):
        return False
    whole, _ = _read(main)
    return whole is not None and bool(_SKIP.search(prompts_of(whole)[-1]))


def is_cut(file: Path) -> bool:
    """Whether the file begins in the middle of a session: what was done before is not in it.

    So does a session that goes on from a summary, and one whose first row answers to a row that is
    in another file.
    """
    seen: set[str] = set()
    for row in _head(file):
        if row.get("isCompactSummary") is True or row.get("subtype") == "compact_boundary":
            return True
        parent = row.get("parentUuid")
        if row.get("type") in ("user", "assistant"):
            return isinstance(parent, str) and parent not in seen
        if isinstance(row.get("uuid"), str):
            seen.add(row["uuid"])
    return False


def _head(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            for _, line in zip(range(_HEAD_ROWS), stream, strict=False):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(row, dict):
                    yield row
    except OSError:
        return
