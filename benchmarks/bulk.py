"""Measure `trialrun score` on many traces: memory, growth, processes, a kill, Dask.

`python -m benchmarks.bulk` measures 5,000 and 50,000 traces and replaces the section of
RESULTS.md; `python -m benchmarks.bulk 500000` measures that many once (`make bench-scale`).
CPU is that of the command and its processes, memory the largest resident set of any of them.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
TITLE = "## 8. Many traces"
PROGRAM = [sys.executable, "-m", "trialrun"]
CLEAN = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
SMALL, LARGE, ROUNDS = 5_000, 50_000, 3

SPEC = """\
defaults:
  correctness: {expected_in_answer: ["42"], not_in_answer: [nope]}
  path: {max_tool_calls: 12, forbidden_tools: [rm], max_steps: 30}
  cost: {max_cost_usd: 1.0, max_total_tokens: 100000}
queries:
"""

PARENT = """
import json, resource, sys
from trialrun.cli.main import main
code = main(sys.argv[1:])
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({
    "own": own.ru_utime + own.ru_stime, "others": others.ru_utime + others.ru_stime,
    "peak": max(own.ru_maxrss, others.ru_maxrss) / 1024, "code": code,
}))
"""
"""Runs a command and measures it; its processes have ended by then."""


def write_traces(file: Path, count: int) -> None:
    """Traces of 20 steps and about 10 KB, for 50 cases, over 28 days."""
    from trialrun import Step, TokenUsage, Trace

    steps = []
    for number in range(10):
        tokens = TokenUsage(prompt_tokens=300, completion_tokens=50)
        steps.append(Step.llm_call("gpt-4o", "x" * 300, "y" * 100, tokens, cost_usd=0.01))
        steps.append(Step.tool_call(f"tool{number % 4}", {"q": "z" * 60}, "r" * 200))
    trace = Trace(input="q", output="the answer is 42", steps=steps, duration_ms=1000.0)
    plain = json.loads(trace.to_json())
    with file.open("w") as stream:
        for number in range(count):
            plain["id"], plain["name"] = f"t{number}", f"case-{number % 50}"
            plain["input"] = f"question {number % 50}"
            plain["started_at"] = f"2026-07-{1 + number % 28:02}T10:00:00Z"
            stream.write(json.dumps(plain) + "\n")


def prepare(place: Path, counts: list[int]) -> None:
    """Write the spec and the traces."""
    cases = "".join(f"  - {{name: case-{n}, query: question {n}}}\n" for n in range(50))
    (place / "spec.yaml").write_text(SPEC + cases)
    for count in counts:
        write_traces(place / f"{count}.jsonl", count)


def measured(place: Path, count: int, *options: str) -> dict:
    """CPU and peak of one command; the peak is that of its largest process."""
    command = ["score", "spec.yaml", f"{count}.jsonl", "-q", "-o", "rows.jsonl", *options]
    done = subprocess.run(
        [sys.executable, "-c", PARENT, *command],
        cwd=place, env=CLEAN, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["code"] == 0, done.stderr
    found["cpu"] = found["own"] + found["others"]
    rows = sum(1 for _ in (place / "rows.jsonl").open("rb"))
    assert rows == count, f"{rows} rows of {count} traces"
    return found


def rounds(place: Path, contestants: dict[str, tuple[int, tuple[str, ...]]]) -> dict[str, dict]:
    """The medians of all contestants, measured in turn."""
    found: dict[str, list[dict]] = {name: [] for name in contestants}
    for number in range(ROUNDS):
        for name, (count, options) in contestants.items():
            print(f"  round {number + 1} of {ROUNDS}: {name}", file=sys.stderr)
            found[name].append(measured(place, count, *options))
    return {
        name: {key: statistics.median(one[key] for one in all_) for key in all_[0]}
        for name, all_ in found.items()
    }


def killed(place: Path) -> tuple[int, int]:
    """How many chunks are judged in all when a run is killed midway and resumed, and how many are
    there. Those that were there before the resume and are not written again count once."""
    command = [*PROGRAM, "score", "spec.yaml", f"{SMALL}.jsonl", "-q", "-o", "killed.jsonl", "-j1"]
    shard = [*command, "--shard", "1/1"]  # so that the parts stay
    child = subprocess.Popen(shard, cwd=place, env=CLEAN, start_new_session=True)
    parts = place / "killed.jsonl.parts"
    while len(list(parts.glob("[0-9]*.json"))) < 3:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGKILL)  # only what was started here: it has its own session
    child.wait()
    before = {file: file.stat().st_mtime_ns for file in parts.glob("[0-9]*.json")}
    subprocess.run(shard, cwd=place, env=CLEAN, check=True)
    after = {file: file.stat().st_mtime_ns for file in parts.glob("[0-9]*.json")}
    again = sum(before.get(file) != written for file, written in after.items())
    merge = ["score", "spec.yaml", parts.name, "--merge", "-q", "-o", "killed.jsonl"]
    subprocess.run([*PROGRAM, *merge], cwd=place, env=CLEAN, check=True)
    whole = (place / "rows.jsonl").read_bytes()
    assert (place / "killed.jsonl").read_bytes() == whole, "other rows after a resume"
    return len(before) + 1 + again, len(after)  # one was under way when it was killed


def met(value: float, most: float) -> str:
    return "met" if value <= most else "**missed**"


def section(place: Path) -> str:
    """The section of RESULTS.md."""
    found = rounds(
        place,
        {
            "one": (SMALL, ("-j1",)),
            "ten": (LARGE, ("-j1",)),
            "two": (LARGE, ("-j2",)),
            "dask": (LARGE, ("-j2", "--engine", "dask")),
        },
    )
    measured(place, SMALL)
    judged, planned = killed(place)
    one, ten, two, dask = (found[name] for name in ("one", "ten", "two", "dask"))
    memory, growth = ten["peak"] / one["peak"], ten["cpu"] / one["cpu"]
    pair, share = two["cpu"] / ten["cpu"], two["own"] / two["cpu"]
    on_dask = dask["others"] / two["others"]
    contestants = [
        (f"{SMALL:,} traces, one process", SMALL, one),
        (f"{LARGE:,} traces, one process", LARGE, ten),
        (f"{LARGE:,} traces, two processes", LARGE, two),
        (f"{LARGE:,} traces, Dask on two local workers", LARGE, dask),
    ]
    bars = [
        (f"memory of {LARGE:,} against {SMALL:,}", memory, "×", 1.1),
        (f"memory of {LARGE:,}", ten["peak"], " MB", 200),
        ("CPU of 10 times the traces", growth, "×", 11),
        ("CPU of two processes against one", pair, "×", 1.15),
        ("the parent's share of CPU", share * 100, " %", 10),
        (f"a kill and a resume: chunks judged, of {planned}", judged, "", planned + 1),
        ("CPU of Dask's workers against the local pool's", on_dask, "×", 1.3),
    ]
    lines = [
        *(TITLE, ""),
        "`trialrun score -o rows.jsonl` on traces of 10 KB and 20 steps, seven checks and four",
        "metrics each, 50 cases; each trace has its row. CPU of the command and all its processes,",
        f"medians of {ROUNDS} rounds in turn; memory is the peak of the largest process.",
        f"({datetime.date.today()}, `python -m benchmarks.bulk`; two cores, shared.)",
        *("", "| | CPU | a trace | peak |", "|---|---|---|---|"),
        *(
            f"| {name} | {got['cpu']:.2f} s | {got['cpu'] / count * 1e6:.0f} µs "
            f"| {got['peak']:.0f} MB |"
            for name, count, got in contestants
        ),
        *("", "| | found | bar | |", "|---|---|---|---|"),
        *(
            f"| {name} | {value:.3g}{unit} | at most {most:g}{unit} | {met(value, most)} |"
            for name, value, unit, most in bars
        ),
    ]
    return "\n".join(lines) + "\n"


def once(count: int) -> None:
    """One run of so many traces, printed."""
    with tempfile.TemporaryDirectory(prefix="trialrun-bench-") as folder:
        place = Path(folder)
        prepare(place, [count])
        began = time.monotonic()
        found = measured(place, count)
        seconds = time.monotonic() - began
        print(
            f"{count:,} traces: {found['cpu']:.0f} s of CPU ({found['cpu'] / count * 1e6:.0f} µs a "
            f"trace), {seconds:.0f} s, {count / seconds:,.0f} traces a second, peak of the largest "
            f"process {found['peak']:.0f} MB, the parent's share {found['own'] / found['cpu']:.1%}"
        )


def main() -> None:
    if len(sys.argv) > 1:
        once(int(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory(prefix="trialrun-bench-") as folder:
        prepare(Path(folder), [SMALL, LARGE])
        made = section(Path(folder))
    text = RESULTS.read_text(encoding="utf-8")
    # The section ends where the next one begins, or with the file.
    old = re.compile(re.escape(TITLE) + r"\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    text = old.sub("", text).rstrip() + "\n\n" + made
    RESULTS.write_text(text, encoding="utf-8")
    print(made)


if __name__ == "__main__":
    main()
