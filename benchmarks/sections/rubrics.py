"""Rubrics against a judge that takes its time."""

from __future__ import annotations

import subprocess
import tempfile

from benchmarks.measuring import PYTHON, WORKERS, interleaved, verdict, worker

RUBRICS = 1000
PARALLEL = 64


class JudgeServer:
    """A judge in a separate process that answers after a delay."""

    def __init__(self, delay: float) -> None:
        self._process = subprocess.Popen(
            [str(PYTHON), str(WORKERS / "judge_server.py"), str(delay)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()

    def end(self) -> int:
        """Stop it; return how many calls it received."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        calls = int(self._process.stdout.read())
        self._process.wait()
        return calls


def rubrics() -> dict[str, float]:
    """Time, memory and number of rubric calls, without and with a filled cache."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as cache:
        server = JudgeServer(1.0)
        tenth, many = (
            worker(
                PYTHON, "rubrics_trialrun.py", str(size), f"{cache}/{size}", server.address, "warm"
            )
            for size in (RUBRICS // 10, RUBRICS)
        )
        found["calls"] = server.end() - RUBRICS // 10
        found["seconds"] = many["seconds"]
        found["few_mb"], found["mb"] = tenth["peak_kb"] / 1000, many["peak_kb"] / 1000
        # The address is part of the cache key of a verdict: the rerun has its own server, and a
        # cache that was filled through it.
        server = JudgeServer(0.0)
        worker(PYTHON, "rubrics_trialrun.py", str(RUBRICS), f"{cache}/quick", server.address)

        def with_cache() -> float:
            return worker(
                PYTHON, "rubrics_trialrun.py", str(RUBRICS), f"{cache}/quick", server.address
            )["seconds"]

        def without() -> float:
            return worker(PYTHON, "rubrics_trialrun.py", str(RUBRICS), f"{cache}/none")["seconds"]

        found |= interleaved({"cached": with_cache, "without": without}, 3)
        found["cached_calls"] = server.end() - RUBRICS
    return found


def rubrics_section() -> list[str]:
    found = rubrics()
    ideal = RUBRICS / PARALLEL
    ratio = found["seconds"] / ideal
    growth = found["mb"] / found["few_mb"]
    longer = found["cached"] - found["without"]
    return [
        "Rubrics",
        "",
        f"{RUBRICS:,} recorded answers, a rubric each, against a judge on loopback that answers",
        f"after 1 s, {PARALLEL} calls at a time. Imports of the client are left out of the first",
        "line, and would count in the last, which does not need them.",
        "",
        "| | found | bar | |",
        "|---|---|---|---|",
        f"| {found['calls']:,.0f} calls | {found['seconds']:.1f} s, {ratio:.2f}× the ideal "
        f"{ideal:.1f} s | at most 1.25× | {verdict(ratio, 1.25, at_least=False)} |",
        f"| peak memory | {found['mb']:.0f} MB, {growth:.2f}× that of a tenth of the calls | flat "
        f"| {verdict(growth, 1.3, at_least=False)} |",
        f"| the same again | {found['cached_calls']:.0f} calls, {found['cached']:.2f} s; without "
        f"rubrics {found['without']:.2f} s | no call, at most 1 s longer | "
        f"{verdict(longer + found['cached_calls'] * 100, 1.0, at_least=False)} |",
    ]
