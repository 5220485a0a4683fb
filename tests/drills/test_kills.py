"""The kill drill of every day: 30 kills over both databases. `make drill` has 500."""

from __future__ import annotations

import os
import secrets
import sys
import time

import pytest

from tests.drills.invocation import Invocation
from tests.drills.kill_drill import drill, in_file, on_server
from tests.drills.project import WAYS, write_project

KILLS = 15

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="what is left running is looked up in /proc"
)


@pytest.mark.parametrize(
    ("new_location", "ways"), [(in_file, WAYS[:2]), (on_server, WAYS[1:3])], ids=["file", "server"]
)
def test_kills_lose_nothing_and_repeat_nothing(new_location, ways):
    seed = int(os.environ.get("DRILL_SEED") or secrets.randbelow(10**6))
    sys.stdout.write(f"DRILL_SEED={seed}\n")  # shown where it fails
    figures = drill(KILLS, seed, new_location, ways)
    sys.stdout.write(f"{figures}\n")
    assert figures.kills == KILLS
    assert figures.repeated == figures.calls - figures.attempts


@pytest.mark.parametrize("way", WAYS[:3], ids=lambda way: way.agent.partition(": ")[2])
def test_agents_die_with_the_run(tmp_path, monkeypatch, way):
    """Each would go on for a minute, spend money, and answer to nobody."""
    monkeypatch.setenv("DRILL_SECONDS", "60")
    write_project(tmp_path, way.agent)
    invocation = Invocation(tmp_path, in_file(tmp_path), way, [])
    calls = tmp_path / "calls"
    deadline = time.monotonic() + 30
    while not calls.exists() or len(calls.read_text().splitlines()) < way.jobs:
        assert time.monotonic() < deadline, invocation.said()
        time.sleep(0.01)
    assert invocation.kill() is None  # and finds nothing that is left
