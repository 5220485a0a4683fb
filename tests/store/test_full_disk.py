"""A full disk is reported in one sentence, and leaves no partial batch."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.store.samples import output_of, run, start
from trialrun.store import open_store

FILL = """
from trialrun.errors import StoreWriteError
import os
store = open_store(sys.argv[1])
made = run(1, 4000)
store.create_run(made, planned(4000))
LIMIT
written = 0
try:
    for position in range(0, 4000, 4):
        batch = [attempt(place) for place in range(position, position + 4)]
        for one in batch:
            one.trace.metadata = {"noise": os.urandom(20_000).hex()}
        store.add(made.id, batch, no_redaction)
        written += 4
except StoreWriteError as error:
    print(error.exit_code, error)
print(written, sum(store.tally(made.id).values()))
store.close()
"""


def require_write_error(location, process):
    message, counts = output_of(process).splitlines()
    assert message.startswith(f"3 the store {location} cannot be written: ")
    written, tallied = map(int, counts.split())
    assert 0 < written == tallied < 4000
    return message


def require_complete_batches(location):
    """Require that all recorded batches are complete; return the number of attempts."""
    with open_store(location, create=False) as store:
        found = [one.position for one in store.attempts(run(1).id)]
        assert found == list(range(len(found)))
        assert len(found) % 4 == 0
        return len(found)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_file_size_limit_is_reported_as_a_write_error(tmp_path):
    location = str(tmp_path / "runs.db")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000,) * 2)"
    require_write_error(location, start(FILL.replace("LIMIT", limit), location))
    assert require_complete_batches(location) > 0


def test_a_full_disk_is_reported_as_a_write_error(tmp_path):
    mounted = os.geteuid() == 0 and not subprocess.call(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", tmp_path], stderr=subprocess.DEVNULL
    )
    if not mounted:
        pytest.skip("this user may not mount a disk")
    location = str(tmp_path / "runs.db")
    try:
        message = require_write_error(location, start(FILL.replace("LIMIT", ""), location))
        assert "database or disk is full" in message
        require_complete_batches(location)
    finally:
        subprocess.check_call(["umount", tmp_path])
