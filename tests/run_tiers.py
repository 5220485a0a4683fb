"""Run the tests in two tiers: `quick` is `make test`, `quick rest` is `make test-all`.

Every step runs, whether or not one before it failed; all failures are listed at the end, with the
CPU seconds of all processes that were started and the wall time.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
DEEPEVAL = ROOT / ".venv" / "deepeval"
FRAMEWORKS = ROOT / ".venv" / "frameworks"
CREWS = ROOT / ".venv" / "crews"
PROGRAMS = ROOT / ".venv" / "programs"
CHECKED = ("src", "tests", "benchmarks", "docs")
# One test of each of these kinds is not marked, and so runs in the quick tier.
MARKED = "process or postgres or provider or drill or deepeval or model or slow"
PYTEST = (str(BIN / "pytest"), "-n", "2", "--dist", "worksteal")

TIERS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "quick": [
        ("ruff check", (str(BIN / "ruff"), "check", *CHECKED)),
        ("ruff format", (str(BIN / "ruff"), "format", "--check", *CHECKED)),
        ("mypy", (str(BIN / "mypy"),)),
        ("pytest", (*PYTEST, "-m", f"not ({MARKED} or browser)")),
    ],
    "rest": [
        ("pytest, marked tests", (*PYTEST, "-m", MARKED)),
        ("Chromium", ("make", "--silent", "chromium")),
        # Playwright leaves an event loop in its process, in which other tests cannot start theirs.
        ("pytest, browser", (str(BIN / "pytest"), "-n", "2", "-m", "browser", "tests/browser")),
        (
            "DeepEval's environment",
            ("make", "--silent", str(DEEPEVAL.relative_to(ROOT) / ".ready")),
        ),
        (
            "pytest, DeepEval",
            (
                str(DEEPEVAL / "bin" / "pytest"),
                "-c",
                "tests/integrations/deepeval/pytest.ini",
                "tests/integrations/deepeval",
            ),
        ),
        (
            "environment of frameworks",
            ("make", "--silent", str(FRAMEWORKS.relative_to(ROOT) / ".ready")),
        ),
        (
            "pytest, frameworks",
            (
                str(FRAMEWORKS / "bin" / "pytest"),
                "-c",
                "tests/integrations/frameworks/pytest.ini",
                "tests/integrations/frameworks",
            ),
        ),
        (
            "environment of crews",
            ("make", "--silent", str(CREWS.relative_to(ROOT) / ".ready")),
        ),
        (
            "pytest, crews",
            (
                str(CREWS / "bin" / "pytest"),
                "-c",
                "tests/integrations/frameworks/pytest.ini",
                "tests/integrations/frameworks",
            ),
        ),
        (
            "environment of programs",
            ("make", "--silent", str(PROGRAMS.relative_to(ROOT) / ".ready")),
        ),
        (
            "pytest, programs",
            (
                str(BIN / "pytest"),
                "-c",
                "tests/integrations/programs/pytest.ini",
                "tests/integrations/programs",
            ),
        ),
    ],
}
# A line of pytest's summary: `FAILED tests/a.py::test_b - AssertionError`.
_FAILURE = re.compile(rb"^(?:FAILED|ERROR) \S.*$", re.MULTILINE)


@dataclass
class Done:
    """How a step ended, and the time that it took."""

    name: str
    code: int
    cpu: float
    wall: float
    failures: list[str] = field(default_factory=list)


def main(tiers: Sequence[str]) -> int:
    """Run the steps of these tiers; 1 if any failed."""
    done = [step(name, command) for tier in tiers for name, command in TIERS[tier]]
    _say("")
    for one in done:
        outcome = "ok" if one.code == 0 else f"FAILED (exit {one.code})"
        _say(f"{one.name:24} {one.cpu:7.1f} CPU s {one.wall:7.1f} s  {outcome}")
    failed = [one for one in done if one.code]
    for one in failed:
        for failure in one.failures:
            _say(f"{one.name}: {failure}")
    total = sum(one.cpu for one in done), sum(one.wall for one in done)
    verdict = f"{len(failed)} of {len(done)} steps failed" if failed else "all steps passed"
    _say(f"{'in all':24} {total[0]:7.1f} CPU s {total[1]:7.1f} s  {verdict}")
    return 1 if failed else 0


def step(name: str, command: Sequence[str]) -> Done:
    """Run one command, showing its output as it is written."""
    _say(f"\n== {name}: {' '.join(command[1:])}")
    cpu, wall, said = _cpu_seconds(), time.monotonic(), b""
    try:
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            assert process.stdout is not None
            while chunk := os.read(process.stdout.fileno(), 65536):
                sys.stdout.buffer.write(chunk)
                sys.stdout.flush()
                said += chunk
        code = process.returncode
    except OSError as error:
        _say(f"cannot be started: {error}")
        code = 127
    failures = [line.decode(errors="replace") for line in _FAILURE.findall(said)]
    return Done(name, code, _cpu_seconds() - cpu, time.monotonic() - wall, failures)


def _cpu_seconds() -> float:
    """CPU seconds of all child processes that have ended, and of their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["quick"]))
