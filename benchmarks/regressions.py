"""Measure the gate against baselines: false alarms, and real runs that passed or failed.

`python -m benchmarks.regressions variety` asks agents that did not change, `--seeds N` N times.
`python -m benchmarks.regressions tau FILE…` judges recorded runs of tau-bench by the passing runs
of the same task. `-v` lists every verdict. benchmarks/REGRESSIONS.md has the figures.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.regression.recorded import GATE, judged, passed

READS = ["get_*", "search_*", "list_*", "find_*"]
# Every tool of tau-bench that does not write to its database, by the source code of the tools
# (tau_bench/envs/{airline,retail}/tools), not by any result.
WRITE_NOTHING = [
    "calculate",
    "find_user_id_by_email",
    "find_user_id_by_name_zip",
    "get_order_details",
    "get_product_details",
    "get_reservation_details",
    "get_user_details",
    "list_all_airports",
    "list_all_product_types",
    "search_direct_flight",
    "search_onestop_flight",
    "think",
    "transfer_to_human_agents",
]
LISTS = {"none": [], "reads": READS, "write nothing": WRITE_NOTHING}

BASELINES, REPEATS, LATER = 50, 5, 10
WORDINGS = ("six_short", "six_mixed", "six_long", "four_short", "four_mixed", "four_long")
RETRIES = ("retry", "retry_lookup", "retry_search")


# Agents that did not change


def variety(seeds: int, verbose: bool) -> None:
    """Count the alarms of agents that did not change, for each set-up and seed, and their causes.

    All attempts vary in the same way, those of the baseline as well: the wording is one of the
    set-up, each as likely as the others; parallel calls are in a random order; in every second
    attempt, by chance, a random tool fails once and is called again; ids and times are new.
    """
    alarms: dict[str, list[int]] = {name: [] for name in WORDINGS}
    causes: dict[str, Counter[str]] = {name: Counter() for name in WORDINGS}
    for seed in range(1, seeds + 1):
        found: dict[str, int] = dict.fromkeys(WORDINGS, 0)
        for case, said in _ask_unchanged(seed):
            name = case.split()[0]
            found[name] += 1
            causes[name].update([said])
            if verbose:
                print(f"seed {seed}, {case}: {said}", file=sys.stderr)
        for name in WORDINGS:
            alarms[name].append(found[name])
    print(f"| wordings | alarms per {BASELINES * LATER}: mean | worst | each seed | causes |")
    print("|---|---|---|---|---|")
    for name in WORDINGS:
        shown = "; ".join(f"{count} {cause}" for cause, count in causes[name].most_common())
        each = " ".join(map(str, alarms[name]))
        mean = sum(alarms[name]) / seeds
        print(f"| {name} | {mean:.1f} | {max(alarms[name])} | {each} | {shown or '–'} |")


def _ask_unchanged(seed: int) -> list[tuple[str, str]]:
    """The repeats after the baseline that do not pass: the case, and what is said of it."""
    from tests.regression import support_agent
    from tests.regression.scripted_model import ScriptedModel

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = ScriptedModel(seed)
        (folder / "address").write_text(model.url)
        (folder / "changed").touch()
        support_agent.HERE, support_agent.drawn = folder, Draws(seed)
        server = support_agent.serve()
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        _write_spec(folder, f"http://127.0.0.1:{server.server_port}/ask")
        _trialrun(folder, "run", "spec.json", "--repeat", str(REPEATS))
        _trialrun(folder, "baseline", "save")
        report = _trialrun(folder, "run", "spec.json", "--repeat", str(LATER))
        server.shutdown()
        server.server_close()
        model.close()
    if len(report["results"]) != LATER * BASELINES * len(WORDINGS):
        raise SystemExit("not all repeats have a verdict")
    results = [result for result in report["results"] if result["status"] != "pass"]
    return [(result["case"], _cause(result)) for result in results]


class Draws:
    """Faults of each attempt, drawn from the seed, the question and how often it was asked.

    So they are the same whenever it is repeated, in whatever order attempts are made.
    """

    def __init__(self, seed: int):
        self._seed = seed
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, question: str) -> list[str]:
        with self._lock:
            self._asked[question] += 1
            attempt = f"{question.rpartition(' ')[2]}.{self._asked[question]}"
        drawn = random.Random(f"{self._seed}/{question}/{attempt}")
        retried = [drawn.choice(RETRIES)] if drawn.random() < 0.5 else []
        # The scripted model draws from its address, which has this.
        return [*retried, attempt]


def _cause(result: Any) -> str:
    """The checks that did not pass, and what they name, without the values."""
    checks = [check for layer in result["layers"].values() for check in layer["checks"]]
    said = [
        f"{check['name']}: {check['message']}"
        for check in checks
        if check["status"] not in ("pass", "skipped")
    ]
    return re.sub(r'"[^"]*"', "…", "; ".join(said)) or result["error"] or result["status"]


def _write_spec(folder: Path, url: str) -> None:
    cases = [
        {"name": f"{name} {number}", "query": f"Refund [{name}+parallel], no. {name}.{number}"}
        for name in WORDINGS
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


def tau(files: Sequence[Path], verbose: bool) -> None:
    """Each run of a task, judged by the runs of that task that passed (itself left out).

    Several files are attempts at the same tasks.
    """
    tasks: dict[int, list[Any]] = {}
    for file in files:
        for run in json.loads(file.read_text()):
            tasks.setdefault(run["task_id"], []).append(run)
    able = [tasks[number] for number in sorted(tasks) if any(map(passed, tasks[number]))]
    print("| `any_number` | failing runs that are red | passing runs that are accused |")
    print("|---|---|---|")
    for name, any_number in LISTS.items():
        red, failing, accused, passing = _counted(able, any_number)
        print(f"| {name} | {red} of {failing} | {accused} of {passing} |")
    for run, reasons in judged(able, WRITE_NOTHING) if verbose else ():
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
        at = sys.argv.index("--seeds") + 1 if "--seeds" in sys.argv else 0
        variety(int(sys.argv[at]) if at else 1, "-v" in sys.argv)
    elif sys.argv[1:2] == ["tau"] and len(sys.argv) > 2:
        tau([Path(name) for name in sys.argv[2:] if name != "-v"], "-v" in sys.argv)
    else:
        raise SystemExit(__doc__)
