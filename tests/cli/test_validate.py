"""`validate` and `run --dry-run` load what a spec names, and ask no agent."""

from __future__ import annotations

import pytest

from trialrun.cli.main import main

AGENT = """
def run(question):
    open("asked", "w").close()
    return "hello"
"""
CASE = "queries: [{query: q, correctness: {expected_in_answer: [hello]}}]\n"
RUBRIC = "queries: [{query: q, correctness: {llm_judge: [{rule: be kind}]}}]\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loaded_agent.py").write_text(AGENT, encoding="utf-8")
    return tmp_path


COMMANDS = [["validate", "s.yaml"], ["run", "s.yaml", "--dry-run"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_sound_spec_is_loaded_and_no_agent_is_asked(place, command):
    (place / "s.yaml").write_text("runner: loaded_agent:run\n" + CASE, encoding="utf-8")
    assert main(command) == 0
    assert not (place / "asked").exists()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("runner", "words"),
    [
        ("loadd_agent:run", "there is no module 'loadd_agent' (searched in "),
        ("loaded_agent:rnu", "loaded_agent has no 'rnu'"),
    ],
)
def test_a_runner_that_does_not_exist(place, capsys, command, runner, words):
    (place / "s.yaml").write_text(f"runner: {runner}\n" + CASE, encoding="utf-8")
    assert main(command) == 2
    said = capsys.readouterr().err
    assert f"s.yaml:1:9: `{runner}`: {words}" in said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("program", ["no-such-program", "./loaded_agent.py", "bin/agent"])
def test_a_command_that_does_not_exist(place, capsys, command, program):
    (place / "s.yaml").write_text(f"command: [{program}, -x]\n" + CASE, encoding="utf-8")
    assert main(command) == 2
    assert f"s.yaml:1:11: `{program}`: command not found" in capsys.readouterr().err


def test_a_command_beside_the_spec_is_found(place):
    script = place / "agent.sh"
    script.write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
    script.chmod(0o755)
    (place / "s.yaml").write_text("command: [./agent.sh]\n" + CASE, encoding="utf-8")
    assert main(["validate", "s.yaml"]) == 0


@pytest.mark.parametrize("command", [*COMMANDS, ["run", "s.yaml"]])
def test_rubrics_without_a_judge(place, capsys, command):
    (place / "s.yaml").write_text("runner: loaded_agent:run\n" + RUBRIC, encoding="utf-8")
    assert main(command) == 2
    assert "s.yaml: the spec has rubrics and names no judge" in capsys.readouterr().err
    assert not (place / "asked").exists()
