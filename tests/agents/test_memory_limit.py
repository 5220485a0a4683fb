"""The limit of an agent's memory, set on a process that has already started."""

from __future__ import annotations

import subprocess
import sys

import pytest

from trialrun.agents.running.processes import limit_memory

resource = pytest.importorskip("resource")
if not hasattr(resource, "prlimit"):
    pytest.skip("limits of other processes are a feature of Linux", allow_module_level=True)

LIMIT = 200_000_000
ALLOCATE = """
import mmap, sys
{before}
print("ready", flush=True)
sys.stdin.readline()
more = bytearray(50_000_000)
print("allocated", flush=True)
"""
RESERVED = "kept = mmap.mmap(-1, 1_000_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)"
USED = 'kept = b"x" * 250_000_000'


@pytest.mark.parametrize(
    ("before", "is_limited", "said"),
    [("", True, "allocated"), (RESERVED, False, "allocated"), (USED, True, "")],
    ids=["small", "reserved", "used"],
)
def test_a_process_is_limited_unless_it_has_only_reserved_more(before, is_limited, said):
    """Claude Code reserves 72 GB: with a limit below that, its next allocation fails."""
    command = [sys.executable, "-c", ALLOCATE.format(before=before)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        first = resource.prlimit(process.pid, resource.RLIMIT_DATA)
        limit_memory(process.pid, LIMIT)
        found = resource.prlimit(process.pid, resource.RLIMIT_DATA)
        assert found == ((LIMIT, LIMIT) if is_limited else first)
        assert process.communicate("go on\n", timeout=60)[0].strip() == said
