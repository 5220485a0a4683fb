"""Count the small faults in ten modules that the tests notice, to compare two versions.

    .venv/bin/uv pip install coverage
    .venv/bin/python -m benchmarks.mutation record --to record.json
    .venv/bin/python -m benchmarks.mutation locate
    .venv/bin/python -m benchmarks.mutation run --record record.json --to after.jsonl \\
        --scratch /tmp/copies
    .venv/bin/python -m benchmarks.mutation report before.jsonl after.jsonl

`record` runs the whole suite once and notes which tests execute which lines. `run` applies the
mutants of `mutants.json` one after the other to a copy of the project, and runs the tests that
execute the mutated lines until one fails. A mutant is *dead* when a test fails with it, fails
again, and passes without it, or when the tests do not end. After an interruption, `run` continues
where it was.

The mutants were chosen once (`choose`) and are kept as text. When code moves to another file, name
the file in `mutation_modules.toml`. When a mutated line itself was edited, `locate` prints an entry
for that file with the line that is most like it; read it before adding it. `--project` names
another checkout, with its environment (`make .venv/.dev`). Arguments after `--` go to pytest.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import mutants, mutation_coverage
from benchmarks.mutants import Mutant, Place

_HERE = Path(__file__).parent
_MUTANTS = _HERE / "mutants.json"
_MODULES = _HERE / "mutation_modules.toml"
_FIRST = 60
"""Of more tests than this, a few of every file are run before all the others."""


class Project:
    """A checkout, and the files that have the code of the mutated modules in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        settings = tomllib.loads(_MODULES.read_text())
        self.files = {
            module: [Path(path) for path in paths if (self.folder / path).is_file()]
            for module, paths in settings["modules"].items()
        }
        self._edited: dict[str, dict[str, Any]] = settings.get("edited", {})
        if missing := [module for module, paths in self.files.items() if not paths]:
            sys.exit(f"{_MODULES.name} names no file that exists for: {', '.join(missing)}")

    def mutants(self) -> list[Mutant]:
        """The mutants that were chosen."""
        return [Mutant(**row) for row in json.loads(_MUTANTS.read_text())["mutants"]]

    def locate(self, mutant: Mutant) -> Place | None:
        """Where a mutant is in this checkout, which may be one from before its line was edited."""
        edited = dataclasses.replace(mutant, **self._edited.get(str(mutant.number), {}))
        paths = self.paths(mutant)
        return mutants.locate(edited, paths) or mutants.locate(mutant, paths)

    def paths(self, mutant: Mutant) -> list[Path]:
        """The files to look for a mutant in."""
        return [self.folder / path for path in self.files[mutant.module]]


class Record:
    """Which tests execute which lines, and how long they take."""

    def __init__(self, path: Path, project: Project) -> None:
        known = json.loads(path.read_text())
        self.seconds: dict[str, float] = known["tests"]
        self._names = list(self.seconds)
        self._lines: dict[str, dict[str, list[int]]] = known["lines"]
        for name, digest in known["digests"].items():
            if mutation_coverage.digest(project.folder / name) != digest:
                sys.exit(f"{name} was edited since {path} was recorded: record again")

    def tests_of(self, path: Path, lines: range) -> list[str]:
        """The tests that execute one of these lines, quickest first."""
        by_line = self._lines[str(path)]
        found = {number for line in lines for number in by_line.get(str(line), [])}
        return sorted((self._names[number] for number in found), key=self.seconds.__getitem__)


def stages(tests: list[str]) -> list[list[str]]:
    """Split tests, quickest first, into those to run at first and the rest."""
    if len(tests) <= _FIRST:
        return [tests] if tests else []
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_file[test.partition("::")[0]].append(test)
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*by_file.values()))
    first = set(itertools.islice((test for test in in_turn if test), _FIRST))
    return [
        [test for test in tests if test in first],
        [test for test in tests if test not in first],
    ]


@dataclasses.dataclass
class Outcome:
    """How a run of pytest ended: the tests that failed, if it could say which."""

    passed: bool
    failed: list[str]
    timed_out: bool = False


class Copy:
    """A copy of the project with its own environment, in which one mutant at a time is tried."""

    def __init__(self, project: Project, folder: Path, extra: list[str]) -> None:
        self.folder = folder.resolve()
        self._extra = extra
        self._ages = itertools.count(10)
        if not folder.exists():
            unwanted = shutil.ignore_patterns(".venv", "__pycache__", ".*_cache", ".hypothesis")
            shutil.copytree(project.folder, folder, ignore=unwanted, symlinks=True)
        for path in itertools.chain(*project.files.values()):
            # A run that was killed may have left a mutant.
            shutil.copy2(project.folder / path, folder / path)
        quiet: dict[str, Any] = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
        subprocess.run(["make", ".venv/.dev"], **quiet)
        # Compile everything now: no compiled file is written while mutants are tried.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
        for command in (["compileall", "-q", "src"], ["pytest", "--collect-only", "-q", *extra]):
            subprocess.run([".venv/bin/python", "-m", *command], env=environment, **quiet)
        self.project = Project(folder)

    def try_mutant(self, place: Place, tests: list[str], seconds: float) -> Outcome:
        """Run tests with a mutant in place.

        Each has its own time of change, so that Python never takes the compiled file of another.
        """
        original, times = place.path.read_text(), place.path.stat()
        try:
            place.path.write_text(place.source)
            os.utime(place.path, (times.st_atime, times.st_mtime + next(self._ages)))
            return self.test(tests, seconds)
        finally:
            place.path.write_text(original)
            os.utime(place.path, (times.st_atime, times.st_mtime))

    def test(self, tests: list[str], seconds: float) -> Outcome:
        """Run tests until one fails, for at most five times as long as they took."""
        with tempfile.TemporaryDirectory(prefix="mutation-") as name:
            chosen, output = Path(name, "tests"), Path(name, "output")
            chosen.write_text("\n".join(tests))
            command = [
                *(".venv/bin/python", "-m", "pytest", "-x", "-q", "-rfE", "--tb=no", "--color=no"),
                *("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist"),
                *("--hypothesis-seed=0", *self._extra, f"@{chosen}"),
            ]
            environment = {
                **os.environ,
                "PYTHONDONTWRITEBYTECODE": "1",
                "HYPOTHESIS_STORAGE_DIRECTORY": name,
            }
            with output.open("wb") as stream:
                process = subprocess.Popen(
                    command,
                    cwd=self.folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    start_new_session=True,
                )
                try:
                    code = process.wait(timeout=120 + 5 * seconds)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    return Outcome(passed=False, failed=[], timed_out=True)
            printed = output.read_text(errors="replace")
        return Outcome(passed=code == 0, failed=_failures(printed, tests))


def _failures(output: str, tests: list[str]) -> list[str]:
    """The tests that pytest's summary names: `FAILED tests/test_a.py::test_b - AssertionError`."""
    named = [
        line.partition(" ")[2]
        for line in output.splitlines()
        if line.startswith(("FAILED ", "ERROR "))
    ]
    return [test for test in tests if any(f"{line} - ".startswith(f"{test} - ") for line in named)]


class Trial:
    """Decides for one mutant after the other whether it is dead."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._sound: dict[str, bool] = {}

    def judge(self, copy: Copy, mutant: Mutant) -> dict[str, Any]:
        """The row of the results for a mutant."""
        began = time.monotonic()
        row = {"number": mutant.number, "module": mutant.module, "verdict": "not found", "tests": 0}
        place = copy.project.locate(mutant)
        if place is not None:
            tests = self._record.tests_of(place.path.relative_to(copy.folder), place.lines)
            row["tests"] = len(tests)
            row["verdict"] = "survived" if tests else "not covered"
            for stage in stages(tests):
                if killer := self._killer(copy, place, stage):
                    row |= {"verdict": "dead", "by": killer}
                    break
        return row | {"seconds": round(time.monotonic() - began, 1)}

    def _killer(self, copy: Copy, place: Place, tests: list[str]) -> str | None:
        """The test that fails because of the mutant, and not without it as well."""
        left = [test for test in tests if self._sound.get(test, True)]
        while left:
            outcome = copy.try_mutant(place, left, self._time(left))
            if outcome.passed:
                return None
            if not outcome.failed:
                # A hang, a crash, or an import that fails.
                return "timeout" if outcome.timed_out else self._break(copy, left)
            (test,) = outcome.failed[:1]
            if (
                self._is_sound(copy, test)
                and not copy.try_mutant(place, [test], self._time([test])).passed
            ):
                return test
            left.remove(test)
        return None

    def _break(self, copy: Copy, tests: list[str]) -> str:
        """pytest ended without naming a test. The mutant is the cause if it works without."""
        if not any(self._is_sound(copy, test) for test in tests[:5]):
            raise RuntimeError(f"pytest does not work in {copy.folder}: {tests[:5]}")
        return "no test could be run"

    def _is_sound(self, copy: Copy, test: str) -> bool:
        """Whether a test passes without any mutant."""
        if test not in self._sound:
            self._sound[test] = copy.test([test], self._time([test])).passed
        return self._sound[test]

    def _time(self, tests: list[str]) -> float:
        return sum(self._record.seconds[test] for test in tests)


def record(options: argparse.Namespace) -> None:
    """Run the suite of the project, and write which tests execute which lines."""
    project = Project(options.project)
    found = mutation_coverage.record(project.folder, project.files, options.pytest)
    options.to.write_text(json.dumps(found))
    print(f"{len(found['tests'])} tests, {len(found['failed'])} failed: {found['failed']}")


def choose(options: argparse.Namespace) -> None:
    """Write a new list of mutants."""
    project = Project(options.project)
    sources = {
        name: (project.folder / paths[0]).read_text() for name, paths in project.files.items()
    }
    chosen = mutants.choose(sources, options.count, options.seed)
    rows = ",\n  ".join(json.dumps(dataclasses.asdict(one), ensure_ascii=False) for one in chosen)
    _MUTANTS.write_text(f'{{"seed": {options.seed}, "mutants": [\n  {rows}\n]}}\n')
    print(f"{len(chosen)} mutants in {_MUTANTS}: {dict(Counter(one.operator for one in chosen))}")


def locate(options: argparse.Namespace) -> None:
    """List the mutants whose lines are not there any more, each with the line most like it."""
    project = Project(options.project)
    missing = [one for one in project.mutants() if project.locate(one) is None]
    for mutant in missing:
        print(f"\n# {mutant.module} {mutant.function}: {mutant.old!r} becomes {mutant.new!r}")
        if other := mutants.closest(mutant, project.paths(mutant)):
            print(f"[edited.{mutant.number}]")
            for field in ("function", "old", "new", "occurrence"):
                print(f"{field} = {json.dumps(getattr(other, field), ensure_ascii=False)}")
    print(f"\n# {len(missing)} mutants are not found.")


def run(options: argparse.Namespace) -> None:
    """Try every mutant that has no row in the results yet."""
    project = Project(options.project)
    if project.folder in options.scratch.resolve().parents:
        sys.exit("--scratch cannot be inside the project, which is copied there")
    trial = Trial(Record(options.record, project))
    options.to.touch()
    judged = {row["number"] for row in _rows(options.to)}
    left = [mutant for mutant in project.mutants() if mutant.number not in judged]
    copies: queue.Queue[Copy] = queue.Queue()
    for number in range(options.jobs):
        copies.put(Copy(project, options.scratch / str(number), options.pytest))
    writing = threading.Lock()

    def try_one(mutant: Mutant) -> None:
        copy = copies.get()
        try:
            row = trial.judge(copy, mutant)
        finally:
            copies.put(copy)
        with writing, options.to.open("a") as results:
            print(json.dumps(row), file=results)
            print(
                f"{mutant.number:3} {row['verdict']:11} {row['seconds']:6} s  {row.get('by', '')}"
            )

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(try_one, left))
    _print_table(_rows(options.to))


def report(options: argparse.Namespace) -> None:
    """Print the verdicts by module, and what differs between two results."""
    for path in options.results:
        print(path)
        _print_table(_rows(path))
    if len(options.results) == 2:
        before, after = ({row["number"]: row for row in _rows(path)} for path in options.results)
        listed = {one.number: one for one in Project(options.project).mutants()}
        for number in sorted(before.keys() & after.keys()):
            was, now = before[number]["verdict"], after[number]["verdict"]
            if was != now:
                mutant = listed[number]
                print(f"{number:3} {was} -> {now}: {mutant.module} {mutant.function}")
                print(f"      {mutant.old!r} -> {mutant.new!r}")


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _print_table(rows: list[dict[str, Any]]) -> None:
    verdicts = ("dead", "survived", "not covered", "not found")
    counts = Counter((row["module"], row["verdict"]) for row in rows)
    counts += Counter(("all", row["verdict"]) for row in rows)
    print(f"{'module':22}" + "".join(f"{verdict:>13}" for verdict in verdicts))
    for module in [*dict.fromkeys(row["module"] for row in sorted(rows, key=_number)), "all"]:
        print(f"{module:22}" + "".join(f"{counts[module, verdict]:13}" for verdict in verdicts))


def _number(row: dict[str, Any]) -> int:
    return int(row["number"])


def main() -> None:
    """Run one of the commands, with low priority."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    for function in (record, choose, locate, run, report):
        command = commands.add_parser(function.__name__, help=function.__doc__)
        command.set_defaults(function=function)
        command.add_argument("--project", type=Path, default=_HERE.parent)
        if function in (record, run):
            command.add_argument("--to", type=Path, required=True, help="the file to write")
            command.add_argument("pytest", nargs="*", help="arguments of pytest, after --")
        if function is choose:
            command.add_argument("--count", type=int, default=150)
            command.add_argument("--seed", type=int, default=14)
        if function is run:
            command.add_argument("--record", type=Path, required=True)
            command.add_argument("--jobs", type=int, default=2)
            command.add_argument("--scratch", type=Path, required=True, help="folder for copies")
        if function is report:
            command.add_argument("results", type=Path, nargs="+")
    options = parser.parse_args()
    os.nice(10)
    options.function(options)


if __name__ == "__main__":
    main()
