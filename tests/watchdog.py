"""Watchdogs that end a test that hangs. Tests assert what happened, never how long it took.

Both limits are far above what is needed, so that a busy machine makes no difference.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

WALL_SECONDS = 240
"""For code that waits. Agents that hang in tests do so for 300 s, so waiting for one is noticed."""

CPU_SECONDS = 60
"""For code that computes. Inputs are so large that more than linear work needs far longer."""


@contextmanager
def watchdog(seconds: float = WALL_SECONDS) -> Iterator[None]:
    """Fail the block if it is still running after this many seconds of wall-clock time."""
    with _ended_by(signal.SIGALRM, signal.ITIMER_REAL, seconds, "still running"):
        yield


@contextmanager
def cpu_watchdog(seconds: float = CPU_SECONDS) -> Iterator[None]:
    """Fail the block once it has used this many seconds of CPU time."""
    with _ended_by(signal.SIGPROF, signal.ITIMER_PROF, seconds, "still computing"):
        yield


@contextmanager
def _ended_by(number: signal.Signals, timer: int, seconds: float, what: str) -> Iterator[None]:
    def stop(signum: int, frame: FrameType | None) -> None:
        pytest.fail(f"{what} after {seconds:g} s")

    before = signal.signal(number, stop)
    # Repeat the signal every second: the code under test may catch the first exception.
    outer = signal.setitimer(timer, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
        signal.setitimer(timer, *outer)  # the timer of an enclosing watchdog


def calls_of(work: Callable[[], object]) -> int:
    """The number of function calls, C functions included: the same on any machine."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
