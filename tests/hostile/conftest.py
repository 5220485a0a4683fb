"""The command line, run on hostile input: in this process where that will do, else in a child."""

from __future__ import annotations

import importlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.postgres import postgres_url, store_location  # noqa: F401
from trialrun.cli.main import main

# What a terminal would act on, had it been printed as it is: controls other than the line break,
# marks of direction, separators of lines and paragraphs, halves of characters.
RAW = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

_CHILD = """
import resource, sys
from trialrun.cli.main import main
try:
    code = main(sys.argv[2:])
finally:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    try:  # the peak of this program alone: the other one remembers the process it was forked from
        lines = open("/proc/self/status").read().splitlines()
        peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except OSError:
        pass
    open(sys.argv[1], "w").write(str(peak))
sys.exit(code)
"""

# Quick and the same every time: hundreds of examples, no shrinking.
QUICK = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass
class Outcome:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that a person would see."""
        return self.out + self.err

    def expect(self, code: int, *words: str) -> Outcome:
        """Ended with this code, said these words, with no traceback and nothing raw."""
        assert "Traceback" not in self.text, self.text[-3000:]
        assert self.code == code, f"exit {self.code}, expected {code}:\n{self.text[:3000]}"
        for word in words:
            assert word in self.text, f"{word!r} is not in:\n{self.text[:3000]}"
        self.is_safe()
        return self

    def is_safe(self) -> Outcome:
        """Nothing in it that a terminal would act on, and no line that a CI would take for its."""
        found = RAW.search(self.text)
        assert found is None, f"raw {found.group()!r} in {self.text[:3000]!r}"
        forged = [line for line in self.text.splitlines() if line.startswith("::")]
        assert not forged, f"a forged workflow command: {forged[0]!r}"
        return self


@dataclass
class LiveOutcome(Outcome):
    """How `trialrun run --format json` ended: its report, and how long it took."""

    seconds: float = 0.0

    @property
    def report(self) -> dict:
        """What stands on stdout, which is one document and nothing else."""
        return json.loads(self.out)

    @property
    def rows(self) -> dict[str, dict]:
        """The results by case; of an agent among several, by `case/agent`."""
        return {
            "/".join(filter(None, (row["case"], row["agent"]))): row
            for row in self.report["results"]
        }

    @property
    def statuses(self) -> dict[str, str]:
        """The verdict of each case."""
        return {name: row["status"] for name, row in self.rows.items()}

    def is_whole(self, names: Iterable[str]) -> LiveOutcome:
        """Planned equals reported, every case has its verdict, and the exit code says so."""
        assert "Traceback" not in self.err, self.err[-3000:]
        assert self.out, self.err[-3000:]
        wanted, summary = list(names), self.report["summary"]
        assert [row["case"] for row in self.report["results"]] == wanted
        assert summary["planned"] == summary["results"] == len(wanted)
        assert sum(summary[word] for word in ("pass", "warn", "fail", "error")) == len(wanted)
        found = set(self.statuses.values())
        assert self.code == (1 if "fail" in found else 3 if "error" in found else 0)
        return self


class Bench:
    """A folder with a spec and traces in it, and the command that is tried on them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.mark = secrets.token_hex(8)
        self._capsys = capsys

    def write(self, name: str, content: str | bytes) -> Path:
        """A file in the folder."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def spec(self, content: str | bytes) -> None:
        """The spec that is tried."""
        self.write("spec.yaml", content)

    def case(self, block: str, name: str = "one", query: str = "q") -> None:
        """A spec of one case with this block, and a second case that a good trace passes."""
        self.spec(
            f"queries:\n  - name: {name}\n    query: {query}\n    {block}\n"
            '  - {name: good, query: fine, correctness: {expected_in_answer: ["yes"]}}\n'
        )

    def traces(self, *records: dict | str | bytes, file: str = "traces.jsonl") -> None:
        """A file of JSON lines: dicts as they are, text and bytes as they stand."""
        lines = [json.dumps(r) if isinstance(r, dict) else r for r in records]
        self.write(file, b"\n".join(r.encode() if isinstance(r, str) else r for r in lines) + b"\n")

    def run(self, *arguments: str) -> Outcome:
        """The command in this process. What escapes from it is a traceback, as in a process."""
        self._capsys.readouterr()
        self.forget_modules()
        escaped = ""
        try:
            code = main(list(arguments))
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else int(left.code is not None)
        except BaseException as error:
            if isinstance(error, pytest.exit.Exception):
                raise
            code, escaped = 1, traceback.format_exc()
        said = self._capsys.readouterr()
        return Outcome(code, said.out, said.err + escaped)

    def forget_modules(self) -> None:
        """Every command is a process of its own: it has imported nothing from the folder yet."""
        home = str(self.folder)
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", "")).startswith(home):
                del sys.modules[name]
        importlib.invalidate_caches()

    def score(self, *arguments: str) -> Outcome:
        """`trialrun score spec.yaml traces.jsonl`, and further arguments."""
        return self.run("score", "spec.yaml", "traces.jsonl", *arguments)

    def refuses(self, content: str | bytes, *words: str) -> Outcome:
        """The spec is refused with these words, by `score` as by `validate`."""
        self.spec(content)
        found = self.run("validate", "spec.yaml").expect(2, *words)
        assert found.out == ""
        assert all(line.startswith("error: spec.yaml") for line in found.err.splitlines())
        scored = self.run("score", "spec.yaml", "nowhere.jsonl").expect(2, *words)
        assert scored.err == found.err
        return found

    def spawn(self, *arguments: str, **options) -> Outcome:
        """The command in a process of its own."""
        environment = {**os.environ, **options.pop("env", {})}
        done = subprocess.run(
            [sys.executable, "-m", "trialrun", *arguments],
            cwd=self.folder,
            env=environment,
            timeout=60,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )
        out, err = ((part or b"").decode("utf-8", "replace") for part in (done.stdout, done.stderr))
        return Outcome(done.returncode, out, err)

    def measure(self, *arguments: str, **options) -> tuple[Outcome, float]:
        """The command in a process of its own, and the most memory that it held, in MiB."""
        peak = self.folder / "peak.txt"
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(peak), *arguments],
            cwd=self.folder,
            capture_output=True,
            timeout=60,
            **options,
        )
        outcome = Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
        return outcome, int(peak.read_text()) / 1024**2

    # Live runs

    def cases(self, agent: dict, questions: dict[str, str], **more) -> list[str]:
        """A spec of an agent and of cases by name and question, each to be answered `yes`."""
        asked = [
            {"name": name, "query": query, "correctness": {"expected_in_answer": ["yes"]}}
            for name, query in questions.items()
        ]
        self.spec(json.dumps({**agent, **more, "queries": asked}))
        return list(questions)

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        """The command in a process that goes on; it, and all that it starts, carry our mark."""
        environment = {**os.environ, **options.pop("env", {}), _MARK: self.mark}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, "-m", "trialrun", *arguments],
            cwd=self.folder,
            env=environment,
            **{**streams, **options},
        )

    def live(self, *arguments: str, wait: float = 50, **options) -> LiveOutcome:
        """`trialrun run spec.yaml --format json`, and nothing of it may be left running."""
        given = ("run", "spec.yaml", "--format", "json", *arguments)
        began = time.monotonic()
        with self.start(*given, **options) as process:
            try:
                out, err = process.communicate(timeout=wait)
            except subprocess.TimeoutExpired:
                process.kill()
                pytest.fail(f"still running after {wait} s: {process.communicate()[1]!r}")
        seconds = time.monotonic() - began
        return LiveOutcome(process.returncode, out.decode(), err.decode(), seconds)

    def left_running(self, patience: float = 1.0) -> dict[int, str]:
        """What carries our mark and is still there when it should not be, by process id."""
        deadline = time.monotonic() + patience
        while (found := _marked(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found


_MARK = "MARK_OF_A_TEST"


def _marked(mark: str) -> dict[int, str]:
    """The processes that were started with the mark; one that is dead and not reaped is none."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{_MARK}={mark}".encode() not in (folder / "environ").read_bytes():
                continue
            if ") Z " not in (folder / "stat").read_text():
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        except (OSError, UnicodeDecodeError):
            continue  # it ended while we looked, or is not ours to look at
    return found


@pytest.fixture
def bench(tmp_path, monkeypatch, capsys):
    """A fresh folder, and nothing left behind of the plug-ins that were imported from it."""
    path = list(sys.path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Bench(tmp_path, capsys)
    yield made
    for process in _marked(made.mark):  # what a failed test left behind
        os.kill(process, signal.SIGKILL)
    made.forget_modules()
    sys.path[:] = path
    for folder in (".", str(tmp_path)):  # what was found in "." was found in this folder
        sys.path_importer_cache.pop(folder, None)
