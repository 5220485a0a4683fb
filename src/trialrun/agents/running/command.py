"""An agent that is a program in any language: JSON on stdin, its answer on stdout."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from trialrun.agents.base import LARGEST_ANSWER, Failure, Question, Reply, megabytes, timed_out
from trialrun.agents.running import answers
from trialrun.agents.running.processes import Ended, Keeper, run_program

_TRY_AGAIN = 75
"""EX_TEMPFAIL of sysexits.h: a program's own word for "something around me failed"."""


class CommandAgent:
    """Runs the command once for every question, in the spec's folder or the case's own."""

    def __init__(self, command: Sequence[str], folder: str, keeper: Keeper) -> None:
        self.command = located(command, folder)
        self.folder = folder
        self.keeper = keeper

    async def start(self, takes_turns: bool) -> None:
        """Nothing to prepare: a command that is not there is an error of every case."""

    async def ask(self, question: Question, limit: float) -> Reply:
        """Run the command with the question on its stdin."""
        began = time.perf_counter()
        ended = await run_program(
            self.command,
            keeper=self.keeper,
            limit=limit,
            folder=question.folder or self.folder,
            environment=surroundings(self.folder, question.folder),
            data=msgspec.json.encode(question.plain()),
        )
        found = _answer(ended, limit)
        reply = Reply(printed=ended.err, duration_ms=(time.perf_counter() - began) * 1000)
        if isinstance(found, Failure):
            reply.failure = found
        else:
            reply.answer = found
        return reply

    async def close(self) -> None:
        """Every command was ended when its question was."""


def located(command: Sequence[str], folder: str) -> list[str]:
    """The command with files beside the spec named in full.

    A case with a working folder of its own runs there: `agent.py` must still be the spec's.
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


def surroundings(project: str, folder: str | None) -> dict[str, str]:
    """What a program can know about where it is."""
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
            message=f"the command ended with {ended.how()}", transient=ended.code == _TRY_AGAIN
        )
    try:
        return answers.from_printed(ended.out.decode())
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        return Failure(
            message=f"the command's answer is not UTF-8: byte 0x{found:02x} at offset {error.start}"
        )
