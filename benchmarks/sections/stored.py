"""Commands over recorded runs: how time and memory grow with the attempts."""

from __future__ import annotations

import statistics
import sys

from benchmarks.measuring import PYTHON, verdict, worker

COMPARED = (2500, 5000, 10_000)


def comparing() -> dict[int, tuple[float, float]]:
    """CPU seconds and peak megabytes of comparing two runs, by the number of their attempts."""
    found: dict[int, list[dict]] = {size: [] for size in COMPARED}
    for number in range(3):
        print(f"  round {number + 1} of 3", file=sys.stderr)
        for size in COMPARED:
            found[size].append(worker(PYTHON, "compare_trialrun.py", str(size)))
    return {
        size: (
            statistics.median(one["seconds"] for one in measured),
            statistics.median(one["peak_kb"] for one in measured) / 1000,
        )
        for size, measured in found.items()
    }


def comparing_section() -> list[str]:
    found = comparing()
    (small, few_mb), *_, (large, many_mb) = found.values()
    times = COMPARED[-1] / COMPARED[0]
    growth = large / small
    memory = many_mb / few_mb
    return [
        "Comparing two runs",
        "",
        "`trialrun compare` of two recorded runs of one attempt a case, three tool calls each; one",
        "case in ten behaves differently. CPU of the process, imports left out.",
        "",
        "| attempts in each run | CPU | per attempt | peak memory |",
        "|---|---|---|---|",
        *(
            f"| {size:,} | {seconds:.2f} s | {seconds / size * 1e6:.0f} µs | {peak:.0f} MB |"
            for size, (seconds, peak) in found.items()
        ),
        "",
        f"{times:.0f}× the attempts take {growth:.1f}× the CPU, linear is the bar (at most "
        f"{times * 1.15:.1f}×): {verdict(growth, times * 1.15, at_least=False)}; "
        f"{memory:.2f}× the memory, at most 1.3× is the bar: "
        f"{verdict(memory, 1.3, at_least=False)}. What grows is the names of the cases, their "
        "figures and the changes that are listed.",
    ]


COMMANDS = {
    "regrade": "`regrade`",
    "export": "`export -o x.jsonl`",
    "show": "`show`",
    "show-json": "`show -o x.json`",
}
ATTEMPTS = (2_000, 20_000)


def stored_section() -> list[str]:
    """Commands over one run: CPU and memory of few attempts and of many."""
    rows = []
    for name, shown in COMMANDS.items():
        print(f"  {name}", file=sys.stderr)
        few, many = (worker(PYTHON, "stored_trialrun.py", name, str(size)) for size in ATTEMPTS)
        growth, memory = many["seconds"] / few["seconds"], many["peak_kb"] / few["peak_kb"]
        rows.append(
            f"| {shown} | {few['seconds'] / ATTEMPTS[0] * 1e6:,.0f} µs | "
            f"{many['seconds'] / ATTEMPTS[1] * 1e6:,.0f} µs | {growth:.1f}× | "
            f"{verdict(growth, 11, at_least=False)} | {few['peak_kb'] / 1000:.0f} MB | "
            f"{many['peak_kb'] / 1000:.0f} MB | {memory:.2f}× |"
        )
    return [
        "Commands over a recorded run",
        "",
        "A run of cases of a table, an attempt each, with traces of some 2 KB whose answers have",
        "the words `key` and `password`. CPU an attempt, imports left out; ten times the attempts",
        "may take at most 11 times the CPU.",
        "",
        f"| | {ATTEMPTS[0]:,} attempts | {ATTEMPTS[1]:,} attempts | growth | bar 11× | "
        "peak memory | | growth |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
    ]
