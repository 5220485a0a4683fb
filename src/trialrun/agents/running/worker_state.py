"""What an agent may change in a worker process that several cases use, and how it is restored."""

from __future__ import annotations

import functools
import locale
import os
import signal
import sys
import sysconfig
import threading
from pathlib import Path
from types import FrameType
from typing import Any


class ProcessState:
    """Process-wide state that an agent may change; restored after each case."""

    def __init__(self) -> None:
        self.folder = str(Path.cwd())
        self.environment = dict(os.environ)
        self.path = list(sys.path)
        self.locale = locale.setlocale(locale.LC_ALL)
        self.streams = (sys.stdin, sys.stdout, sys.stderr)
        self.threads = _busy_threads()

    def enter(self, folder: str | None) -> None:
        """Change to the case's working folder, if it has one."""
        if folder is not None:
            os.chdir(folder)
            os.environ["TRIALRUN_WORKDIR"] = folder

    def leave(self) -> bool:
        """Restore everything; whether threads or children of the case are still running."""
        if _working_folder() != self.folder:
            os.chdir(self.folder)
        if os.environ != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        if locale.setlocale(locale.LC_ALL) != self.locale:
            locale.setlocale(locale.LC_ALL, self.locale)
        sys.path[:] = self.path
        sys.stdin, sys.stdout, sys.stderr = self.streams
        signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm would interrupt the next case
        return not _busy_threads() <= self.threads or has_children()


def _working_folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return None


def _busy_threads() -> set[int]:
    """The threads in which a case may still do something.

    Only those count that run the user's own code, or were started to run it. Threads of libraries
    (pools, exporters of traces, event loops) wait for the next call: a new worker after each case
    would repeat all imports.
    """
    started = {thread.ident for thread in threading.enumerate() if _is_started_by_user(thread)}
    frames = sys._current_frames()
    return {ident for ident in frames if ident in started or _runs_users_code(frames[ident])}


def _is_started_by_user(thread: threading.Thread) -> bool:
    """Whether the thread was made to call the user's code: its target, or a timer's function."""
    if type(thread).__module__ == "threading" and type(thread).__name__ in _NOT_STARTED:
        return False
    for name in ("_target", "function"):
        target = getattr(thread, name, None)
        if target is not None:
            return _is_of_user(target)
    return _is_of_user(type(thread).run)


_NOT_STARTED = ("_MainThread", "_DummyThread")


def _is_of_user(function: Any) -> bool:
    """Whether a function is the user's; one without Python code (`time.sleep`) may be."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is None or _is_own_file(code.co_filename)


def _runs_users_code(frame: FrameType | None) -> bool:
    """Whether a stack reaches the user's files, or a pool runs a function without Python code."""
    if frame is not None and frame.f_code.co_filename.endswith(_THREAD_POOL_FILE):
        return frame.f_code.co_name != "_worker"  # there it waits for work
    while frame is not None:
        if _is_own_file(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


@functools.cache
def _is_own_file(name: str) -> bool:
    """Whether a file is the user's: not of Python, of an installed library or of trialrun."""
    if name.startswith("<") or name.startswith(_NOT_OWN):
        return False
    return not {"site-packages", "dist-packages"} & set(Path(name).parts)


_THREAD_POOL_FILE = os.path.join("concurrent", "futures", "thread.py")  # noqa: PTH118
_PATHS = sysconfig.get_paths()
_NOT_OWN = (
    *{_PATHS["stdlib"] + os.sep, _PATHS["platstdlib"] + os.sep},
    str(Path(__file__).parents[2]) + os.sep,
)


def has_children() -> bool:
    """Whether this process has children that run, or ended and were not waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
