"""The command line, run on hostile input: in this process where that will do, else in a child."""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.postgres import postgres_url, store_location  # noqa: F401
from tests.watchdog import WALL_SECONDS, watchdog
from trialrun.cli.main import main
from trialrun.measures import patterns

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
    """How `trialrun run --format json` ended, and its report."""

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

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder = folder
        self.mark = secrets.token_hex(8)
        self._capsys = capsys
        self._monkeypatch = monkeypatch

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
        code, escaped = self._ended(arguments)
        said = self._capsys.readouterr()
        return Outcome(code, said.out, said.err + escaped)

    def _ended(self, arguments: Iterable[str]) -> tuple[int, str]:
        """The exit code of the command, and the traceback of what escaped from it."""
        self.forget_modules()
        try:
            with watchdog():
                return main(list(arguments)), ""
        except SystemExit as left:
            return left.code if isinstance(left.code, int) else int(left.code is not None), ""
        except (pytest.exit.Exception, pytest.fail.Exception):
            raise
        except BaseException:
            return 1, traceback.format_exc()

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
            timeout=WALL_SECONDS,
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
            timeout=WALL_SECONDS,
            **options,
        )
        outcome = Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
        return outcome, int(peak.read_text()) / 1024**2

    # Live runs

    def cases(
        self, agent: dict, questions: dict[str, str], late: dict[str, float] | None = None, **more
    ) -> list[str]:
        """A spec of an agent and of cases by name and question, each to be answered `yes`.

        Only those that are `late` have a short limit: a good one may take long on a busy machine.
        """
        asked = [
            {"name": name, "query": query, "correctness": {"expected_in_answer": ["yes"]}}
            | ({"timeout": late[name]} if late and name in late else {})
            for name, query in questions.items()
        ]
        self.spec(json.dumps({**agent, **more, "queries": asked}))
        return list(questions)

    @contextmanager
    def start(self, *arguments: str, **options) -> Iterator[subprocess.Popen]:
        """The command in a process that goes on; it, and all that it starts, carry our mark."""
        environment = {**os.environ, **options.pop("env", {}), _MARK: self.mark}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(
            [sys.executable, "-m", "trialrun", *arguments],
            cwd=self.folder,
            env=environment,
            **{**streams, **options},
        ) as process:
            try:
                with watchdog():
                    yield process
            except BaseException:
                process.kill()  # else a test that failed would wait for it
                raise

    def live(self, *arguments: str, env: dict[str, str] | None = None) -> LiveOutcome:
        """`trialrun run spec.yaml --format json` in this process; its agents have their own.

        All that is written to the descriptors of stdout and stderr is seen, by whomever.
        """
        given = ("run", "spec.yaml", "--format", "json", *arguments)
        with self._monkeypatch.context() as patched, _streams() as (out, err):
            for name, value in {**(env or {}), _MARK: self.mark}.items():
                patched.setenv(name, value)
            try:
                code, escaped = self._ended(given)
            finally:
                patterns._helper._end()  # it would have ended with the process
        return LiveOutcome(code, out.text, err.text + escaped)

    def live_process(self, *arguments: str, **options) -> LiveOutcome:
        """The same in a process of its own, for what is a matter of processes."""
        given = ("run", "spec.yaml", "--format", "json", *arguments)
        with self.start(*given, **options) as process:
            out, err = process.communicate()
        return LiveOutcome(process.returncode, out.decode(), err.decode())

    def left_running(self, patience: float = 30.0) -> dict[int, str]:
        """What carries our mark and is still there when it should not be, by process id.

        What was killed may take a moment to go on a busy machine.
        """
        deadline = time.monotonic() + patience
        while (found := _marked(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found


class _Stream:
    """What was written to a descriptor while it was ours."""

    def __init__(self, descriptor: int) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115
        self.descriptor = descriptor
        self.before = os.dup(descriptor)
        os.dup2(self.file.fileno(), descriptor)
        self.writer = io.TextIOWrapper(
            io.FileIO(descriptor, "w", closefd=False), "utf-8", newline="", write_through=True
        )
        self.text = ""

    def end(self) -> None:
        self.writer.flush()
        os.dup2(self.before, self.descriptor)
        os.close(self.before)
        self.file.seek(0)
        self.text = self.file.read().decode()
        self.file.close()


@contextmanager
def _streams() -> Iterator[tuple[_Stream, _Stream]]:
    """stdout and stderr as a process of its own would have them: strict UTF-8, and no terminal."""
    before = sys.stdout, sys.stderr
    sys.stdout.flush()
    sys.stderr.flush()
    out, err = _Stream(1), _Stream(2)
    sys.stdout, sys.stderr = out.writer, err.writer
    try:
        yield out, err
    finally:
        sys.stdout, sys.stderr = before
        out.end()
        err.end()


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
    made = Bench(tmp_path, capsys, monkeypatch)
    yield made
    for process in _marked(made.mark):  # what a failed test left behind
        os.kill(process, signal.SIGKILL)
    made.forget_modules()
    sys.path[:] = path
    for folder in (".", str(tmp_path)):  # what was found in "." was found in this folder
        sys.path_importer_cache.pop(folder, None)
