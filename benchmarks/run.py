"""Compare the speed and memory of trialrun with other tools: medians and ratios.

`make bench` installs each other tool into its own environment in benchmarks/.envs and writes
benchmarks/RESULTS.md. All are measured in one session, in turn. Figures depend on the machine.
"""

from __future__ import annotations

import compileall
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
WORKERS = HERE / "workers"
ENVIRONMENTS = HERE / ".envs"
PYTHON = Path(sys.executable)
ROUNDS = 7
STARTS = 21
SIZES = (20, 100, 1000)

# With bytecode, as in every start of a user except the first.
CLEAN = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def peer(name: str) -> Path:
    """The Python of an environment that contains only this tool."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", name], check=True, env=CLEAN)
        (folder / ".ready").touch()
    return python


def peer_version(name: str) -> str:
    program = f"from importlib.metadata import version; print(version({name!r}))"
    done = subprocess.run([peer(name), "-c", program], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def worker(python: Path, script: str, *arguments: str) -> dict:
    command = [str(python), str(WORKERS / script), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=CLEAN)
    return json.loads(done.stdout)


def interleaved(contestants: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each contestant; every round measures all of them in turn."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds):
        print(f"  round {number + 1} of {rounds}", file=sys.stderr)
        for name, ask in contestants.items():
            found[name].append(ask())
    return {name: statistics.median(values) for name, values in found.items()}


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


def starting() -> dict[str, float]:
    import trialrun

    compileall.compile_dir(Path(trialrun.__file__).parent, quiet=1)
    commands = {
        "python -c pass": [str(PYTHON), "-c", "pass"],
        "trialrun --version": [str(PYTHON.parent / "trialrun"), "--version"],
        "from trialrun import Trace, evaluate": [
            str(PYTHON),
            "-c",
            "from trialrun import Trace, evaluate",
        ],
        "import click": [str(PYTHON), "-c", "import click"],
        "import msgspec": [str(PYTHON), "-c", "import msgspec"],
    }

    def ask(command: list[str]) -> Callable[[], float]:
        def once() -> float:
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=CLEAN)
            return (time.perf_counter() - start) * 1000

        return once

    return interleaved({name: ask(command) for name, command in commands.items()}, STARTS)


def loading() -> float:
    """Seconds to load a spec of 2,000 cases."""
    from trialrun import load_suite

    case = (
        "  - name: case-{n}\n    query: Question {n}?\n    tags: [smoke]\n"
        "    correctness: {{expected_in_answer: [a, b], regex_match: 'x{n}'}}\n"
        "    path: {{expected_tools: [search], max_tool_calls: 5, forbidden_tools: [rm]}}\n"
        "    cost: {{max_total_tokens: 5000, max_cost_usd: 0.5}}\n"
    )
    text = "queries:\n" + "".join(case.format(n=n) for n in range(2000))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spec.yaml"
        file.write_text(text)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            assert len(load_suite(file).cases) == 2000
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


RUNS = 2000


def running() -> dict[str, float]:
    """Microseconds per case of a complete run of 2,000 cases."""

    def ask(python: Path, script: str) -> Callable[[], float]:
        return lambda: worker(python, script, str(RUNS))["seconds"] / RUNS * 1e6

    return interleaved(
        {
            "trialrun": ask(PYTHON, "run_trialrun.py"),
            "pydantic-evals": ask(peer("pydantic-evals"), "run_pydantic_evals.py"),
            "inspect-ai": ask(peer("inspect-ai"), "run_inspect.py"),
        },
        5,
    )


def peaks() -> dict[int, float]:
    """Peak memory in megabytes, by the number of cases of a run."""
    sizes = (2000, 20_000)
    found = interleaved(
        {
            str(size): lambda size=size: (
                worker(PYTHON, "run_trialrun.py", str(size))["peak_kb"] / 1000
            )
            for size in sizes
        },
        3,
    )
    return {size: found[str(size)] for size in sizes}


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
    print("comparing", file=sys.stderr)
    found = comparing()
    (small, few_mb), *_, (large, many_mb) = found.values()
    times = COMPARED[-1] / COMPARED[0]
    growth = large / small
    memory = many_mb / few_mb
    return [
        "## 7. Comparing two runs",
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
    print("rubrics", file=sys.stderr)
    found = rubrics()
    ideal = RUBRICS / PARALLEL
    ratio = found["seconds"] / ideal
    growth = found["mb"] / found["few_mb"]
    longer = found["cached"] - found["without"]
    return [
        "## 6. Rubrics",
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


def verdict(value: float, bar: float, at_least: bool) -> str:
    met = value >= bar if at_least else value <= bar
    return "met" if met else "**missed**"


MIXES = {
    "even": "10 model calls, 10 tool calls",
    "tools": "4 model calls, 16 tool calls",
}


def judging_section() -> list[str]:
    lines = [
        "## 1. Judging one trace of 20 steps",
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
    print("measures", file=sys.stderr)
    lines = [
        "## 2. LCS, sets and loops together",
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


def starting_section() -> list[str]:
    print("starting", file=sys.stderr)
    started = starting()
    bare = started["python -c pass"]
    lines = ["## 3. Starting", "", "| command | time | × bare | bar | |", "|---|---|---|---|---|"]
    limits = {"trialrun --version": 5.0, "from trialrun import Trace, evaluate": 6.0}
    for name, milliseconds in started.items():
        ratio = milliseconds / bare
        limit = limits.get(name)
        judged = f"{limit:.0f}× | {verdict(ratio, limit, at_least=False)}" if limit else "– | "
        lines.append(f"| `{name}` | {milliseconds:.0f} ms | {ratio:.1f}× | {judged} |")
    return lines


def loading_section() -> list[str]:
    return [
        "## 4. Loading",
        "",
        f"A spec of 2,000 cases (12,001 lines) is read, checked and built in {loading():.2f} s.",
    ]


def running_section() -> list[str]:
    print("running", file=sys.stderr)
    found = running()
    ours = found["trialrun"]
    slower = ours / found["pydantic-evals"]
    quicker = found["inspect-ai"] / ours
    print("memory", file=sys.stderr)
    small, large = peaks().values()
    return [
        "## 5. Running",
        "",
        f"{RUNS:,} cases with a trivial async agent and one check, 64 at once, imports left out.",
        "trialrun reads its spec, asks a worker process and has every attempt on disk before it is",
        "counted; pydantic-evals stores nothing; Inspect writes its log.",
        "",
        "| | per case | against trialrun | bar | |",
        "|---|---|---|---|---|",
        f"| trialrun | {ours:,.0f} µs | | | |",
        f"| pydantic-evals | {found['pydantic-evals']:,.0f} µs | trialrun takes {slower:.1f}× | "
        f"at most 2× | {verdict(slower, 2, at_least=False)} |",
        f"| Inspect | {found['inspect-ai']:,.0f} µs | trialrun is {quicker:.1f}× as quick | "
        f"at least 10× | {verdict(quicker, 10, at_least=True)} |",
        "",
        f"Peak memory: {small:.0f} MB for 2,000 cases, {large:.0f} MB for 20,000: "
        f"{large / small:.2f}×, at most 1.3× is the bar: "
        f"{verdict(large / small, 1.3, at_least=False)}.",
    ]


def report() -> str:
    head = [
        "# Benchmarks",
        "",
        f"{datetime.date.today()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}. trialrun "
        f"{version('trialrun')}, ciagent {peer_version('ciagent')}, evaldeck "
        f"{peer_version('evaldeck')}, pydantic-evals {peer_version('pydantic-evals')}, Inspect "
        f"{peer_version('inspect-ai')}, msgspec {version('msgspec')}, rapidfuzz "
        f"{version('rapidfuzz')}. Made by `make bench`: all in one run, interleaved, medians.",
    ]
    sections = [
        judging_section(),
        measures_section(),
        starting_section(),
        loading_section(),
        running_section(),
        rubrics_section(),
        comparing_section(),
    ]
    return "\n\n".join("\n".join(lines) for lines in [head, *sections]) + "\n"


if __name__ == "__main__":
    text = report()
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)
