"""An agent that is a program in any language: JSON on stdin, the answer on stdout."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from trialrun.agents._placeholders import fill_text, has_placeholder
from trialrun.agents.base import (
    LARGE_REPLY,
    LARGEST_ANSWER,
    Failure,
    Question,
    Reply,
    megabytes,
    timed_out,
)
from trialrun.agents.running.processes import Ended, Reaper, run_program
from trialrun.agents.running.reply_text import from_printed

_TRY_AGAIN = 75
"""EX_TEMPFAIL of sysexits.h: the program says that the infrastructure failed."""


class CommandAgent:
    """Runs the command once per question, in the spec's folder or the case's working folder."""

    def __init__(self, command: Sequence[str], folder: str, reaper: Reaper) -> None:
        self.command = with_absolute_files(command, folder)
        # Programs such as Claude Code add what is on stdin to the question in the argument.
        self.is_filled = any(map(has_placeholder, self.command))
        self.folder = folder
        self.reaper = reaper

    async def start(self, takes_turns: bool) -> None:
        """Nothing to prepare: a command that does not exist is an error of every case."""

    async def ask(self, question: Question, limit: float) -> Reply:
        """Run the command with the question on its stdin."""
        began = time.perf_counter()
        values = question.plain()
        command = [fill_text(word, values) for word in self.command]
        ended = await run_program(
            command,
            reaper=self.reaper,
            limit=limit,
            folder=question.folder or self.folder,
            environment=program_environment(self.folder, question.folder),
            data=b"" if self.is_filled else msgspec.json.encode(values),
        )
        found = (
            _answer(ended, limit)
            if len(ended.out) < LARGE_REPLY
            else await asyncio.to_thread(_answer, ended, limit)
        )
        reply = Reply(printed=ended.err, duration_ms=(time.perf_counter() - began) * 1000)
        if isinstance(found, Failure):
            reply.failure = found
        else:
            reply.answer = found
        return reply

    async def close(self) -> None:
        """Nothing to close: each command ended with its question."""


def with_absolute_files(command: Sequence[str], folder: str) -> list[str]:
    """The command with absolute paths for files beside the spec.

    In a case with its own working folder, `agent.py` must still mean the spec's file.
    """
    found = []
    for position, word in enumerate(command):
        file = Path(folder, word)
        is_path = position > 0 or "/" in word
        known = is_path and not word.startswith("-") and not Path(word).is_absolute()
        found.append(str(file.absolute()) if known and _is_file(file) else word)
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def program_environment(project: str, folder: str | None) -> dict[str, str]:
    """Environment variables that tell a program its folders."""
    known = {"TRIALRUN_PROJECT": str(Path(project).absolute())}
    return known if folder is None else {**known, "TRIALRUN_WORKDIR": folder}


def _answer(ended: Ended, limit: float) -> dict[str, object] | Failure:
    if ended.too_large:
        most = megabytes(LARGEST_ANSWER)
        return Failure(message=f"the command printed more than {most} to stdout")
    if ended.timed_out:
        return timed_out(limit)
    if ended.not_started is not None:
        return Failure(message=ended.not_started)
    if ended.code != 0:
        return Failure(
            message=f"the command ended with {ended.how()}",
            crashed=True,
            transient=ended.code == _TRY_AGAIN,
        )
    if ended.still_open:
        return Failure(
            message="the command ended, but a process that it started still has its stdout open: "
            "the answer may be incomplete; wait for that process, or redirect its output"
        )
    try:
        return from_printed(ended.out.decode())
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        return Failure(
            message=f"the command's answer is not UTF-8: byte 0x{found:02x} at offset {error.start}"
        )
