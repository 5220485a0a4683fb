"""What docs/verification.md shows is so."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from trialrun import load_suite

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
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("True 1.0 []\nverified ")


def test_the_harness_runs_as_it_is_shown(tmp_path):
    (tmp_path / "test_engineer.py").write_text(block("python", 1))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_the_scenarios_run_by_pytest(tmp_path):
    copied = [sys.executable, "-m", "trialrun", "demo", "--copy", "demo"]
    subprocess.run(copied, cwd=tmp_path, capture_output=True, timeout=60, check=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "16 passed" in done.stdout
