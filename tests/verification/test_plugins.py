"""Runners of other packages, by entry point."""

from __future__ import annotations

import pytest

from trialrun import Step, Trace
from trialrun.errors import PluginError
from trialrun.verification import Runner, audit, runners

EDIT = Step.tool_call("Edit", {"file_path": "a.py"}, "ok")


class Point:
    value = "my_package:THINGS"

    def __init__(self, made):
        self.made = made

    def load(self):
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


@pytest.fixture
def installed(monkeypatch):
    def install(**groups):
        def entry_points(group):
            return [Point(made) for made in groups.get(group.rpartition(".")[2], ())]

        monkeypatch.setattr("trialrun.util.entry_points.entry_points", entry_points)
        for cached in (runners._others, runners.default_table):
            cached.cache_clear()

    yield install
    monkeypatch.undo()
    for cached in (runners._others, runners.default_table):
        cached.cache_clear()


def verdict(command, output):
    steps = [EDIT, Step.tool_call("Bash", {"command": command}, "ALL GOOD")]
    (claim,) = audit(Trace(input="x", output=output, steps=steps)).claims
    return claim.verdict.value


def test_runners(installed):
    row = Runner(name="hamster", kind="test", commands=("hamster run",), passed=("ALL GOOD",))
    installed(runners=[[row]])
    assert verdict("hamster run", "All tests pass.") == "verified"
    assert verdict("ls", "All tests pass.") == "unsupported"


@pytest.mark.parametrize("made", [RuntimeError("no"), 3, ["x"]])
def test_runners_that_are_none(installed, made):
    installed(runners=[made])
    with pytest.raises(PluginError, match="my_package:THINGS"):
        verdict("ls", "All tests pass.")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (Runner(name="h", kind="tests", commands=("h run",)), "did you mean `test`"),
        (Runner(name="h", kind="test", commands="h run"), "tuple of texts"),
        (Runner(name="h", kind="test", commands=(" ",)), "tuple of texts"),
        (Runner(name="h", kind="test", commands=("h",), languages=("pyton",)), "`python`"),
    ],
)
def test_rows_that_would_never_match(installed, row, message):
    installed(runners=[[row]])
    with pytest.raises(PluginError, match=message):
        verdict("ls", "All tests pass.")
