"""The kill drill: 2 kills in `make test`, 30 over both databases in `make test-all`.

`make drill` makes 500.
"""

from __future__ import annotations

import os
import secrets
import sys
import time

import pytest

from tests.drills.invocation import Invocation
from tests.drills.kill_drill import drill, postgresql_location, sqlite_location
from tests.drills.project import SETUPS, write_project
from tests.tiers import all_but_first
from tests.watchdog import watchdog

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="leftover processes are looked up in /proc"
)


@pytest.mark.parametrize(
    ("kills", "new_location", "setups"),
    [
        pytest.param(2, sqlite_location, SETUPS[:1], id="few"),
        pytest.param(15, sqlite_location, SETUPS[:2], id="file", marks=pytest.mark.drill),
        pytest.param(
            15,
            postgresql_location,
            SETUPS[1:3],
            id="server",
            marks=[pytest.mark.drill, pytest.mark.postgres],
        ),
    ],
)
def test_kills_lose_nothing_and_repeat_nothing(kills, new_location, setups):
    seed = int(os.environ.get("DRILL_SEED") or secrets.randbelow(10**6))
    sys.stdout.write(f"DRILL_SEED={seed}\n")  # pytest shows it on failure
    counts = drill(kills, seed, new_location, setups)
    sys.stdout.write(f"{counts}\n")
    assert counts.kills == kills
    assert counts.repeated == counts.calls - counts.attempts


@pytest.mark.parametrize(
    "setup",
    all_but_first(pytest.mark.process, SETUPS[:3]),
    ids=lambda setup: setup.agent.partition(": ")[2],
)
def test_agents_die_with_the_run(tmp_path, monkeypatch, setup):
    """Otherwise each would run for five more minutes and spend money for no result."""
    monkeypatch.setenv("DRILL_SECONDS", "300")
    write_project(tmp_path, setup.agent)
    invocation = Invocation(tmp_path, sqlite_location(tmp_path), setup, [])
    calls = tmp_path / "calls"
    with watchdog():
        while not calls.exists() or len(calls.read_text().splitlines()) < setup.jobs:
            time.sleep(0.01)
    assert invocation.kill() is None  # it also requires that no process is left
