"""These tests start Claude Code, Codex and Gemini CLI, which are large and take seconds each.

`make test-all` installs them into `.venv/programs` and runs the tests with this folder's ini file.
Where npm is missing, or its registry does not answer, the tests are skipped with that reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAMS = HERE.parents[2] / ".venv" / "programs"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests out of `make test`, even where the programs are installed."""
    is_ours = config.inipath is not None and config.inipath.parent == HERE
    return None if is_ours else True


@pytest.fixture(scope="session")
def installed() -> Path:
    """The folder of the programs."""
    if not (PROGRAMS / ".ready").exists():
        failed = PROGRAMS / ".missing"
        why = failed.read_text(encoding="utf-8").strip() if failed.exists() else "not installed"
        pytest.skip(f"{why}; `make .venv/programs/.ready` installs the programs")
    return PROGRAMS / "node_modules" / ".bin"
