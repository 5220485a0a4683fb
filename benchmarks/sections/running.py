"""Runs of agents: beside other tools, synchronous ones, memory."""

from __future__ import annotations

import statistics
import sys

from benchmarks.measuring import PYTHON, interleaved, peer, verdict, worker

RUNS = 2000


PEERS = {
    "trialrun": (None, "run_trialrun.py"),
    "pydantic-evals": ("pydantic-evals", "run_pydantic_evals.py"),
    "inspect-ai": ("inspect-ai", "run_inspect.py"),
}


def running(rounds: int = 5) -> dict[str, dict[str, float]]:
    """Microseconds per case of a complete run: wall time, and CPU where it is known."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in PEERS}
    for number in range(rounds):
        print(f"  round {number + 1} of {rounds}", file=sys.stderr)
        for name, (tool, script) in PEERS.items():
            found[name].append(worker(PYTHON if tool is None else peer(tool), script, str(RUNS)))
    return {
        name: {
            part: statistics.median(one.get(part, 0.0) for one in times) / RUNS * 1e6
            for part in ("seconds", "cpu", "workers")
        }
        for name, times in found.items()
    }


def running_section() -> list[str]:
    found = running()
    ours, theirs = found["trialrun"], found["pydantic-evals"]
    slower = ours["cpu"] / theirs["cpu"]
    quicker = found["inspect-ai"]["seconds"] / ours["seconds"]
    return [
        "Running",
        "",
        f"{RUNS:,} cases with a trivial async agent and one check, 64 at once, imports left out.",
        "trialrun reads its spec, asks a worker process and has every attempt on disk before it is",
        "counted; pydantic-evals stores nothing; Inspect writes its log.",
        "",
        "| a case | time | CPU | against trialrun | bar | |",
        "|---|---|---|---|---|---|",
        f"| trialrun | {ours['seconds']:,.0f} µs | {ours['cpu']:,.0f} µs, of that its worker "
        f"{ours['workers']:,.0f} | | | |",
        f"| pydantic-evals | {theirs['seconds']:,.0f} µs | {theirs['cpu']:,.0f} µs | trialrun "
        f"takes {slower:.1f}× the CPU | at most 1.5× | {verdict(slower, 1.5, at_least=False)} |",
        f"| Inspect | {found['inspect-ai']['seconds']:,.0f} µs | | trialrun is {quicker:.1f}× as "
        f"quick | at least 10× | {verdict(quicker, 10, at_least=True)} |",
    ]


SYNC = 512
JOBS = ("1", "16", "64", "256")


def synchronous_section() -> list[str]:
    """Synchronous agents that answer at once, and after a wait, by the number at once."""
    found = interleaved(
        {
            jobs: lambda jobs=jobs: worker(PYTHON, "run_sync.py", str(SYNC), jobs)["seconds"]
            for jobs in JOBS
        },
        5,
    )
    waiting = worker(PYTHON, "run_sync.py", str(SYNC), "64", "0.5")
    growth = found["256"] / found["1"]
    return [
        "Synchronous agents",
        "",
        f"{SYNC} cases with a plain function that answers at once, each in a copy of a worker. CPU",
        "of the run and of all its workers.",
        "",
        "| at once | CPU a case |",
        "|---|---|",
        *(f"| `-j {jobs}` | {found[jobs] / SYNC * 1e3:.1f} ms |" for jobs in JOBS),
        "",
        f"`-j 256` takes {growth:.2f}× the CPU of `-j 1`, at most 3× is the bar: "
        f"{verdict(growth, 3, at_least=False)}. An agent that waits for 0.5 s, 64 at once: "
        f"{waiting['wall']:.1f} s for what takes {SYNC / 64 * 0.5:.1f} s if 64 workers were there "
        f"from the start, and {waiting['seconds'] / SYNC * 1e3:.1f} ms of CPU a case.",
    ]


SIZES = (1000, 100_000)


def memory_section() -> list[str]:
    """Peak memory of a run, by the number of its cases."""
    small, large = (
        worker(PYTHON, "run_trialrun.py", str(size))["peak_kb"] / 1000 for size in SIZES
    )
    growth = large / small
    return [
        "Memory of a run",
        "",
        f"{small:.0f} MB for {SIZES[0]:,} cases, {large:.0f} MB for {SIZES[1]:,}: {growth:.2f}×, "
        f"at most 1.3× is the bar: {verdict(growth, 1.3, at_least=False)}.",
    ]
