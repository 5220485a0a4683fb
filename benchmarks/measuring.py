"""Runs workers and other tools in turn, and takes medians, for every section of `make bench`."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
WORKERS = HERE / "workers"
ENVIRONMENTS = HERE / ".envs"
PYTHON = Path(sys.executable)

# With bytecode, as in every start of a user except the first.
CLEAN = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def peer(name: str) -> Path:
    """The Python of an environment that contains only this tool."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", name], check=True, env=CLEAN)
        (folder / ".ready").touch()
    return python


def peer_version(name: str) -> str:
    program = f"from importlib.metadata import version; print(version({name!r}))"
    done = subprocess.run([peer(name), "-c", program], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def worker(python: Path, script: str, *arguments: str) -> dict:
    command = [str(python), str(WORKERS / script), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=CLEAN)
    return json.loads(done.stdout)


def interleaved(contestants: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each contestant; every round measures all of them in turn."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds):
        print(f"  round {number + 1} of {rounds}", file=sys.stderr)
        for name, ask in contestants.items():
            found[name].append(ask())
    return {name: statistics.median(values) for name, values in found.items()}


def cpu_of(command: list[str], folder: Path | None = None) -> float:
    """Milliseconds of CPU of a command and of all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=CLEAN, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent * 1000


def verdict(value: float, bar: float, at_least: bool) -> str:
    met = value >= bar if at_least else value <= bar
    return "met" if met else "**missed**"
