"""Searching with a pattern that a user wrote, without ever hanging.

The meaning is that of Python's own `re`, because that is what a spec promises. A backtracking
engine can take longer than the universe on `(a|aa)+$`, so a search that is not plainly cheap runs
under a limit of one second: by a timer signal in the main thread, in a helper process elsewhere
(signals reach the main thread only).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

LIMIT_SECONDS = 1.0

# Some ten million steps of the engine take about a tenth of a second.
_PLAINLY_CHEAP = 10_000_000


class Pattern:
    """A pattern made ready: compiled, and with the length of text up to which it is cheap."""

    __slots__ = ("compiled", "safe_length", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.compiled = quietly_compiled(text)
        self.safe_length = _safe_length(text)

    def search(self, subject: str) -> bool | None:
        """Whether the pattern is found in the text; None when the limit was reached."""
        if len(subject) <= self.safe_length:
            return self.compiled.search(subject) is not None
        shared = _seconds_left.get()
        seconds = LIMIT_SECONDS if shared is None else shared[0]
        if seconds <= 0:
            return None
        start = time.monotonic()
        if threading.current_thread() is threading.main_thread() and _has_timer():
            found = _search_under_timer(self.compiled, subject, seconds)
        else:
            found = _search_in_helper(self.text, subject, seconds)
        if shared is not None:
            shared[0] -= time.monotonic() - start
        return found


def quietly_compiled(text: str) -> re.Pattern[str]:
    """`re.compile` without its warnings about what a later Python may read otherwise."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(text)


_seconds_left: ContextVar[list[float] | None] = ContextVar("trialrun_seconds_left", default=None)


@contextmanager
def one_limit() -> Iterator[None]:
    """All searches within share one limit: a hundred slow ones take no longer than one."""
    token = _seconds_left.set([LIMIT_SECONDS])
    try:
        yield
    finally:
        _seconds_left.reset(token)


@lru_cache(maxsize=4096)
def ready(text: str) -> Pattern:
    """The pattern, made ready once. `re.error` if it is not one."""
    return Pattern(text)


def search(pattern: str, text: str) -> bool | None:
    """Whether the pattern is found in the text; None when the limit was reached."""
    return ready(pattern).search(text)


def _safe_length(pattern: str) -> float:
    """The longest text that takes no more than the cheap number of steps; -1 if there is none."""
    choices, unbounded = _shape(pattern)
    if choices > _PLAINLY_CHEAP:
        return -1
    return float((_PLAINLY_CHEAP / choices) ** (1 / (unbounded + 1)) - 1)


def _shape(pattern: str) -> tuple[float, int]:
    """An upper bound of the work, as (choices, n): at most choices · length^(n + 1) steps.

    Every alternative multiplies the choices, and so does every length of a bounded repeat; each
    unbounded repeat of a single character adds a factor of the text's length. A repeat of anything
    larger than one character, a look-around and a back-reference have no such bound: infinite.
    """
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:
        return float("inf"), 0
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _bound(_parser.parse(pattern))


_SINGLE = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}


def _bound(items: Any) -> tuple[float, int]:
    choices, unbounded = 1.0, 0
    for operation, argument in items:
        name = str(operation)
        if name in _SINGLE or name == "AT":
            more, repeats = 1.0, 0
        elif name == "SUBPATTERN":
            more, repeats = _bound(argument[-1])
        elif name == "BRANCH":
            bounds = [_bound(branch) for branch in argument[1]]
            more = sum(bound[0] for bound in bounds)
            repeats = max(bound[1] for bound in bounds)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = argument
            if len(body) != 1 or str(body[0][0]) not in _SINGLE:
                return float("inf"), 0
            endless = str(most) == "MAXREPEAT"
            # The least number of characters is walked at every start, whatever comes after.
            more, repeats = (least + 1.0, 1) if endless else (most + 1.0, 0)
        else:
            return float("inf"), 0
        choices, unbounded = choices * more, unbounded + repeats
    return choices * (len(items) + 1), unbounded


class _PastLimit(Exception):
    pass


def _has_timer() -> bool:
    import signal

    return hasattr(signal, "setitimer") and signal.getsignal(signal.SIGVTALRM) is not None


def _search_under_timer(pattern: re.Pattern[str], text: str, seconds: float) -> bool | None:
    """`re` looks for signals while it searches, so a handler that raises ends the search.

    The timer counts this process's own computing time: a busy machine does not make a search
    unknown, and nobody's SIGALRM (pytest-timeout, gunicorn) is touched.
    """
    import signal

    def stop(signum: int, frame: object) -> None:
        raise _PastLimit

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            return pattern.search(text) is not None
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _PastLimit:
        return None
    finally:
        signal.signal(signal.SIGVTALRM, before)


_HELPER = """
import json, re, sys
pattern, text, limit = json.loads(sys.stdin.buffer.read())
try:
    import signal
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
except (ImportError, AttributeError):
    pass
sys.stdout.write("found" if re.search(pattern, text) else "nothing")
"""


def _search_in_helper(pattern: str, text: str, seconds: float) -> bool | None:
    import json
    import subprocess
    import sys

    request = json.dumps([pattern, text, seconds]).encode()
    try:
        answer = subprocess.run(
            # -I and -S: no site packages, no environment; this starts in some ten milliseconds.
            [sys.executable, "-I", "-S", "-W", "ignore", "-c", _HELPER],
            input=request,
            capture_output=True,
            timeout=LIMIT_SECONDS * 10,
        ).stdout
    except subprocess.TimeoutExpired:
        return None
    return {b"found": True, b"nothing": False}.get(answer)
