"""Compare the speed and memory of trialrun with other tools: medians and ratios.

`make bench` installs each other tool into its own environment in benchmarks/.envs and writes
benchmarks/RESULTS.md. All are measured in one session, in turn. Figures depend on the machine.
`python -m benchmarks.run NAME …` prints only these sections.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from importlib.metadata import version

from benchmarks.measuring import HERE, peer_version
from benchmarks.sections import judging, rubrics, running, starting, stored, streaming

SECTIONS = {
    "judging": judging.judging_section,
    "measures": judging.measures_section,
    "starting": starting.starting_section,
    "loading": starting.loading_section,
    "running": running.running_section,
    "rubrics": rubrics.rubrics_section,
    "comparing": stored.comparing_section,
    "streaming": streaming.streaming_section,
    "synchronous": running.synchronous_section,
    "memory": running.memory_section,
    "stored": stored.stored_section,
}


def head() -> str:
    """What was measured, where and with which versions."""
    others = {"ciagent": "ciagent", "evaldeck": "evaldeck", "pydantic-evals": "pydantic-evals"}
    others["Inspect"] = "inspect-ai"
    peers = ", ".join(f"{shown} {peer_version(name)}" for shown, name in others.items())
    ours = ", ".join(f"{name} {version(name)}" for name in ("msgspec", "rapidfuzz", "genai-prices"))
    return (
        f"# Benchmarks\n\n{datetime.date.today()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}. trialrun "
        f"{version('trialrun')}, {peers}, {ours}. Made by `make bench`: all in one run, "
        "interleaved, medians. [README.md](README.md) explains what is missed and what was tried."
    )


def main(names: list[str]) -> None:
    chosen = {name: SECTIONS[name] for name in names or SECTIONS}
    sections = []
    for number, (name, section) in enumerate(chosen.items(), 1):
        print(name, file=sys.stderr)
        title, *lines = section()
        sections.append("\n".join([f"## {number}. {title}", *lines]))
    text = "\n\n".join([head(), *sections]) + "\n"
    if not names:
        (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
