"""Searches with regular expressions that a user wrote, with a time limit.

Patterns mean what they mean to Python's `re`, because that is what a spec promises. A backtracking
engine may practically never finish on `(a|aa)+$`, so a search that is not known to be cheap has a
limit of one second: by a timer signal in the main thread, in a helper process in other threads
(signals reach only the main thread). The helper process is reused for further searches.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING

from trialrun.measures.pattern_shapes import cost_bound

if TYPE_CHECKING:
    import subprocess

LIMIT_SECONDS = 1.0

# A helper process that gets no CPU time is killed after this many seconds of wall-clock time.
_GIVE_UP_SECONDS = 10.0

# Ten million steps of the engine take about a tenth of a second.
_CHEAP_STEPS = 10_000_000


class Pattern:
    """A compiled pattern, with the length of text up to which a search needs no time limit."""

    __slots__ = ("compiled", "safe_length", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.compiled = quietly_compiled(text)
        self.safe_length = _safe_length(text)

    def search(self, subject: str) -> bool | None:
        """Whether the pattern is found in the text; None if the time limit was reached."""
        if len(subject) <= self.safe_length:
            return self.compiled.search(subject) is not None
        found = self.first(subject)
        return None if found is None else bool(found)

    def first(self, subject: str) -> tuple[int, int] | tuple[()] | None:
        """Where it is found first, () if it is not; None if the time limit was reached."""
        if len(subject) <= self.safe_length:
            match = self.compiled.search(subject)
            return () if match is None else match.span()
        shared = _seconds_left.get()
        seconds = LIMIT_SECONDS if shared is None else shared[0]
        if seconds <= 0:
            return None
        start = time.monotonic()
        if threading.current_thread() is threading.main_thread() and _has_timer():
            found = _search_under_timer(self.compiled, subject, seconds)
        else:
            spans = _helper.ask(self.text, subject, seconds, first=True)
            found = None if spans is None else spans[0] if spans else ()
        if shared is not None:
            shared[0] -= time.monotonic() - start
        return found

    def spans(self, subject: str) -> list[tuple[int, int]] | None:
        """Where the pattern matches; None if the time limit was reached.

        Empty matches are left out: a pattern may match the empty text at every position.
        """
        if len(subject) <= self.safe_length:
            return [match.span() for match in self.compiled.finditer(subject) if match.group()]
        return _helper.ask(self.text, subject, LIMIT_SECONDS, first=False)


def quietly_compiled(text: str) -> re.Pattern[str]:
    """`re.compile` without its warnings about syntax that may change in a later Python."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(text)


_seconds_left: ContextVar[list[float] | None] = ContextVar("trialrun_seconds_left", default=None)


@contextmanager
def shared_limit() -> Iterator[None]:
    """All searches in this block share one limit: a hundred slow ones take no longer than one."""
    token = _seconds_left.set([LIMIT_SECONDS])
    try:
        yield
    finally:
        _seconds_left.reset(token)


@lru_cache(maxsize=4096)
def compiled(text: str) -> Pattern:
    """The pattern, compiled once. Raises `re.error` for an invalid one."""
    return Pattern(text)


def search(pattern: str, text: str) -> bool | None:
    """Whether the pattern is found in the text; None if the time limit was reached."""
    return compiled(pattern).search(text)


def _safe_length(pattern: str) -> float:
    """The length of the longest text that is certainly cheap to search; -1 if there is none."""
    choices, unbounded = cost_bound(pattern)
    if choices > _CHEAP_STEPS:
        return -1
    return float((_CHEAP_STEPS / choices) ** (1 / (unbounded + 1)) - 1)


class _PastLimit(Exception):
    pass


def _has_timer() -> bool:
    import signal

    return hasattr(signal, "setitimer") and signal.getsignal(signal.SIGVTALRM) is not None


def _search_under_timer(
    pattern: re.Pattern[str], text: str, seconds: float
) -> tuple[int, int] | tuple[()] | None:
    """`re` checks for signals while it searches, so a handler that raises ends the search.

    The timer counts this process's CPU time: a busy machine does not make a search unknown. It
    uses SIGVTALRM, because pytest-timeout and gunicorn use SIGALRM.
    """
    import signal

    def stop(signum: int, frame: object) -> None:
        raise _PastLimit

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            match = pattern.search(text)
            return () if match is None else match.span()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _PastLimit:
        return None
    finally:
        signal.signal(signal.SIGVTALRM, before)


_HELPER = """
import json, re, signal, sys
for line in sys.stdin.buffer:
    pattern, text, limit, first = json.loads(line)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    spans = []
    for match in re.finditer(pattern, text):
        if first or match.group():
            spans.append(match.span())
        if first:
            break
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print(json.dumps(spans), flush=True)
"""


class _Helper:
    """A helper process that runs searches. One that takes too long is killed and replaced.

    The process ends when its stdin is closed, so it never outlives this one.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._one_at_a_time = threading.Lock()

    def ask(
        self, pattern: str, text: str, seconds: float, *, first: bool
    ) -> list[tuple[int, int]] | None:
        """The spans of the matches, or of the first only; None if the limit was reached."""
        import json

        request = json.dumps([pattern, text, seconds, first]).encode() + b"\n"
        with self._one_at_a_time:
            process = self._running()
            assert process.stdin is not None and process.stdout is not None
            # The helper's own limit counts CPU time; this one covers a helper that gets none.
            watchdog = threading.Timer(_GIVE_UP_SECONDS, process.kill)
            watchdog.start()
            try:
                process.stdin.write(request)
                process.stdin.flush()
                answer = process.stdout.readline()
            except BrokenPipeError:
                answer = b""
            finally:
                watchdog.cancel()
            if not answer:
                self._end()
                return None
        return [(start, end) for start, end in json.loads(answer)]

    def _running(self) -> subprocess.Popen[bytes]:
        import subprocess
        import sys

        if self._process is None or self._owner != os.getpid():  # a fork must not share the pipes
            self._owner = os.getpid()
            self._process = subprocess.Popen(
                # -I and -S: no site packages, no environment; it starts in ten milliseconds.
                [sys.executable, "-I", "-S", "-W", "ignore", "-c", _HELPER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_helper = _Helper()
