"""What docs/verification.md shows is so."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.watchdog import WALL_SECONDS
from trialrun import load_suite
from trialrun.cli.main import main

HERE = Path(__file__).parents[1]
PAGE = (HERE.parent / "docs" / "verification.md").read_text(encoding="utf-8")


def block(language, number=0):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[number]


def test_the_spec_is_one(tmp_path):
    (tmp_path / "spec.yaml").write_text(block("yaml"))
    (case,) = load_suite(tmp_path / "spec.yaml").cases
    checks = {check.name for layer in case.plan.free for check in layer.checks}
    assert checks == {
        "min_compliance",
        "no_unsupported_claims",
        "no_stale_evidence",
        "tests_after_last_edit",
    }


def test_the_code_runs(tmp_path):
    shutil.copy(
        HERE / "data" / "claude-code" / "read-tool-variants.jsonl", tmp_path / "session.jsonl"
    )
    done = subprocess.run(
        [sys.executable, "-c", block("python")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=WALL_SECONDS,
        check=True,
    )
    assert done.stdout.startswith("True 1.0 []\nnot_checkable ")


def passes(folder, tests, count):
    """Whether pytest, in a process of its own, finds so many tests there and all of them pass."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WALL_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert f"{count} passed" in done.stdout


def test_the_harness_runs_as_it_is_shown(tmp_path):
    (tmp_path / "test_engineer.py").write_text(block("python", 1))
    passes(tmp_path, tmp_path, 1)


def test_the_scenarios_run_by_pytest(tmp_path):
    copied = [sys.executable, "-m", "trialrun", "demo", "--copy", "demo"]
    subprocess.run(copied, cwd=tmp_path, capture_output=True, timeout=WALL_SECONDS, check=True)
    passes(tmp_path, "demo", 16)


@pytest.mark.parametrize(
    "setting", ["tools", "runners", "phrases", "claims", "select", "ignore", "severity"]
)
def test_what_is_explained_of_a_setting_can_be_written(setting, tmp_path, capsys):
    assert main(["explain", setting]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"{setting} is a setting of min_compliance")
    block = textwrap.dedent(told.partition("Example:\n")[2])
    spec = f"queries:\n  - query: do it\n{textwrap.indent(block, ' ' * 4)}"
    (tmp_path / "spec.yaml").write_text(spec)
    assert setting in block and load_suite(tmp_path / "spec.yaml").cases
