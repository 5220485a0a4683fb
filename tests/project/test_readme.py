"""The commands in README and docs print what the pages show."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.watchdog import WALL_SECONDS
from trialrun import load_suite
from trialrun.cli.main import main

ROOT = Path(__file__).parents[2]
README, FILES, JUDGE, RUNS = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in (
        "README.md",
        "docs/files.md",
        "docs/judge.md",
        "docs/runs.md",
    )
)


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def console(command: str, page: str = README) -> str:
    """The block of commands, with what they print, that contains the command."""
    return next(block for block in blocks("console", page) if command in block)


def run_lines(block: str) -> list[int]:
    """Run each line `$ trialrun …  # comment` in this process; the exit codes."""
    return [main(line.partition("  #")[0].split()[2:]) for line in block.splitlines()]


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
    assert capsys.readouterr().err == console("trialrun validate").partition("\n")[2]


def test_the_example_of_an_own_agent_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the model that pydantic-ai has for tests: it calls every tool once."""
    code = next(one for one in blocks("python") if one.startswith("# agent.py"))
    scripted = "from pydantic_ai.models.test import TestModel\nagent.model = TestModel()\n"
    (tmp_path / "agent.py").write_text(f"{code}\n\n{scripted}", encoding="utf-8")
    spec = next(one for one in blocks("yaml") if one.startswith("# trialrun.yaml"))
    (tmp_path / "trialrun.yaml").write_text(spec, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    assert run_lines(console("trialrun run trialrun.yaml")) == [0]
    out = capsys.readouterr().out
    # The path is judged by what was recorded; the model for tests has no price.
    assert "return-period  correctness ✓  path ✓  cost !" in out
    assert "no known price for the model" in out


def test_the_python_example_prints_what_the_readme_shows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[-1]],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=WALL_SECONDS,
    )
    assert done.stdout == blocks("text")[-1]


def test_the_live_run_prints_what_the_docs_show(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    assert run_lines(console("demo --copy", RUNS)) == [0, 1]
    assert capsys.readouterr().out == blocks("text", RUNS)[0]
    assert run_lines(console("compare latest~1", RUNS)) == [1, 0]
    assert "no difference in verdicts: none of 4 cases" in capsys.readouterr().out
    # The same commands in the README: another run, its attempts, its baselines, a comparison.
    assert run_lines(console("compare latest~1")) == [1, 1, 0, 1, 0]


def test_the_examples_of_spec_and_trace_are_valid() -> None:
    from trialrun import EvalCase, Trace
    from trialrun.spec.document import read_document
    from trialrun.spec.validation import Problems

    block = next(one for one in blocks("yaml") if one.startswith("queries:"))
    document = read_document(block.encode(), Problems())
    case = EvalCase.from_dict(document["queries"][0])
    assert case.number_of_checks() == 5
    assert Trace.from_json(blocks("json")[0]).tool_call_sequence == ["search_docs"]


def test_the_recorded_runs_are_judged_as_the_readme_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    assert main(["demo", "--copy", "demo"]) == 0
    assert run_lines(console("-o report.xml")) == [1, 1, 0]
    assert capsys.readouterr().out.startswith(blocks("text")[0])
    assert (tmp_path / "report.xml").read_text(encoding="utf-8").startswith("<?xml")


def test_the_first_spec_and_trace_are_judged_as_the_docs_show(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(blocks("yaml", FILES)[0], encoding="utf-8")
    (tmp_path / "trace.json").write_text(blocks("json", FILES)[0], encoding="utf-8")
    score = ["score", "spec.yaml", "trace.json"]
    assert main(score) == 0
    shown = console("trialrun score spec.yaml", FILES)
    assert capsys.readouterr().out == shown.partition("\n")[2]
    # What README says about warnings: `--strict`, or a severity, makes them fail.
    assert main([*score, "--strict"]) == 1
    (defaults,) = [block for block in blocks("yaml") if block.startswith("defaults:")]
    spec = blocks("yaml", FILES)[0].replace("    cost: {max_cost_usd: 0.0001}\n", "")
    (tmp_path / "spec.yaml").write_text(defaults.replace("0.02", "0.0001") + spec)
    assert main(score) == 1


def test_the_audit_prints_what_the_docs_show(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    monkeypatch.delenv("TRIALRUN_JUDGE_CACHE", raising=False)
    assert run_lines(console("judge audit", JUDGE)) == [0, 1, 1]
    assert capsys.readouterr().out == blocks("text", JUDGE)[0]


def test_the_rubric_of_the_readme_is_read(tmp_path: Path) -> None:
    (block,) = [block for block in blocks("yaml") if "llm_judge" in block]
    (tmp_path / "spec.yaml").write_text(block)
    suite = load_suite(tmp_path / "spec.yaml")
    assert suite.cases[0].number_of_checks() == 2


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))]
)
def test_links_between_pages_lead_to_files(page: str) -> None:
    file = ROOT / page
    links = re.findall(r"\]\(([^)#:]+)\)", file.read_text(encoding="utf-8"))
    assert [link for link in links if not (file.parent / link).exists()] == []


def test_every_command_in_the_pages_exists() -> None:
    from trialrun.cli.group import _COMMANDS

    text = "\n".join([README, FILES, JUDGE, RUNS, (ROOT / "docs/glossary.md").read_text("utf-8")])
    named = set(re.findall(r"(?:\$ |`)trialrun ([a-z]+)", text))
    assert named <= set(_COMMANDS) and len(named) > 15
