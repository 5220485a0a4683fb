"""The command line, run on hostile input: in this process where that will do, else in a child."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

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


class Bench:
    """A folder with a spec and traces in it, and the command that is tried on them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
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


@pytest.fixture
def bench(tmp_path, monkeypatch, capsys):
    """A fresh folder, and nothing left behind of the plug-ins that were imported from it."""
    path = list(sys.path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Bench(tmp_path, capsys)
    yield made
    made.forget_modules()
    sys.path[:] = path
    for folder in (".", str(tmp_path)):  # what was found in "." was found in this folder
        sys.path_importer_cache.pop(folder, None)
