"""Reading and judging recorded traces from JSON lines, beside other tools and a floor."""

from __future__ import annotations

import statistics
import sys

from benchmarks.measuring import PYTHON, peer, verdict, worker

ROUNDS = 7
TOOLS = ("trialrun", "ciagent", "evaldeck", "floor")
PARTS = ("reading", "judging", "both")
Times = dict[str, dict[str, float]]
"""Medians in microseconds: tool → part → time."""


def streamed(outcome: str, rounds: int = ROUNDS) -> Times:
    """The medians over rounds; every round runs all tools in turn."""
    pythons = dict.fromkeys(TOOLS, PYTHON)
    pythons |= {tool: peer(tool) for tool in ("ciagent", "evaldeck")}
    found: dict[str, list[dict[str, float]]] = {tool: [] for tool in TOOLS}
    for number in range(rounds):
        print(f"  {outcome}, round {number + 1} of {rounds}", file=sys.stderr)
        for tool in TOOLS:
            found[tool].append(worker(pythons[tool], f"stream_{tool}.py", outcome))
    return {
        tool: {part: statistics.median(one[part] for one in times) for part in PARTS}
        for tool, times in found.items()
    }


def priced(rounds: int = ROUNDS) -> tuple[float, float]:
    """Microseconds of a priced call, and how many times as long 10,000 steps take as 1,000."""
    calls, growths = [], []
    for _ in range(rounds):
        found = worker(PYTHON, "growth_trialrun.py")
        calls.append(found["price"])
        growths.append(found["growth"])
    return statistics.median(calls), statistics.median(growths)


def _bar(what: str, found: str, value: float, bar: float, at_least: bool, unit: str = "×") -> str:
    limit = f"at {'least' if at_least else 'most'} {bar:g}{unit}"
    return f"| {what} | {found} | {limit} | {verdict(value, bar, at_least)} |"


def _bars(passing: Times, failing: Times, call: float, growth: float) -> list[str]:
    def faster(times: Times, part: str) -> float:
        return min(times[tool][part] for tool in ("ciagent", "evaldeck")) / times["trialrun"][part]

    def over(times: Times, part: str) -> float:
        return times["trialrun"][part] / times["floor"][part]

    both, judging = faster(passing, "both"), faster(passing, "judging")
    over_both, over_judging = over(passing, "both"), over(passing, "judging")
    cost = failing["trialrun"]["judging"] / passing["trialrun"]["judging"]
    return [
        _bar("read and judge, against the faster peer", f"{both:.1f}× as quick", both, 4, True),
        _bar("read and judge, against the floor", f"{over_both:.1f}×", over_both, 1.6, False),
        _bar("judge, against the faster peer", f"{judging:.1f}× as quick", judging, 5, True),
        _bar("judge, against the floor", f"{over_judging:.1f}×", over_judging, 2.5, False),
        _bar("judge a failing trace, against a passing one", f"{cost:.1f}×", cost, 2, False),
        _bar("price a call without a recorded cost", f"{call:.1f} µs", call, 5, False, " µs"),
        _bar("10,000 steps, against 1,000: read and judge", f"{growth:.1f}×", growth, 12, False),
    ]


def streaming_section() -> list[str]:
    times = {outcome: streamed(outcome) for outcome in ("passing", "failing")}
    rows = [
        f"| {outcome} | {part} | "
        + " | ".join(f"{found[tool][part]:.0f} µs" for tool in TOOLS)
        + " |"
        for outcome, found in times.items()
        for part in PARTS
    ]
    return [
        "Reading and judging from JSON lines",
        "",
        "A trace of 20 steps, 10 KB, all costs, tokens and times recorded; 14 checks (three on the",
        "answer, seven on the path, four on the cost) and the four default metrics. Both: read,",
        "judge, and write a row with the status and reason of each check. The floor is msgspec",
        "structs with every field typed and the same questions by hand: statuses only. evaldeck",
        "has ten graders and no similarity, loops, precision, latency or cost.",
        "",
        f"| trace | CPU a trace | {' | '.join(TOOLS)} |",
        f"|---|---|{'---|' * len(TOOLS)}",
        *rows,
        "",
        "| | found | bar | |",
        "|---|---|---|---|",
        *_bars(times["passing"], times["failing"], *priced()),
    ]
