"""What is run in the drill: 200 cases, their agents, and the report that must come of it."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

from msgspec import Struct

from tests.drills.invocation import Invocation

CASES = 200
SOME_FAIL = 1
"""The exit code of a finished run: some of its cases fail."""

_HERE = Path(__file__).parent
_OF_ONE_RUN = ("run", "trace_id", "duration_ms")

SPEC = """\
version: 1
{agent}
queries:
  - cases_from: cases.csv
    name: case {{{{number}}}}
    query: "{{{{number}}}}"
    correctness:
      exact_match: right {{{{number}}}}
"""


class Way(Struct, frozen=True):
    """How the agents of one round are called."""

    agent: str
    repeat: int = 1
    jobs: int = 4
    on_terminal: bool = False  # the living line in place of plain lines


WAYS = (
    Way("runner: drill_agent:plain", on_terminal=True),
    Way("runner: drill_agent:shared", repeat=2, on_terminal=True),
    Way("command: [sh, drill_agent.sh]", jobs=3),
    Way("runner: drill_agent:plain", repeat=2, jobs=2, on_terminal=True),
    Way("runner: drill_agent:shared", jobs=8),
)


def write_project(folder, agent):
    """The spec, its table and its agents."""
    for name in ("drill_agent.py", "drill_agent.sh"):
        shutil.copy(_HERE / name, folder)
    (folder / "drill.yaml").write_text(SPEC.format(agent=agent))
    (folder / "cases.csv").write_text("\n".join(["number", *map(str, range(CASES))]) + "\n")


def lasting(report):
    """A report without what differs from run to run: times, durations and ids."""
    if isinstance(report, dict):
        return {key: lasting(value) for key, value in report.items() if key not in _OF_ONE_RUN}
    if isinstance(report, list):
        return [lasting(part) for part in report if not _is_duration(part)]
    return report


def _is_duration(part):
    return isinstance(part, dict) and part.get("unit") == "ms"


@cache
def undisturbed(agent, repeat):
    """The report of a run that nobody disturbed; the same whatever it is recorded in."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, agent)
        way = Way(agent, repeat)
        run = Invocation(folder, str(folder / "runs.db"), way, ["--repeat", str(repeat)])
        assert run.wait() == SOME_FAIL, run.said()
        report = lasting(json.loads(run.report.read_text()))
    results = report["results"]
    # By hand: of each 50, five are wrong, and the one that crashes is a sixth.
    assert len(results) == CASES * repeat
    assert [result["status"] for result in results].count("fail") == CASES // 10 * repeat
    assert [result["status"] for result in results].count("error") == CASES // 50 * repeat
    return report
