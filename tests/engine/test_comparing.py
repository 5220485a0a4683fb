"""`compare` and `baseline diff` on recorded runs: changed behaviour and loosened specs."""

from __future__ import annotations

import json

import pytest

from tests.engine.conftest import says

AGENT = """
from trialrun import Step, Trace

def run(question):
    steps = [Step.tool_call("find", {{"order": "12"}}, "sent"),
             Step.tool_call("refund", {{"order": "12", "amount": {amount}}}, "done")]
    return Trace(input=question, output=question, steps=steps)
"""
PATH = {"expected_tools": ["find"], "max_tool_calls": 3}


@pytest.fixture
def shop(project):
    """A project whose agent refunds 20."""
    project.spec(says("a", path=PATH))
    project.agent(AGENT.format(amount=20))
    return project


def changed(shop, amount=200):
    shop.agent(AGENT.format(amount=amount))
    shop.run()


def compared(shop, *options, before="latest~1"):
    return json.loads(shop.command("compare", before, "latest", "--json", *options).out)


LINE = "         refund: amount 20 → 200"


def test_a_changed_argument_is_named_and_fails_on_changed(shop):
    shop.run()
    changed(shop)
    done = shop.command("compare", "latest~1", "latest", "--fail-on", "changed")
    assert done.code == 1
    assert LINE in done.out.splitlines()
    for gate in ("worse", "regression"):
        assert shop.command("compare", "latest~1", "latest", "--fail-on", gate).code == 0
    changed(shop)
    assert shop.command("compare", "latest~1", "latest", "--fail-on", "changed").code == 0


def test_a_baseline_of_five_repeats_counts_as_five_attempts(shop):
    shop.run("--repeat", "5")
    assert shop.command("baseline", "save", "--no-gate").code == 0
    changed(shop)
    for command in (("compare", "baseline", "latest"), ("baseline", "diff")):
        done = shop.command(*command, "--fail-on", "changed")
        assert done.code == 1
        assert LINE in done.out.splitlines()
        assert "CHANGED  a  5/5 passed → 1/1 passed\n" in done.out
        assert "baseline baselines → " in done.out  # not the whole path
        assert "\nduration  " not in done.out  # as duration_ms
    found = compared(shop, before="baseline")
    assert found["changes"][0]["before"]["statuses"] == ["pass"] * 5
    assert found["attempts_beyond"] == 4
    changed(shop, 20)
    assert shop.command("baseline", "diff", "--fail-on", "changed").code == 0


def test_tools_of_any_number_are_not_compared_call_by_call(shop):
    block = {"same_calls": True, "any_number": ["ref*"]}
    shop.spec(says("a", path=PATH, regression=block))
    shop.run()
    changed(shop)
    assert shop.command("compare", "latest~1", "latest", "--fail-on", "changed").code == 0


def loosened(shop):
    """What is listed, in JSON and at the top of the terminal report."""
    shown = shop.command("compare", "latest~1", "latest").out
    found = [what for case in compared(shop)["loosened"] for what in case["what"]]
    first = shown.split("\n\n")[0].splitlines()
    if found:
        assert first == [
            "loosened: 1 case is checked less than before", *(f"  {what}: a" for what in found)
        ]  # fmt: skip
    else:
        assert not shown.startswith("loosened")
    return found


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ({**PATH, "max_tool_calls": 9}, ["path.max_tool_calls limit 3 → 9"]),
        ({"expected_tools": ["find"]}, ["path.max_tool_calls removed"]),
        (
            {**PATH, "expected_tools": {"value": ["find"], "severity": "fail"}},
            [],  # stricter
        ),
        ({**PATH, "max_tool_calls": 2}, []),
        ({**PATH, "max_steps": 9}, []),
    ],
)
def test_a_loosened_check_is_listed_above_everything_else(shop, path, what):
    shop.run()
    shop.spec(says("a", path=path))
    shop.run()
    assert loosened(shop) == what


def test_a_lowered_severity_is_listed(shop):
    shop.spec(says("a", path=PATH, severity={"path": "fail"}))
    shop.run()
    shop.spec(says("a", path=PATH))
    shop.run()
    assert loosened(shop) == [
        "path.expected_tools severity fail → warn", "path.max_tool_calls severity fail → warn",
    ]  # fmt: skip


def test_a_rewritten_and_a_removed_baseline_are_listed(shop):
    shop.run()
    assert loosened_baseline(shop, lambda: shop.command("baseline", "save")) == []  # it is new
    changed(shop)
    shop.command("baseline", "save")
    shop.run()
    assert loosened(shop) == ["baseline rewritten"]
    for file in (shop.folder / "baselines").rglob("*.json"):
        file.unlink()
    shop.run()
    assert loosened(shop) == ["baseline removed"]


def loosened_baseline(shop, action):
    action()
    shop.run()
    return loosened(shop)


def test_a_removed_case_is_listed(shop):
    shop.spec(says("a", path=PATH), says("b"))
    shop.run()
    shop.spec(says("a", path=PATH))
    shop.run()
    found = compared(shop)["loosened"]
    assert [(case["case"], case["what"]) for case in found] == [
        ("b", ["the case is not in the later run"])
    ]
    assert shop.command("compare", "latest~1", "latest", "--fail-on", "changed").code == 3
