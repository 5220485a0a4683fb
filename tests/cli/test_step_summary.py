"""The summary of a step on GitHub Actions, and a run that never fails because of it."""

from __future__ import annotations

import os

import pytest

from trialrun.cli.main import main
from trialrun.cli.step_summary import LARGEST, VARIABLE

SPEC = "queries: [{name: a, query: q, correctness: {exact_match: x}}]"


@pytest.fixture
def summary(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SPEC)
    (tmp_path / "t.json").write_text('{"input": "q", "output": "@octocat ::error::forged"}')
    file = tmp_path / "summary.md"
    monkeypatch.setenv(VARIABLE, str(file))
    return file


def score(*more):
    return main(["score", "s.yaml", "t.json", *more])


def test_annotations_go_to_the_log_and_markdown_to_the_summary(summary, capsys):
    summary.write_text("what an earlier command wrote")
    assert score("--format", "github") == 1
    assert capsys.readouterr().out.startswith("::error title=s%3A a::fail: exact_match fail: ")
    text = summary.read_text()
    assert text.startswith("what an earlier command wrote\n\n## trialrun: 1 case: 1 failed\n")
    assert "`answer: @octocat ::error::forged`" in text
    assert score("--format", "github") == 1
    assert summary.read_text().count("## trialrun") == 2


def test_it_is_written_only_for_that_format_and_only_on_github(summary, monkeypatch):
    assert score() == 1 and not summary.exists()
    monkeypatch.delenv(VARIABLE)
    assert score("--format", "github") == 1 and not summary.exists()


def test_a_shared_summary_has_no_answer(summary):
    assert score("--format", "github", "--share") == 1
    assert "octocat" not in summary.read_text() and "left out" in summary.read_text()


def test_sessions_are_added_too(summary):
    (summary.parent / "s.jsonl").write_text(
        '{"input": "q", "output": "All tests pass.", "steps": [{"type": "tool_call", '
        '"tool_name": "Edit", "tool_args": {"file_path": "a.py", "old_string": "a", '
        '"new_string": "b"}, "tool_result": "ok"}]}'
    )
    assert main(["verify", "s.jsonl", "--format", "github"]) == 0
    assert summary.read_text().startswith("## trialrun verify: ")


@pytest.mark.parametrize("where", ["folder", "missing/folder/s.md", "fifo", "nul", "full"])
def test_a_run_does_not_fail_because_of_it(summary, where, capsys, monkeypatch):
    file = summary.parent / where
    if where == "folder":
        file.mkdir()
    elif where == "fifo":
        os.mkfifo(file)
    elif where == "full":
        file.write_bytes(b"x" * (LARGEST - 10))
    if where != "nul":  # the environment takes none
        monkeypatch.setenv(VARIABLE, str(file))
    else:
        monkeypatch.setattr(
            "trialrun.cli.step_summary.os.environ", {**os.environ, VARIABLE: "a\0b"}
        )
    assert score("--format", "github") == 1
    seen = capsys.readouterr()
    assert "the step summary was not written: GITHUB_STEP_SUMMARY: " in seen.err
    assert seen.out.startswith("::error")
    if where == "full":
        assert file.stat().st_size == LARGEST - 10
