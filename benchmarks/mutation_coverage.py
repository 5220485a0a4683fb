"""Record which tests execute which lines of the modules that `benchmarks.mutation` mutates.

`record` runs the test suite of a project under coverage.py. The functions named `pytest_…` are the
other half: pytest loads a copy of this file as a plug-in in each of its worker processes, so that
every line is recorded together with the test that was running. A process that a test starts
inherits the name of the test in `PYTEST_CURRENT_TEST`; the configuration makes that its context.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_PLUGIN = "trialrun_mutation_coverage"
_DURATIONS = "TRIALRUN_MUTATION_DURATIONS"
_FILES = "TRIALRUN_MUTATION_FILES"

_CONFIGURATION = """\
[run]
parallel = true
data_file = {folder}/lines/data
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = no-data-collected,module-not-measured,module-not-imported,dynamic-conflict
include =
    {files}
"""


def record(project: Path, files: dict[str, list[Path]], extra: list[str]) -> dict[str, Any]:
    """Run the tests of a project once; return which of them execute which line of `files`.

    The result has `tests` (id to seconds), `failed` (ids), `digests` (file to SHA-256) and `lines`
    (file to line to indices into `tests`). Files are named relative to the project.
    """
    python = str(project / ".venv/bin/python")
    if subprocess.run([python, "-c", "import coverage, xdist"], capture_output=True).returncode:
        sys.exit(f"coverage is not installed: {project}/.venv/bin/uv pip install coverage")
    sources = [path for paths in files.values() for path in paths]
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        folder = Path(name)
        shutil.copy(__file__, folder / f"{_PLUGIN}.py")
        (folder / "lines").mkdir()
        settings = folder / "coverage.ini"
        included = [str(project / path) for path in sources]
        settings.write_text(_CONFIGURATION.format(folder=folder, files="\n    ".join(included)))
        environment = {
            **os.environ,
            "COVERAGE_PROCESS_START": str(settings),
            "PYTHONPATH": str(folder),
            # Compiled files beside the agents of the tests are not what is examined here.
            "PYTHONDONTWRITEBYTECODE": "1",
            _DURATIONS: str(folder / "durations.json"),
            _FILES: os.pathsep.join(included),
        }
        command = [python, "-m", "pytest", "-p", _PLUGIN, "-p", "no:cacheprovider", "--tb=no"]
        parallel = ["-n", "2", "--dist", "worksteal"]
        subprocess.run([*command, *parallel, *extra], cwd=project, env=environment)
        coverage = [python, "-m", "coverage"]
        options: dict[str, Any] = {"cwd": project, "check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([*coverage, "combine", f"--rcfile={settings}", "--quiet"], **options)
        found = folder / "covered.json"
        subprocess.run(
            [*coverage, "json", f"--rcfile={settings}", "--show-contexts", "-o", str(found)],
            **options,
        )
        ran = json.loads((folder / "durations.json").read_text())
        covered = json.loads(found.read_text())["files"]
    return _summary(project, sources, ran, covered)


def _summary(
    project: Path, sources: list[Path], ran: dict[str, Any], covered: dict[str, Any]
) -> dict[str, Any]:
    index = {test: number for number, test in enumerate(ran["seconds"])}
    contexts = {str(Path(project, name)): found["contexts"] for name, found in covered.items()}
    lines: dict[str, dict[str, list[int]]] = {}
    for path in sources:
        by_line = contexts.get(str(project / path), {})
        # `tests/test_a.py::test_b (call)`: pytest adds the phase for processes that a test starts.
        tests = {
            line: {name.rpartition(" (")[0] if name.endswith(")") else name for name in names}
            for line, names in by_line.items()
        }
        lines[str(path)] = {
            line: sorted(index[name] for name in names if name in index)
            for line, names in tests.items()
        }
    digests = {str(path): digest(project / path) for path in sources}
    return {"tests": ran["seconds"], "failed": ran["failed"], "digests": digests, "lines": lines}


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, by which a record and a source are known to belong together."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


# The plug-in of pytest

_seconds: dict[str, float] = {}
_failed: set[str] = set()
_files = set(os.environ.get(_FILES, "").split(os.pathsep))


def pytest_runtest_logstart(nodeid: str) -> None:
    """A test begins: what is executed from here on belongs to it.

    With a warm cache, the lines of a cached function would belong only to the first test that
    calls it.
    """
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) in _files:
            for value in vars(module).values():
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()
    _switch(nodeid)


def pytest_runtest_logfinish() -> None:
    """A test is over: what is executed between tests belongs to none."""
    _switch("")


def _switch(context: str) -> None:
    from coverage import Coverage

    if "PYTEST_XDIST_WORKER" in os.environ and (running := Coverage.current()):
        running.switch_context(context)


def pytest_runtest_logreport(report: Any) -> None:
    """Add up the seconds of a test, and keep whether it failed."""
    _seconds[report.nodeid] = round(_seconds.get(report.nodeid, 0) + report.duration, 3)
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Save what was recorded: lines by the workers, which may be ended without a clean exit."""
    from coverage import Coverage

    if "PYTEST_XDIST_WORKER" not in os.environ:
        known = {"seconds": _seconds, "failed": sorted(_failed)}
        Path(os.environ[_DURATIONS]).write_text(json.dumps(known))
    elif running := Coverage.current():
        running.stop()
        running.save()
