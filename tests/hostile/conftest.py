"""Run the command line on hostile input: in this process if possible, otherwise in a child."""

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

# Characters that a terminal acts on if they are printed unescaped: control characters except the
# line break, marks of text direction, line and paragraph separators, surrogates.
# Example: the escape in "\x1b[31mred".
UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

_CHILD = """
import resource, sys
from trialrun.cli.main import main
try:
    code = main(sys.argv[2:])
finally:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    try:  # of this program alone: ru_maxrss includes the process it was forked from
        lines = open("/proc/self/status").read().splitlines()
        peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except OSError:
        pass
    open(sys.argv[1], "w").write(str(peak))
sys.exit(code)
"""

# Fast and deterministic: hundreds of examples, no shrinking.
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
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Everything that a user would see."""
        return self.out + self.err

    def expect(self, code: int, *words: str) -> Outcome:
        """Require this exit code and these words, no traceback and no unsafe characters."""
        assert "Traceback" not in self.text, self.text[-3000:]
        assert self.code == code, f"exit {self.code}, expected {code}:\n{self.text[:3000]}"
        for word in words:
            assert word in self.text, f"{word!r} is not in:\n{self.text[:3000]}"
        self.expect_safe()
        return self

    def expect_safe(self) -> Outcome:
        """Require no unsafe characters and no line that GitHub Actions reads as a command."""
        found = UNSAFE.search(self.text)
        assert found is None, f"unsafe {found.group()!r} in {self.text[:3000]!r}"
        forged = [line for line in self.text.splitlines() if line.startswith("::")]
        assert not forged, f"a forged workflow command: {forged[0]!r}"
        return self


@dataclass
class LiveOutcome(Outcome):
    """The outcome of `trialrun run --format json`, and its report."""

    @property
    def report(self) -> dict:
        """Stdout parsed as JSON: one document and nothing else."""
        return json.loads(self.out)

    @property
    def rows(self) -> dict[str, dict]:
        """The results by case name; by `case/agent` if the spec has several agents."""
        return {
            "/".join(filter(None, (row["case"], row["agent"]))): row
            for row in self.report["results"]
        }

    @property
    def statuses(self) -> dict[str, str]:
        """The status of each case."""
        return {name: row["status"] for name, row in self.rows.items()}

    def expect_complete(self, names: Iterable[str]) -> LiveOutcome:
        """Require that every planned case has one status, and that the exit code matches them."""
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
    """A folder with a spec and traces, and methods that run commands on them."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder = folder
        self.mark = secrets.token_hex(8)
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file in the folder."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def spec(self, content: str | bytes) -> None:
        """Write the spec."""
        self.write("spec.yaml", content)

    def case(self, block: str, name: str = "one", query: str = "q") -> None:
        """Write a spec: one case with this block, and a case `good` that a good trace passes."""
        self.spec(
            f"queries:\n  - name: {name}\n    query: {query}\n    {block}\n"
            '  - {name: good, query: fine, correctness: {expected_in_answer: ["yes"]}}\n'
        )

    def traces(self, *records: dict | str | bytes, file: str = "traces.jsonl") -> None:
        """Write JSON lines: dicts are encoded, text and bytes are written unchanged."""
        lines = [json.dumps(r) if isinstance(r, dict) else r for r in records]
        self.write(file, b"\n".join(r.encode() if isinstance(r, str) else r for r in lines) + b"\n")

    def run(self, *arguments: str) -> Outcome:
        """Run a command in this process. An exception that escapes is a traceback on stderr."""
        self._capsys.readouterr()
        code, escaped = self._run_main(arguments)
        printed = self._capsys.readouterr()
        return Outcome(code, printed.out, printed.err + escaped)

    def _run_main(self, arguments: Iterable[str]) -> tuple[int, str]:
        """The exit code of the command, and the traceback of an exception that escaped."""
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
        """Drop the modules imported from the folder, as if each command were a new process."""
        home = str(self.folder)
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", "")).startswith(home):
                del sys.modules[name]
        importlib.invalidate_caches()

    def score(self, *arguments: str) -> Outcome:
        """`trialrun score spec.yaml traces.jsonl`, and further arguments."""
        return self.run("score", "spec.yaml", "traces.jsonl", *arguments)

    def expect_refused(self, content: str | bytes, *words: str) -> Outcome:
        """Require that `validate` and `score` both refuse the spec with these words."""
        self.spec(content)
        found = self.run("validate", "spec.yaml").expect(2, *words)
        assert found.out == ""
        assert all(line.startswith("error: spec.yaml") for line in found.err.splitlines())
        scored = self.run("score", "spec.yaml", "nowhere.jsonl").expect(2, *words)
        assert scored.err == found.err
        return found

    def spawn(self, *arguments: str, **options) -> Outcome:
        """Run a command in a separate process."""
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
        """Run a command in a separate process; also return its peak memory in MiB."""
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
        self,
        agent: dict,
        questions: dict[str, str],
        timeouts: dict[str, float] | None = None,
        **more,
    ) -> list[str]:
        """Write a spec with an agent and cases by name and question, each to be answered `yes`.

        Only some have a timeout: a good case may take long on a busy machine.
        """
        asked = [
            {"name": name, "query": query, "correctness": {"expected_in_answer": ["yes"]}}
            | ({"timeout": timeouts[name]} if timeouts and name in timeouts else {})
            for name, query in questions.items()
        ]
        self.spec(json.dumps({**agent, **more, "queries": asked}))
        return list(questions)

    @contextmanager
    def start(self, *arguments: str, **options) -> Iterator[subprocess.Popen]:
        """Start a command in a process; it and all processes it starts carry our mark."""
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
                process.kill()  # otherwise a failed test would wait for it
                raise

    def live(self, *arguments: str, env: dict[str, str] | None = None) -> LiveOutcome:
        """`trialrun run spec.yaml --format json` in this process; its agents run in others.

        Captures everything written to the descriptors of stdout and stderr, by any process.
        """
        given = ("run", "spec.yaml", "--format", "json", *arguments)
        with self._monkeypatch.context() as patched, _streams() as (out, err):
            for name, value in {**(env or {}), _MARK: self.mark}.items():
                patched.setenv(name, value)
            try:
                code, escaped = self._run_main(given)
            finally:
                patterns._helper._end()  # in a real command it ends with the process
        return LiveOutcome(code, out.text, err.text + escaped)

    def live_process(self, *arguments: str, **options) -> LiveOutcome:
        """The same in a separate process, for tests of signals, limits and streams."""
        given = ("run", "spec.yaml", "--format", "json", *arguments)
        with self.start(*given, **options) as process:
            out, err = process.communicate()
        return LiveOutcome(process.returncode, out.decode(), err.decode())

    def left_running(self, patience: float = 30.0) -> dict[int, str]:
        """The processes with our mark that are still running, by process id.

        Waits for a while: on a busy machine a killed process may take a moment to end.
        """
        deadline = time.monotonic() + patience
        while (found := _marked(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found


class _Stream:
    """Captures what is written to a descriptor."""

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
    """Stdout and stderr as a separate process has them: strict UTF-8, not a terminal."""
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
    """The processes that were started with the mark, without zombies."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{_MARK}={mark}".encode() not in (folder / "environ").read_bytes():
                continue
            if ") Z " not in (folder / "stat").read_text():
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        except (OSError, UnicodeDecodeError):
            continue  # it has ended, or we may not read it
    return found


@pytest.fixture
def bench(tmp_path, monkeypatch, capsys):
    """A new folder; plug-ins imported from it are forgotten after the test."""
    path = list(sys.path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Bench(tmp_path, capsys, monkeypatch)
    yield made
    for process in _marked(made.mark):  # left running by a failed test
        os.kill(process, signal.SIGKILL)
    made.forget_modules()
    sys.path[:] = path
    for folder in (".", str(tmp_path)):  # "." was this folder
        sys.path_importer_cache.pop(folder, None)
