"""The agents of the drill, copied beside its spec: each call is noted in a file before the answer.

The note is one write to a file opened for appending, so that neither a kill nor another agent can
tear it.
"""

from __future__ import annotations

import asyncio
import os
import time

SECONDS = float(os.environ.get("DRILL_SECONDS", "0.004"))


def note(case: str) -> None:
    """One line: which case, for which invocation, and who was asked."""
    log = os.open(os.environ["DRILL_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(log, f"{case} {os.environ['DRILL_MARK']} {os.getpid()}\n".encode())
    os.close(log)


def answer(case: str) -> str:
    """The same each time: most are right, some wrong, some crash."""
    number = int(case)
    if number % 50 == 7:
        raise RuntimeError("no answer to this one")
    return f"wrong {number}" if number % 10 == 3 else f"right {number}"


def plain(case: str) -> str:
    """A plain function: has a worker to itself."""
    note(case)
    time.sleep(SECONDS)
    return answer(case)


async def shared(case: str) -> str:
    """A coroutine function: shares a worker."""
    note(case)
    await asyncio.sleep(SECONDS)
    return answer(case)
