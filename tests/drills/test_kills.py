"""The kill drill: 2 kills in `make test`, 30 over both databases in `make test-all`.

`make drill` has 500.
"""

from __future__ import annotations

import os
import secrets
import sys
import time

import pytest

from tests.drills.invocation import Invocation
from tests.drills.kill_drill import drill, in_file, on_server
from tests.drills.project import WAYS, write_project
from tests.tiers import all_but_first
from tests.watchdog import watchdog

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="what is left running is looked up in /proc"
)


@pytest.mark.parametrize(
    ("kills", "new_location", "ways"),
    [
        pytest.param(2, in_file, WAYS[:1], id="few"),
        pytest.param(15, in_file, WAYS[:2], id="file", marks=pytest.mark.drill),
        pytest.param(
            15, on_server, WAYS[1:3], id="server", marks=[pytest.mark.drill, pytest.mark.postgres]
        ),
    ],
)
def test_kills_lose_nothing_and_repeat_nothing(kills, new_location, ways):
    seed = int(os.environ.get("DRILL_SEED") or secrets.randbelow(10**6))
    sys.stdout.write(f"DRILL_SEED={seed}\n")  # shown where it fails
    figures = drill(kills, seed, new_location, ways)
    sys.stdout.write(f"{figures}\n")
    assert figures.kills == kills
    assert figures.repeated == figures.calls - figures.attempts


@pytest.mark.parametrize(
    "way",
    all_but_first(pytest.mark.process, WAYS[:3]),
    ids=lambda way: way.agent.partition(": ")[2],
)
def test_agents_die_with_the_run(tmp_path, monkeypatch, way):
    """Each would go on for five minutes, spend money, and answer to nobody."""
    monkeypatch.setenv("DRILL_SECONDS", "300")
    write_project(tmp_path, way.agent)
    invocation = Invocation(tmp_path, in_file(tmp_path), way, [])
    calls = tmp_path / "calls"
    with watchdog():
        while not calls.exists() or len(calls.read_text().splitlines()) < way.jobs:
            time.sleep(0.01)
    assert invocation.kill() is None  # and finds nothing that is left
