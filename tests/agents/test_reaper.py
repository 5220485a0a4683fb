"""A run that is killed leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = """
import asyncio, sys
from trialrun.agents.base import Question
from trialrun.agents.running.command import CommandAgent
from trialrun.agents.running.processes import Reaper
from trialrun.agents.running.python import PythonAgent

async def main():
    reaper = Reaper()
    script = (
        "setsid sh -c 'echo $$ > escaped.pid; sleep 300' &"
        "echo $$ > command.pid; trap '' TERM; sleep 300"
    )
    command = CommandAgent(["sh", "-c", script], ".", reaper)
    python = PythonAgent("hanging:run", ".", reaper)
    await python.start(False)
    question = Question(input="x")
    await asyncio.gather(command.ask(question, 300), python.ask(question, 300))

asyncio.run(main())
"""


def test_kill_9_also_ends_the_agents(tmp_path):
    (tmp_path / "hanging.py").write_text(
        "import os, time\n"
        "def run(q):\n"
        "    open('python.pid', 'w').write(str(os.getpid()))\n"
        "    time.sleep(300)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=tmp_path)
    files = [tmp_path / f"{name}.pid" for name in ("command", "escaped", "python")]
    _until(lambda: all(file.exists() and file.read_text().strip() for file in files))
    run.send_signal(signal.SIGKILL)
    run.wait()
    for file in files:
        pid = int(file.read_text())
        _until(lambda pid=pid: not _is_alive(pid))


def _until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("not within 30 s")


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
