"""Reads recordings with hand-counted expectations and compares: `formats.py FOLDER [FORMAT …]`.

The folder has one folder per format, each with an `expected.jsonl`: a line for each file with what
a reader should find. What the expectation does not say is not compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trialrun.importers import importer_of, scan
from trialrun.model.trace import Trace


def differences(expected: dict[str, Any], traces: list[Trace]) -> Iterator[str]:
    """What the traces do not have as expected."""
    calls = [name for trace in traces for name in trace.tool_call_sequence]
    found = {
        "traces": len(traces),
        "model_calls": sum(len(trace.llm_calls) for trace in traces),
        "tool_calls": len(calls),
    }
    for key, value in found.items():
        if isinstance(expected.get(key), int) and expected[key] != value:
            yield f"{key} {value}, expected {expected[key]}"
    names = expected.get("tool_names")
    by_session = expected.get("tool_names_by_session")
    if isinstance(by_session, dict):  # traces that run at the same time have no common order
        names = [name for trace in traces for name in by_session.get(trace.id, ())]
    if isinstance(names, list) and names != calls and sorted(names) != sorted(calls):
        yield f"tool names {calls[:8]}, expected {names[:8]}"
    elif isinstance(names, list) and names != calls:
        yield "tool names in another order"
    final = expected.get("final")
    if isinstance(final, str) and final:
        answers = [" ".join((trace.answer_text or "").split()) for trace in traces]
        if not any(answer.startswith(" ".join(final.split())) for answer in answers):
            yield f"answer {answers[-1][:60] if answers else None!r}, expected {final[:60]!r}"


def main(folder: Path, wanted: list[str]) -> None:
    """Print a table, and every difference."""
    rows = []
    for listing in sorted(folder.glob("*/expected.jsonl")):
        if wanted and listing.parent.name not in wanted:
            continue
        agree = total = 0
        for line in listing.read_text(encoding="utf-8").splitlines():
            expected = json.loads(line)
            file = listing.parent / expected["file"]
            total += 1
            traces, problems, _ = scan(file)
            found = [*differences(expected, traces)]
            if problems and expected.get("traces") != 0:
                found.append(f"problem: {problems[0]}"[:200])
            agree += not found
            for one in found:
                print(f"{listing.parent.name}/{file.name} [{importer_of(file).name}]: {one}")
        rows.append((listing.parent.name, total, agree))
    for name, total, agree in (*rows, ("all", sum(r[1] for r in rows), sum(r[2] for r in rows))):
        print(f"{name:28} {total:3} files {agree:3} agree")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
