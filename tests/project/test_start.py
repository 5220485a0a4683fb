"""What the commands that are called all day import: nothing that they do not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.watchdog import WALL_SECONDS
from trialrun import Step, Trace
from trialrun.importers.native import write_traces

SPEC = "queries:\n  - query: How long?\n    correctness: {expected_in_answer: [days]}\n"

PROBE = """
import sys
from trialrun.cli.main import main
code = main(sys.argv[1:])
sys.stderr.write("\\n".join(sorted(sys.modules)))
sys.exit(code)
"""

# Each of these costs a tenth of a command, or more.
HEAVY = (
    "asyncio", "rich", "rapidfuzz", "importlib.metadata", "statistics", "xml", "tree_sitter",
    "jsonschema_rs", "genai_prices", "httpx2", "pyarrow", "jinja2", "hashlib", "ssl", "logging",
    "multiprocessing", "subprocess", "tempfile", "random",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text(SPEC)
    steps = [Step.tool_call("search", {"q": "refund"}, "30 days")]
    write_traces([Trace(input="How long?", output="30 days", steps=steps)], tmp_path / "t.jsonl")
    return tmp_path


def imported_by(folder: Path, *arguments: str, code: int = 0) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WALL_SECONDS,
    )
    assert done.returncode == code, done.stderr
    return set(done.stderr.split("\n"))


def heavy(modules: set[str]) -> set[str]:
    return {one for one in modules for name in HEAVY if one == name or one.startswith(f"{name}.")}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["score", "spec.yaml", "t.jsonl"],
        ["score", "spec.yaml", "t.jsonl", "--format", "json"],
        ["verify", "t.jsonl"],
    ],
    ids=" ".join,
)
def test_a_command_imports_nothing_heavy(folder: Path, arguments: list[str]) -> None:
    modules = imported_by(folder, *arguments)
    assert "trialrun.cli.group" in modules
    assert heavy(modules) == set()


def test_listing_runs_imports_no_engine_of_runs(folder: Path) -> None:
    from trialrun.store import open_store

    store = folder / "runs.db"
    open_store(str(store)).close()
    modules = imported_by(folder, "runs", "--store", str(store))
    assert "trialrun.store.store" in modules
    assert heavy(modules) <= {"hashlib"}  # rows have digests
    assert not {"trialrun.engine.live_run", "trialrun.importers", "trialrun.agents.base"} & modules


def test_our_own_traces_are_read_without_the_other_importers(folder: Path) -> None:
    modules = imported_by(folder, "score", "spec.yaml", "t.jsonl")
    package = "trialrun.importers."
    loaded = {one.removeprefix(package) for one in modules if one.startswith(package)}
    assert {name for name in loaded if not name.startswith("_")} == {"base", "native"}


def test_heavy_modules_are_seen(folder: Path) -> None:
    assert "xml.etree.ElementTree" in heavy(
        imported_by(folder, "score", "--format", "junit", "spec.yaml", "t.jsonl")
    )
