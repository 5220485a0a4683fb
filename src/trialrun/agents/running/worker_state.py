"""What an agent may change in a worker process that several cases use, and how it is restored."""

from __future__ import annotations

import locale
import os
import signal
import sys
from pathlib import Path


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
        return _busy_threads() > self.threads or has_children()


def _working_folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return None


def _busy_threads() -> int:
    """The number of threads that may still do something, without idle pool threads.

    Many libraries keep such pools: a new worker after each case would repeat all their imports.
    """
    return sum(
        not (
            frame.f_code.co_name == "_worker"
            and frame.f_code.co_filename.endswith(_THREAD_POOL_FILE)
        )
        for frame in sys._current_frames().values()
    )


_THREAD_POOL_FILE = os.path.join("concurrent", "futures", "thread.py")  # noqa: PTH118


def has_children() -> bool:
    """Whether this process has children that run, or ended and were not waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
