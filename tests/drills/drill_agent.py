"""The Python agents of the drill, copied next to its spec. Each logs the call before it answers.

A log entry is one write in append mode, so that neither a kill nor another agent can split it.
"""

from __future__ import annotations

import asyncio
import os
import time

SECONDS = float(os.environ.get("DRILL_SECONDS", "0.004"))


def log_call(case: str) -> None:
    """Log one line: the case, the mark of the invocation, the process id."""
    file = os.open(os.environ["DRILL_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, f"{case} {os.environ['DRILL_MARK']} {os.getpid()}\n".encode())
    os.close(file)


def answer(case: str) -> str:
    """A deterministic answer: most are right, some are wrong, some raise."""
    number = int(case)
    if number % 50 == 7:
        raise RuntimeError("no answer to this one")
    return f"wrong {number}" if number % 10 == 3 else f"right {number}"


def plain(case: str) -> str:
    """A plain function: runs alone in a worker."""
    log_call(case)
    time.sleep(SECONDS)
    return answer(case)


async def shared(case: str) -> str:
    """A coroutine function: many calls share a worker."""
    log_call(case)
    await asyncio.sleep(SECONDS)
    return answer(case)
