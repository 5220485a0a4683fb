"""The examples of CONTRIBUTING.md, installed as a package of their own and used by commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")

SPEC = """\
fixed: it takes 30 days
shout: true
metrics: [failed_calls]
queries:
  - name: how-long
    query: How long?
    correctness: {expected_in_answer: [30 days]}
    path: {max_retries: 0}
"""
USE = """\
import json, sys
from pathlib import Path
from trialrun import registry
from trialrun.cli.main import main

STORE = ["--store", "home://support"]
importer = registry.importers()["chat_log"]()
Path("run.log").write_text(importer.example)
codes = {
    "score": main(["score", "spec.yaml", "run.log", "-o", "score.todo"]),
    "run": main(["run", "spec.yaml", "--format", "checklist", "-o", "run.out", *STORE]),
    "show": main(["show", *STORE]),
    "schema": main(["schema"]),
    "explain": main(["explain", "max_retries"]),
    "metrics": main(["metrics"]),
}
Path("codes.json").write_text(json.dumps(codes))
"""


def modules() -> dict[str, str]:
    """The Python examples that name their file, by that name."""
    blocks = re.findall(r"```python\n# src/trialrun/([\w/]+)/(\w+)\.py\n(.*?)```", TEXT, re.DOTALL)
    return {f"{package.replace('/', '.')}/{name}": code for package, name, code in blocks}


def entry_points() -> str:
    """The entry points of the first TOML example, as an installed package has them."""
    (block, *_) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    groups = tomllib.loads(block)["project"]["entry-points"]
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which commands used the package, and what they printed."""
    folder = tmp_path_factory.mktemp("contributed")
    package = folder / "site" / "my_package"
    package.mkdir(parents=True)
    for name, code in modules().items():
        (package / f"{name.partition('/')[2]}.py").write_text(code, encoding="utf-8")
    information = folder / "site" / "my_package-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: my_package\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(entry_points())
    (folder / "spec.yaml").write_text(SPEC)
    program = f"import sys; sys.path.insert(0, {str(folder / 'site')!r})\n{USE}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert (folder / "codes.json").is_file(), done.stderr
    return folder, done.stdout + done.stderr


def test_there_is_an_example_for_every_kind() -> None:
    kinds = {name.partition("/")[0] for name in modules()}
    assert kinds == {"agents", "checks", "importers", "metrics", "reports", "store.backends"}
    groups = re.findall(r"^\[(?:trialrun\.)([\w.]+)\]$", entry_points(), re.MULTILINE)
    assert set(groups) == kinds


def test_commands_use_what_was_added(used: tuple[Path, str]) -> None:
    folder, printed = used
    codes = json.loads((folder / "codes.json").read_text())
    # The importer's log does not record failures of calls, so the check is unknown: a warning.
    used_commands = ("score", "run", "show", "schema", "explain", "metrics")
    assert codes == dict.fromkeys(used_commands, 0), printed
    assert (folder / "home" / ".trialrun" / "support.db").is_file()
    assert (folder / "score.todo").read_text() == "- [x] how-long\n"
    assert (folder / "run.out").read_text() == "- [x] how-long\n"


def test_schema_help_and_lists_know_what_was_added(used: tuple[Path, str]) -> None:
    _, printed = used
    for expected in ('"max_retries"', '"fixed"', '"shout"', "|failed tool calls| ≤ limit"):
        assert expected in printed
    assert "failed_calls" in printed


def test_the_examples_are_formatted_as_the_project_is(used: tuple[Path, str]) -> None:
    folder, _ = used
    ours = 'lint.isort.known-first-party = ["trialrun"]'
    ruff = [str(Path(sys.executable).parent / "ruff"), "check", "--config", str(PROJECT)]
    command = [*ruff, "--config", ours, "site/my_package"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.process
def test_the_examples_have_sound_types(used: tuple[Path, str]) -> None:
    folder, _ = used
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache")]
    done = subprocess.run(
        [*mypy, "my_package"], cwd=folder / "site", capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout
