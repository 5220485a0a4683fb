"""One `trialrun run` as a process of its own, to be killed."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

LONGEST_RUN = 240.0
_SECONDS_TO_DIE = 30.0
_COUNTED = re.compile(r"(\d+) of \d+ done")


class Invocation:
    """`trialrun run` on the project in a folder; stdout goes to `report`."""

    def __init__(self, folder, location, way, arguments):
        self.mark = secrets.token_hex(8)
        self.report = folder / f"report-{self.mark}.json"
        self._shown = b""
        environment = {**os.environ, "DRILL_LOG": str(folder / "calls"), "DRILL_MARK": self.mark}
        ours, theirs = pty.openpty() if way.on_terminal else os.pipe()
        with self.report.open("wb") as report:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trialrun", "run", "drill.yaml", "--format", "json",
                 "--jobs", str(way.jobs), "--store", location, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=report,
                stderr=theirs,
                start_new_session=True,
            )  # fmt: skip
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, args=(ours,))
        self._reader.start()

    def _read(self, descriptor):
        with contextlib.suppress(OSError):  # a terminal says so when nobody is there any more
            while chunk := os.read(descriptor, 65536):
                self._shown += chunk
        os.close(descriptor)

    def kill(self):
        """SIGKILL for trialrun alone. None, or the exit code of one that had ended before."""
        self.process.send_signal(signal.SIGKILL)
        code = self.process.wait()
        self._end()
        return None if code == -signal.SIGKILL else code

    def wait(self):
        """Its exit code, in its own time."""
        try:
            code = self.process.wait(LONGEST_RUN)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"not over after {LONGEST_RUN:g} s:\n{self.said()}") from None
        self._end()
        return code

    def _end(self):
        """All that it started must end by itself."""
        deadline = time.monotonic() + _SECONDS_TO_DIE
        times_none = 0
        while times_none < 2:  # one that is just being started shows no variables for a moment
            left = self._left_behind()
            assert not left or time.monotonic() < deadline, f"left running: {left}"
            times_none = 0 if left else times_none + 1
            time.sleep(0.01)
        self._reader.join()

    def _left_behind(self):
        """Its processes that are still there, known by a variable that they inherited."""
        mark = f"DRILL_MARK={self.mark}".encode()
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it ended meanwhile, or is not ours to look at
                if mark in (process / "environ").read_bytes():
                    command = (process / "cmdline").read_bytes()
                    found[process.name] = command.decode("utf-8", "replace").replace("\0", " ")
        return found

    def said(self):
        """What it printed for a person."""
        return self._shown.decode("utf-8", "replace")

    def counted(self):
        """The most attempts that it ever said were done."""
        return max((int(number) for number in _COUNTED.findall(self.said())), default=0)
