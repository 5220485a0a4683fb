"""A project in a temporary folder: a spec, an agent that logs its calls, and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time

import pytest
import yaml
from msgspec import Struct

from tests.watchdog import WALL_SECONDS, watchdog
from trialrun.cli.main import main
from trialrun.store import open_store

AGENT = """\
import os, time
from pathlib import Path

HERE = Path(__file__).parent

def note(text):
    log = os.open(HERE / "calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(log, f"{text} {time.time()}\\n".encode())
    os.close(log)

def run(question):
    '''Answers with the question itself.'''
    note(question)
    return question
"""


class Outcome(Struct):
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def report(self):
        return json.loads(self.out)

    @property
    def statuses(self):
        """The status of each attempt, in order."""
        return [result["status"] for result in self.report["results"]]

    @property
    def by_case(self):
        """The status of each case; the last one of several attempts."""
        return {result["case"]: result["status"] for result in self.report["results"]}

    @property
    def errors(self):
        return [result["error"] for result in self.report["results"]]


class Project:
    """A folder with `spec.yaml` and `an_agent.py`; commands run in it."""

    def __init__(self, folder, capsys):
        self.folder = folder
        self._capsys = capsys
        self.agent("")

    def agent(self, source):
        """Append to the agent's module; by default `run` answers with the question."""
        (self.folder / "an_agent.py").write_text(AGENT + textwrap.dedent(source))

    def spec(self, *cases, name="spec.yaml", **top):
        """Write the spec; default agent: `an_agent:run`."""
        if not {"runner", "command", "url", "agents"} & top.keys():
            top["runner"] = "an_agent:run"
        top = {key: value for key, value in top.items() if value is not None}
        (self.folder / name).write_text(yaml.safe_dump({**top, "queries": list(cases)}))

    def run(self, *arguments, spec="spec.yaml"):
        """`trialrun run` in this process, with its report as JSON."""
        return self.command("run", spec, "--format", "json", *arguments)

    def command(self, *arguments):
        self._capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    def start(self, *arguments):
        """Start `trialrun` as a separate process."""
        return subprocess.Popen(
            [sys.executable, "-m", "trialrun", *map(str, arguments)],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def calls(self):
        """The questions that the agent got, in order."""
        return [question for question, _ in self._noted()]

    @property
    def moments(self):
        """The times at which the agent was asked."""
        return [float(moment) for _, moment in self._noted()]

    def _noted(self):
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line.rsplit(" ", 1) for line in lines]

    def await_calls(self, number):
        """Wait until the agent was asked this many times."""
        with watchdog():
            while len(self.calls) < number:
                time.sleep(0.01)

    def forget_calls(self):
        (self.folder / "calls").unlink(missing_ok=True)

    def store(self):
        return open_store(create=False)


def finished(process):
    """The outcome of a process of `Project.start`."""
    out, err = process.communicate(timeout=WALL_SECONDS)
    return Outcome(process.returncode, out, err)


def says(text, expected=None, **fields):
    """A case: the agent answers with the given text, and the check expects it or another one."""
    expected = text if expected is None else expected
    return {"name": text, "query": text, "correctness": {"exact_match": expected}, **fields}


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    return Project(tmp_path, capsys)
