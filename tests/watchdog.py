"""Ends what would never end. No test measures time: it says what happened, and this ends a hang.

Both limits are far above what is needed, so that a busy machine changes nothing.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

WALL_SECONDS = 240
"""For what waits for others. Agents that hang in tests do so for 300 s: waiting for one shows."""

CPU_SECONDS = 60
"""For what computes. Inputs are so large that anything but linear work needs far more."""


@contextmanager
def watchdog(seconds: float = WALL_SECONDS) -> Iterator[None]:
    """Fail what is inside if it is still waiting after so many seconds by the clock."""
    with _ended_by(signal.SIGALRM, signal.ITIMER_REAL, seconds, "still running"):
        yield


@contextmanager
def cpu_watchdog(seconds: float = CPU_SECONDS) -> Iterator[None]:
    """Fail what is inside once it has computed for so many seconds, however busy the machine is."""
    with _ended_by(signal.SIGPROF, signal.ITIMER_PROF, seconds, "still computing"):
        yield


@contextmanager
def _ended_by(number: signal.Signals, timer: int, seconds: float, what: str) -> Iterator[None]:
    def stop(signum: int, frame: FrameType | None) -> None:
        pytest.fail(f"{what} after {seconds:g} s")

    before = signal.signal(number, stop)
    # Once more and again: the first one may be caught by what is tested.
    outer = signal.setitimer(timer, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
        signal.setitimer(timer, *outer)  # of a watchdog around this one


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called by this work, those of C included: the same on any machine."""
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
