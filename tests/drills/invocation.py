"""One `trialrun run` in a separate process that can be killed."""

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
# Example: "37 of 200 done".
_COUNTED = re.compile(r"(\d+) of \d+ done")


class Invocation:
    """`trialrun run` on the project in a folder; stdout goes to `report`."""

    def __init__(self, folder, location, setup, arguments):
        self.mark = secrets.token_hex(8)
        self.report = folder / f"report-{self.mark}.json"
        self._shown = b""
        environment = {**os.environ, "DRILL_LOG": str(folder / "calls"), "DRILL_MARK": self.mark}
        reading, writing = pty.openpty() if setup.on_terminal else os.pipe()
        with self.report.open("wb") as report:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trialrun", "run", "drill.yaml", "--format", "json",
                 "--jobs", str(setup.jobs), "--store", location, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=report,
                stderr=writing,
                start_new_session=True,
            )  # fmt: skip
        os.close(writing)
        self._reader = threading.Thread(target=self._read, args=(reading,))
        self._reader.start()

    def _read(self, descriptor):
        with contextlib.suppress(OSError):  # a pty raises EIO when the other end is closed
            while chunk := os.read(descriptor, 65536):
                self._shown += chunk
        os.close(descriptor)

    def kill(self):
        """Send SIGKILL to trialrun only. Return None, or the exit code if it had already ended."""
        self.process.send_signal(signal.SIGKILL)
        code = self.process.wait()
        self._require_no_process_left()
        return None if code == -signal.SIGKILL else code

    def wait(self):
        """Wait until it ends; return the exit code."""
        try:
            code = self.process.wait(LONGEST_RUN)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(
                f"still running after {LONGEST_RUN:g} s:\n{self.printed()}"
            ) from None
        self._require_no_process_left()
        return code

    def _require_no_process_left(self):
        """Require that all processes it started end without help."""
        deadline = time.monotonic() + _SECONDS_TO_DIE
        times_empty = 0
        while times_empty < 2:  # a process that is just starting has no environment for a moment
            left = self._processes_left()
            assert not left or time.monotonic() < deadline, f"left running: {left}"
            times_empty = 0 if left else times_empty + 1
            time.sleep(0.01)
        self._reader.join()

    def _processes_left(self):
        """Its processes that are still running, found by an inherited variable."""
        mark = f"DRILL_MARK={self.mark}".encode()
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended, or we may not read it
                if mark in (process / "environ").read_bytes():
                    command = (process / "cmdline").read_bytes()
                    found[process.name] = command.decode("utf-8", "replace").replace("\0", " ")
        return found

    def printed(self):
        """What it printed to stderr."""
        return self._shown.decode("utf-8", "replace")

    def counted(self):
        """The highest number of finished attempts that it reported."""
        return max((int(number) for number in _COUNTED.findall(self.printed())), default=0)
