"""Setup, teardown and state: real programs and functions in the case's working folder."""

from __future__ import annotations

import asyncio
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
