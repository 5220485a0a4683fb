"""What importing costs: CPU against decoding the same bytes, and memory over many traces.

`python -m benchmarks.importing [FILE …]` (a part of `make bench`) writes benchmarks/IMPORTING.md.
Decoding is msgspec's, into plain values. Both are measured in turn; figures are medians. Without
files, recordings of the tests are copied until a file has some megabytes.
"""

from __future__ import annotations

import gzip
import statistics
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import msgspec

from trialrun.importers import records
from trialrun.importers._source import Source

DATA = Path(__file__).parents[1] / "tests" / "data" / "formats"
HERE = Path(__file__).parent
ROUNDS = 7
BAR = 3.0
_SIZE = 4_000_000

GIVEN = {
    "Claude Code session": DATA / "claude-code" / "subagent.jsonl.gz",
    "OTLP JSON lines": DATA / "otlp" / "made-claude-code-2.1.197.otlp.jsonl",
    "OpenInference spans": DATA
    / "otel-span-lists"
    / "openai_agents_openinference_live_spans.json.gz",
}


def decoded(data: bytes) -> None:
    """Decode the bytes as one document, or line by line."""
    try:
        msgspec.json.decode(data)
    except msgspec.DecodeError:
        for line in data.splitlines():
            msgspec.json.decode(line)


def cpu(action, rounds: int = ROUNDS) -> list[float]:
    """CPU seconds of each round."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return found


def ratio(file: Path) -> tuple[float, float, float]:
    """Seconds of decoding, seconds of importing, and their ratio: medians of rounds in turn."""
    data = Source(file).content()
    repeat = max(1, _SIZE // max(1, len(data)))
    decoding, importing = [], []
    for _ in range(ROUNDS):
        decoding += cpu(lambda: [decoded(data) for _ in range(repeat)], 1)
        importing += cpu(lambda: [list(records(file)) for _ in range(repeat)], 1)
    first, second = statistics.median(decoding), statistics.median(importing)
    return first, second, second / first


def peak(file: Path, count: int) -> float:
    """Peak of memory in MB while the file is imported `count` times, one trace at a time."""
    tracemalloc.start()
    for _ in range(count):
        for _ in records(file):
            pass
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most


def main(given: dict[str, Path]) -> None:
    """Measure, print and write the table."""
    rows = [
        "# Importing",
        "",
        "CPU of importing against decoding the same bytes with msgspec into plain values (medians "
        f"of {ROUNDS} rounds, in turn); the bar is {BAR:g} times. Memory: the peak while a file is "
        "imported 1 and 20 times. `python -m benchmarks.importing` measures it again.",
        "",
        "| recording | decoding | importing | ratio | peak, 1 time | 20 times |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, file in given.items():
            if not file.is_file():
                continue
            plain = file
            if file.suffix == ".gz":  # decompression is not part of either
                plain = Path(folder) / file.stem
                plain.write_bytes(gzip.decompress(file.read_bytes()))
            first, second, times = ratio(plain)
            once, often = peak(plain, 1), peak(plain, 20)
            rows.append(
                f"| {name} | {first * 1000:.0f} ms | {second * 1000:.0f} ms | {times:.1f}× | "
                f"{once:.1f} MB | {often:.1f} MB |"
            )
            print(rows[-1])
    (HERE / "IMPORTING.md").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    files = {Path(one).name: Path(one) for one in sys.argv[1:]}
    main(files or GIVEN)
