"""These tests start Claude Code, Codex and Gemini CLI, which are large and take seconds each.

`make test-all` installs them into `.venv/programs` and runs the tests with this folder's ini file.
Where npm is missing, or its registry does not answer, the tests are skipped with that reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAMS = HERE.parents[2] / ".venv" / "programs"
OTHERS = ("ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_", "GEMINI_", "GOOGLE_", "TRIALRUN_")


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


@pytest.fixture
def use_server(installed, tmp_path, monkeypatch) -> Callable[[str], Path]:
    """Let the programs know one server only, from a home folder that is new."""

    def use(address: str) -> Path:
        home = tmp_path / "home"
        home.mkdir()
        for name in [name for name in os.environ if name.startswith(OTHERS)]:
            monkeypatch.delenv(name)
        values = {
            "HOME": str(home),
            "PATH": os.pathsep.join([str(installed), os.environ["PATH"]]),
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CODEX_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": address,
            "GEMINI_API_KEY": "x",
            "GEMINI_MODEL": "gemini-2.5-flash",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NO_PROXY": "127.0.0.1",
            "HTTP_PROXY": address,  # it answers CONNECT with 501
            "HTTPS_PROXY": address,
        }
        for name, value in values.items():
            monkeypatch.setenv(name, value)
            if name.endswith("_PROXY"):
                monkeypatch.setenv(name.lower(), value)
        return home

    return use
