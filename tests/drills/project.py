"""The project of the drill: 200 cases, their agents, and the expected report."""

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
_VARYING_FIELDS = ("run", "trace_id", "duration_ms")

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


class Setup(Struct, frozen=True):
    """The options of one round: agent, repeats, jobs, terminal or pipe."""

    agent: str
    repeat: int = 1
    jobs: int = 4
    on_terminal: bool = False  # progress as one updated line instead of plain lines


SETUPS = (
    Setup("runner: drill_agent:plain", on_terminal=True),
    Setup("runner: drill_agent:shared", repeat=2, on_terminal=True),
    Setup("command: [sh, drill_agent.sh]", jobs=3),
    Setup("runner: drill_agent:plain", repeat=2, jobs=2, on_terminal=True),
    Setup("runner: drill_agent:shared", jobs=8),
)


def write_project(folder, agent):
    """Write the spec, its table of cases and its agents."""
    for name in ("drill_agent.py", "drill_agent.sh"):
        shutil.copy(_HERE / name, folder)
    (folder / "drill.yaml").write_text(SPEC.format(agent=agent))
    (folder / "cases.csv").write_text("\n".join(["number", *map(str, range(CASES))]) + "\n")


def reproducible(report):
    """A report without the values that differ between runs: ids and durations."""
    if isinstance(report, dict):
        return {
            key: reproducible(value) for key, value in report.items() if key not in _VARYING_FIELDS
        }
    if isinstance(report, list):
        return [reproducible(part) for part in report if not _is_duration(part)]
    return report


def _is_duration(part):
    return isinstance(part, dict) and part.get("unit") == "ms"


@cache
def report_without_kills(agent, repeat):
    """The report of a run without kills; it does not depend on the store."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, agent)
        setup = Setup(agent, repeat)
        run = Invocation(folder, str(folder / "runs.db"), setup, ["--repeat", str(repeat)])
        assert run.wait() == SOME_FAIL, run.printed()
        report = reproducible(json.loads(run.report.read_text()))
    results = report["results"]
    # Computed by hand: of each 50 cases, five answers are wrong and one more agent call raises.
    assert len(results) == CASES * repeat
    assert [result["status"] for result in results].count("fail") == CASES // 10 * repeat
    assert [result["status"] for result in results].count("error") == CASES // 50 * repeat
    return report
