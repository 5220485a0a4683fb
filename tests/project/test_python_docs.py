"""Every example of docs/python.md and docs/custom.md runs, and prints what the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SUPPORT = """\
queries:
  - name: return-period
    query: How long can I return shoes?
    correctness: {expected_in_answer: [30 days]}
"""


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of each block of the page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```(python|text|yaml)\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", ["docs/python.md", "docs/custom.md"])
def test_the_examples_run_and_print_what_is_shown(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "support.yaml").write_text(SUPPORT)
    names: dict[str, Any] = {}
    shown = 0
    for language, text in blocks(page):
        file = re.match(r"# (\w+\.(?:py|yaml))\n", text)
        if file is not None:
            (tmp_path / file[1]).write_text(text, encoding="utf-8")
        elif language == "python":
            capsys.readouterr()
            exec(compile(text, page, "exec"), names)  # noqa: S102
        elif language == "text":
            assert capsys.readouterr().out == text
            shown += 1
    assert shown >= 2


def test_the_test_of_the_page_passes_in_pytest(tmp_path: Path) -> None:
    (code,) = [text for _, text in blocks("docs/python.md") if text.startswith("# test_support")]
    (tmp_path / "test_support.py").write_text(code)
    (tmp_path / "support.yaml").write_text(SUPPORT)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    (tmp_path / "support.yaml").write_text(SUPPORT.replace("30 days", "9 days"))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert 'not in the answer: "9 days"' in done.stdout
    assert "answer: You can return shoes within 30 days." in done.stdout
