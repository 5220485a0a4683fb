"""What the README shows is what the commands print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.watchdog import WALL_SECONDS
from trialrun import load_suite
from trialrun.cli.main import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_demo_prints_what_the_readme_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert main(["demo"]) == 0
    assert capsys.readouterr().out == blocks("text")[0]


def test_the_mistakes_are_answered_as_the_readme_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["init"])
    spec = tmp_path / "trialrun.yaml"
    text = spec.read_text().replace("expected_tools: [search", "expected_tool: [search")
    spec.write_text(text.replace("max_llm_calls: 5", "max_llm_calls: five"))
    capsys.readouterr()
    assert main(["validate", "trialrun.yaml"]) == 2
    shown = next(block for block in blocks("console") if "trialrun validate" in block)
    assert capsys.readouterr().err == shown.partition("\n")[2]


def test_the_python_example_prints_what_the_readme_shows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[0]],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=WALL_SECONDS,
    )
    assert done.stdout == blocks("text")[-1]


def test_the_live_run_prints_what_the_readme_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    shown = next(block for block in blocks("console") if "demo --copy" in block)
    codes = [main(line.split()[2:]) for line in shown.splitlines()]
    assert codes == [0, 1]
    assert capsys.readouterr().out == blocks("text")[1]
    again = next(block for block in blocks("console") if "compare latest~1" in block)
    assert [main(line.split()[2:]) for line in again.splitlines()] == [1, 0]
    assert "no difference in verdicts: none of 4 cases" in capsys.readouterr().out


def test_the_examples_of_spec_and_trace_are_valid() -> None:
    from trialrun import EvalCase, Trace
    from trialrun.spec.document import read_document
    from trialrun.spec.validation import Problems

    document = read_document(blocks("yaml")[0].encode(), Problems())
    case = EvalCase.from_dict(document["queries"][0])
    assert case.number_of_checks() == 5
    assert Trace.from_json(blocks("json")[0]).tool_call_sequence == ["search_docs"]


def test_the_audit_prints_what_the_readme_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    monkeypatch.delenv("TRIALRUN_JUDGE_CACHE", raising=False)
    main(["demo", "--copy", "demo"])
    shown = next(block for block in blocks("console") if "judge audit" in block)
    capsys.readouterr()
    codes = [main(line.split()[2:]) for line in shown.splitlines()]
    assert codes == [1, 1]
    expected = next(block for block in blocks("text") if "unreliable" in block)
    assert capsys.readouterr().out == expected


def test_the_rubric_of_the_readme_is_read(tmp_path: Path) -> None:
    (block,) = [block for block in blocks("yaml") if "llm_judge" in block]
    (tmp_path / "spec.yaml").write_text(block)
    suite = load_suite(tmp_path / "spec.yaml")
    assert suite.cases[0].number_of_checks() == 2


@pytest.mark.parametrize(
    "path", ["demo/non-compliant.jsonl", "tests/data/claude-code/edit-tool-variants.jsonl"]
)
def test_the_ledger_prints_what_the_readme_shows(
    path: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Path(__file__).parents[2]
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--copy", "demo"]) == 0
    capsys.readouterr()
    assert main(["verify", str(here / path) if path.startswith("tests") else path]) == 0
    shown = next(block for block in blocks("console") if f"trialrun verify {path}" in block)
    assert capsys.readouterr().out == shown.partition("\n")[2]
