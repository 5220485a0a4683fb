"""Count the instructions of the core on a fixed input, and compare them with the recorded counts.

`make bench-instructions` fails where a count grew by more than 5%; it compares only where Python,
the libraries and the machine's architecture are those of the recording. `--record` writes
INSTRUCTIONS.json again. The counts are of one trace of 20 steps and of one priced call: the
difference between many and few repeats, so that imports do not count. Needs valgrind.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = HERE / "INSTRUCTIONS.json"
LIBRARIES = ("msgspec", "rapidfuzz", "genai-prices")
MOST = 1.05
FEW, MANY = 50, 250

# Of the core: what is measured, and how often it is done in one repeat.
TASKS = {
    "read": ("read",),
    "read and judge, passing": ("read+judge",),
    "read and judge, failing": ("read+judge", "failing"),
    "read, failing": ("read", "failing"),
    "price a call": ("price",),
}
_COUNT = re.compile(r"I\s+refs:\s+([\d,]+)")  # "==12== I   refs:      1,234,567"


def versions() -> dict[str, str]:
    """What counts depend on; they are compared only where all of it is equal."""
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in LIBRARIES},
    }


def counted(task: tuple[str, ...], repeats: int) -> int:
    """The instructions of a process that does the task so many times."""
    name, *more = task
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                "valgrind", "--tool=cachegrind", "--cache-sim=no",
                f"--cachegrind-out-file={folder}/out", sys.executable,
                str(HERE / "workers" / "core_trialrun.py"), name, str(repeats), *more,
            ],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )  # fmt: skip
    found = _COUNT.search(done.stderr)
    assert found is not None, done.stderr
    return int(found[1].replace(",", ""))


def counts() -> dict[str, int]:
    """The instructions of one trace, or of one call, by what is done."""
    found = {}
    counted(("price",), 1)  # the first time, modules may be compiled
    for name, task in TASKS.items():
        print(f"  {name}", file=sys.stderr)
        found[name] = (counted(task, MANY) - counted(task, FEW)) // (MANY - FEW)
    for outcome in ("passing", "failing"):
        read = found.pop("read, failing") if outcome == "failing" else found["read"]
        found[f"judge, {outcome}"] = found.pop(f"read and judge, {outcome}") - read
    return found


def compared(recorded: dict[str, int], found: dict[str, int]) -> list[str]:
    """A line for each count; those that grew too much begin with `MORE`."""
    lines = []
    for name, count in found.items():
        before = recorded.get(name)
        if before is None:
            lines.append(f"new   {name}: {count:,}")
            continue
        word = "MORE " if count > before * MOST else "ok   "
        lines.append(f"{word} {name}: {count:,}, recorded {before:,} ({count / before - 1:+.1%})")
    return lines


def main(arguments: list[str]) -> int:
    if shutil.which("valgrind") is None:
        print("instructions are not counted: valgrind is not installed (`apt install valgrind`)")
        return 0
    if arguments == ["--record"]:
        document = {"versions": versions(), "instructions": counts()}
        RECORDED.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        print(RECORDED.read_text(encoding="utf-8"))
        return 0
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    if recorded["versions"] != versions():
        print(f"not compared: recorded with {recorded['versions']}, here is {versions()}")
        return 0
    lines = compared(recorded["instructions"], counts())
    print("\n".join(lines))
    return int(any(line.startswith("MORE") for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
