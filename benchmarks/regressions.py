"""Measure the gate against baselines: false alarms, and real runs that passed or failed.

`python -m benchmarks.regressions variety` asks agents that did not change 500 times.
`python -m benchmarks.regressions tau FILE` judges recorded runs of tau-bench by the passing runs of
the same task. `-v` lists every verdict. benchmarks/REGRESSIONS.md has the figures.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.regression.recorded import GATE, judged, passed

READS = ["get_*", "search_*", "list_*", "calculate", "think"]
CHANGE_NOTHING = [*READS, "transfer_to_human_agents"]

BASELINES, REPEATS = 50, 5
VARIETY = {
    "another wording, order of parallel calls, id, time; a retried call": (
        "wording",
        "parallel",
        "wording+parallel",
    ),
    "the same, and a list in one of two orders": ("wording+parallel+set_order",),
}


# Agents that did not change


def variety() -> None:
    """Count the alarms of agents that did not change, for each kind of variety."""
    print("| variety | alarms | repeats | agents, each with a baseline of five repeats |")
    print("|---|---|---|---|")
    for name, kinds in VARIETY.items():
        statuses = _ask_unchanged(kinds)
        alarms = sum(status != "pass" for status in statuses)
        print(f"| {name} | {alarms} | {len(statuses)} | {BASELINES} |")


def _ask_unchanged(kinds: Sequence[str]) -> list[str]:
    """The statuses of repeats after the baseline; in the second half of them, a tool fails once."""
    from tests.regression import support_agent
    from tests.regression.scripted_model import ScriptedModel

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = ScriptedModel(random.Random())
        (folder / "address").write_text(model.url)
        (folder / "changed").touch()
        support_agent.HERE = folder
        server = support_agent.serve()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        _write_spec(folder, kinds, f"http://127.0.0.1:{server.server_port}/ask")
        _trialrun(folder, "run", "spec.json", "--repeat", str(REPEATS))
        _trialrun(folder, "baseline", "save")
        statuses: list[str] = []
        for always in ("", "retry"):
            (folder / "always").write_text(always)
            report = _trialrun(folder, "run", "spec.json", "--repeat", str(REPEATS))
            statuses += [result["status"] for result in report["results"]]
        server.shutdown()
        server.server_close()
        model.close()
    return statuses


def _write_spec(folder: Path, kinds: Sequence[str], url: str) -> None:
    cases = [
        {"name": f"agent {number}", "query": f"Refund [{kinds[number % len(kinds)]}], no. {number}"}
        for number in range(BASELINES)
    ]
    cost = {"max_cost_multiplier": {"value": 3, "severity": "fail"}}
    spec = {"url": url, "defaults": {"regression": GATE, "cost": cost}, "queries": cases}
    (folder / "spec.json").write_text(json.dumps(spec))  # JSON is YAML, too


def _trialrun(folder: Path, *arguments: str) -> Any:
    as_json = ["--format", "json"] if arguments[0] == "run" else []
    command = [sys.executable, "-m", "trialrun", *arguments, *as_json]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout) if as_json else None


# Recorded runs


def tau(file: Path, verbose: bool) -> None:
    """Each run of a task, judged by the runs of that task that passed (itself left out)."""
    tasks: dict[int, list[Any]] = {}
    for run in json.loads(file.read_text()):
        tasks.setdefault(run["task_id"], []).append(run)
    # Only tasks with a baseline; every second one was left alone while the rules were made.
    able = [tasks[number] for number in sorted(tasks) if any(map(passed, tasks[number]))]
    halves = {"first half": able[::2], "second half": able[1::2], "all": able}
    print("| tasks | `any_number` | failing runs that are red | passing runs that are accused |")
    print("|---|---|---|---|")
    for name, chosen in halves.items():
        for any_number in ([], READS, CHANGE_NOTHING):
            red, failing, accused, passing = _counted(chosen, any_number)
            shown = ", ".join(f"`{glob}`" for glob in any_number) or "–"
            print(f"| {name} | {shown} | {red} of {failing} | {accused} of {passing} |")
    for run, reasons in judged(able, READS) if verbose else ():
        outcome = "passing" if passed(run) else "failing"
        print(f"\ntask {run['task_id']}, trial {run['trial']}, {outcome}: ", end="")
        print("; ".join(reasons) or "the same")


def _counted(tasks: Sequence[Sequence[Any]], any_number: Sequence[str]) -> tuple[int, ...]:
    counts = {True: [0, 0], False: [0, 0]}
    for run, reasons in judged(tasks, any_number):
        counts[passed(run)][0] += bool(reasons)
        counts[passed(run)][1] += 1
    return (*counts[False], *counts[True])


if __name__ == "__main__":
    if sys.argv[1:2] == ["variety"]:
        variety()
    elif sys.argv[1:2] == ["tau"] and len(sys.argv) > 2:
        tau(Path(sys.argv[2]), "-v" in sys.argv)
    else:
        raise SystemExit(__doc__)
