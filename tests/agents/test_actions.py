"""Setup, teardown and state: real programs and functions in the case's working folder."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from trialrun.agents.running.actions import Actions
from trialrun.model.case import Action

FUNCTIONS = """
import os, time
def ready(folder): (folder / "made").write_text("by a function")
def held(folder): return (folder / "made").exists()
def reason(folder): return "the order is still open"
def nothing(folder): pass
def broken(folder): return False
def asserts(folder): assert 1 == 2, "one is not two"
def crashes(folder): raise OSError("gone")
def dies(folder): os._exit(1)
def hangs(folder): time.sleep(300)
def answered(folder, answer): return answer == "42"
def bare(): return os.path.exists("made")
async def later(folder): return True
def number(folder): return 1
"""


@pytest.fixture
def world(tmp_path, reaper):
    """Runs actions in a new folder, then inspects conditions."""
    (tmp_path / "world.py").write_text(FUNCTIONS)

    def run(perform=(), inspect=(), limit=20.0, answer="42"):
        async def steps():
            actions = Actions(str(tmp_path), reaper)
            folder = actions.new_folder()
            try:
                problems = [await actions.perform(action, folder, limit) for action in perform]
                return problems, await actions.inspect(inspect, folder, limit, answer)
            finally:
                await actions.close()
                actions.remove_folder(folder)
                assert not Path(folder).exists()

        return asyncio.run(steps())

    return run


def function(name):
    return Action(function=f"world:{name}")


def test_commands_and_functions_prepare_the_folder(world, tmp_path):
    (tmp_path / "prepare.sh").write_text("echo hello > prepared\n")
    problems, found = world(
        [function("ready"), Action(command=["sh", "prepare.sh"])],
        [
            Action(command=["test", "-f", "made"]),
            Action(command=["grep", "-q", "hello", "prepared"]),
        ],
    )
    assert problems == [None, None]
    assert [fact["outcome"] for fact in found.values()] == ["held", "held"]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Action(command=["sh", "-c", "echo why >&2; exit 3"]), "exit 3: why"),
        (Action(command=["surely-not-there"]), "was not found"),
        (Action(command=["sleep", "300"]), "not finished after 1 s"),
        (Action(function="world:crashes"), "OSError: gone"),
        (Action(function="world:missing"), "world has no 'missing'"),
        (Action(function="world:hangs"), "not finished after 1 s"),
        (Action(function="world:dies"), "exit 1"),
    ],
)
def test_a_failed_setup_has_a_reason(world, action, message):
    ([problem], _) = world([action], limit=1.0)
    assert message in problem


@pytest.mark.parametrize(
    ("name", "outcome", "detail"),
    [
        ("held", "broken", "it returned False"),
        ("reason", "broken", "the order is still open"),
        ("broken", "broken", "it returned False"),
        ("asserts", "broken", "AssertionError: one is not two"),
        ("nothing", "unknown", "it returned None"),
        ("crashes", "unknown", "OSError: gone"),
        ("dies", "unknown", "exit 1"),
        ("hangs", "unknown", "not finished after 1 s"),
        ("missing", "unknown", "has no 'missing'"),
        ("answered", "held", "it returned True"),
        ("bare", "broken", "it returned False"),
        ("later", "held", "it returned True"),
        ("number", "broken", "1"),
    ],
)
def test_the_outcome_of_a_function(world, name, outcome, detail):
    _, found = world([], [function(name)], limit=1.0)
    fact = found[f"world:{name}"]
    assert fact["outcome"] == outcome
    assert detail in fact["detail"]


def test_a_command_must_exit_with_0(world):
    failing = Action(command=["sh", "-c", "echo two failed; exit 1"])
    _, found = world([], [Action(command=["true"]), failing, Action(command=["not-there"])])
    assert [fact["outcome"] for fact in found.values()] == ["held", "broken", "unknown"]
    assert found[failing.name]["detail"] == "exit 1; it printed: two failed"


def test_a_condition_does_not_import_what_the_agent_left_in_its_folder(world, tmp_path):
    (tmp_path / "helper.py").write_text("wanted = 3\n")
    (tmp_path / "check.py").write_text("import json, sys, helper; sys.exit(helper.wanted)\n")
    left = "import os; os._exit(0)"
    leaves = Action(
        command=["sh", "-c", f"for f in json helper mine; do echo '{left}' > $f.py; done"]
    )
    wanted = {
        "code": [sys.executable, "-c", "import json, sys; sys.exit(3)"],
        "module": [sys.executable, "-m", "mine"],
        "script": [sys.executable, "check.py"],
    }
    conditions = [Action(name=name, command=command) for name, command in wanted.items()]
    _, found = world([leaves], conditions)
    assert {name: outcome["outcome"] for name, outcome in found.items()} == {
        "code": "broken", "module": "broken", "script": "broken",
    }  # fmt: skip
    assert found["script"]["detail"].startswith("exit 3")


def test_assert_decides_under_pythonoptimize_too(world, monkeypatch):
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    command = Action(name="command", command=[sys.executable, "-c", "assert False"])
    _, found = world([], [function("asserts"), command])
    assert [outcome["outcome"] for outcome in found.values()] == ["broken", "broken"]
