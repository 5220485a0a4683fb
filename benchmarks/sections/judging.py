"""Judging a trace that is in memory, and the measures below it, beside other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.measuring import PYTHON, interleaved, peer, verdict, worker

ROUNDS = 7
SIZES = (20, 100, 1000)


def judging(mix: str) -> dict[str, float]:
    def ask(python: Path, script: str, *arguments: str) -> Callable[[], float]:
        return lambda: worker(python, script, mix, *arguments)["microseconds"]

    return interleaved(
        {
            "floor": ask(PYTHON, "judge_floor.py"),
            "trialrun": ask(PYTHON, "judge_trialrun.py"),
            "ciagent": ask(peer("ciagent"), "judge_ciagent.py"),
            "trialrun, expected": ask(PYTHON, "judge_trialrun.py", "expected"),
            "evaldeck": ask(peer("evaldeck"), "judge_evaldeck.py"),
        },
        ROUNDS,
    )


def measures() -> dict[int, tuple[float, float]]:
    found = {}
    for size in SIZES:
        answers: dict[str, list] = {}

        def ask(tool: str, python: Path, size: int = size, answers: dict = answers) -> float:
            result = worker(python, "measures.py", tool, str(size))
            answers[tool] = result["answers"]
            return result["microseconds"]

        medians = interleaved(
            {
                "trialrun": lambda ask=ask: ask("trialrun", PYTHON),
                "ciagent": lambda ask=ask: ask("ciagent", peer("ciagent")),
            },
            3,
        )
        assert answers["trialrun"] == answers["ciagent"], "the two tools disagree"
        found[size] = (medians["trialrun"], medians["ciagent"])
    return found


MIXES = {
    "even": "10 model calls, 10 tool calls",
    "tools": "4 model calls, 16 tool calls",
}


def judging_section() -> list[str]:
    lines = [
        "Judging one trace of 20 steps",
        "",
        "Three layers and the default metrics of a trace that is in memory and was not judged",
        "before, by checks that both tools have: those of ciagent with a baseline, then evaldeck's",
        "`expected`. The floor is a hand-written loop over the same trace that returns statuses",
        "only: no messages, no result objects.",
        "",
        "| 20 steps | trialrun | ciagent | ratio | trialrun, `expected` | evaldeck | ratio | "
        "floor | trialrun / floor |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    ratios = []
    for mix, name in MIXES.items():
        print(f"judging, {name}", file=sys.stderr)
        found = judging(mix)
        against_ciagent = found["ciagent"] / found["trialrun"]
        against_evaldeck = found["evaldeck"] / found["trialrun, expected"]
        ratios += [against_ciagent, against_evaldeck]
        lines.append(
            f"| {name} | {found['trialrun']:.1f} µs | {found['ciagent']:.0f} µs | "
            f"{against_ciagent:.1f}× | {found['trialrun, expected']:.1f} µs | "
            f"{found['evaldeck']:.0f} µs | {against_evaldeck:.1f}× | {found['floor']:.1f} µs | "
            f"{found['trialrun'] / found['floor']:.1f}× |"
        )
    return [
        *lines,
        "",
        f"Bar: at least 10× the faster of the two. Lowest ratio: {min(ratios):.1f}×, "
        f"{verdict(min(ratios), 10, at_least=True)}; README.md in this folder explains it.",
    ]


def measures_section() -> list[str]:
    lines = [
        "LCS, sets and loops together",
        "",
        "| calls | trialrun | ciagent | ratio | bar | |",
        "|---|---|---|---|---|---|",
    ]
    bars = {100: 50.0, 1000: 500.0}
    for size, (ours, theirs) in measures().items():
        bar = bars.get(size)
        judged = f"{bar:.0f}× | {verdict(theirs / ours, bar, at_least=True)}" if bar else "– | "
        lines.append(
            f"| {size} | {ours:.1f} µs | {theirs:,.0f} µs | {theirs / ours:.0f}× | {judged} |"
        )
    return lines
