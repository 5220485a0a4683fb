"""Starting commands and loading a spec."""

from __future__ import annotations

import compileall
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import PYTHON, cpu_of, interleaved, verdict

STARTS = 21


SPEC = "queries:\n  - query: How long?\n    correctness: {expected_in_answer: [days]}\n"

# The command → how many times the CPU of bare Python it may take.
BARS = {
    "trialrun --version": 5.0,
    "trialrun --help": None,
    "trialrun score": 10.0,
    "trialrun verify": 12.0,
    "trialrun runs": 12.0,
    "trialrun validate": None,
    "from trialrun import Trace, evaluate": 6.0,
    "import click": None,
    "import msgspec": None,
}


def _commands(folder: Path) -> dict[str, list[str]]:
    """Each command with its arguments, for the files that are written to the folder."""
    from trialrun import Step, Trace
    from trialrun.importers.native import write_traces
    from trialrun.store import open_store

    (folder / "spec.yaml").write_text(SPEC)
    steps = [Step.tool_call("search", {"q": "refund"}, "30 days")]
    write_traces([Trace(input="How long?", output="30 days", steps=steps)], folder / "t.jsonl")
    open_store(str(folder / "runs.db")).close()
    program = str(PYTHON.parent / "trialrun")
    arguments = {
        "score": ["score", "spec.yaml", "t.jsonl"],
        "verify": ["verify", "t.jsonl"],
        "runs": ["runs", "--store", "runs.db"],
        "validate": ["validate", "spec.yaml"],
    }
    found = {"python -c pass": [str(PYTHON), "-c", "pass"]}
    for name in BARS:
        kind, _, rest = name.partition(" ")
        if kind == "trialrun":
            found[name] = [program, *arguments.get(rest, [rest])]
        else:
            found[name] = [str(PYTHON), "-c", name]
    return found


def starting() -> dict[str, float]:
    """Milliseconds of CPU by command, with bytecode and one trace."""
    import trialrun

    compileall.compile_dir(Path(trialrun.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        commands = _commands(folder)
        return interleaved(
            {
                name: lambda command=command: cpu_of(command, folder)
                for name, command in commands.items()
            },
            STARTS,
        )


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


def starting_section() -> list[str]:
    started = starting()
    bare = started.pop("python -c pass")
    lines = [
        "Starting",
        "",
        "CPU of a command with a spec of one case, one trace, or an empty store, with bytecode.",
        "",
        "| command | CPU | × bare | bar | |",
        "|---|---|---|---|---|",
        f"| `python -c pass` | {bare:.0f} ms | 1.0× | | |",
    ]
    for name, milliseconds in started.items():
        ratio, limit = milliseconds / bare, BARS[name]
        judged = f"{limit:.0f}× | {verdict(ratio, limit, at_least=False)}" if limit else "– | "
        lines.append(f"| `{name}` | {milliseconds:.0f} ms | {ratio:.1f}× | {judged} |")
    return lines


def loading_section() -> list[str]:
    return [
        "Loading",
        "",
        f"A spec of 2,000 cases (12,001 lines) is read, checked and built in {loading():.2f} s.",
    ]
