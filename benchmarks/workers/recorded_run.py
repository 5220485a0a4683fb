"""A recorded trace of some 10 KB as plain values, for tools that read it from a line of JSON.

20 steps: ten model calls and ten tool calls, each with texts, tokens, cost, times and arguments.
`failing` changes the answer, the calls and the costs so that most checks fail. Every worker reads
the lines, judges each trace, and writes a row with the status and reason of each check.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time

import common as run

TEXT = "The parcel was handed over on Monday and the customer asked for a refund of the order. "
FAILING = "failing" in sys.argv
ANSWER = "No." if FAILING else run.ANSWER
TOOLS = ["lookup", "delete_order"] * 5 if FAILING else run.EVEN
COST = 0.5 if FAILING else run.COST
TOKENS = (40_000, 6_000) if FAILING else (run.PROMPT_TOKENS, run.COMPLETION_TOKENS)
DURATION_MS = 52_000.0 if FAILING else run.DURATION_MS


def steps():
    """The steps as plain values: (kind, name, prompt or arguments, reply or result, second)."""
    for number, tool in enumerate(TOOLS):
        yield "model", run.MODEL, TEXT * 3 + str(number), TEXT + str(number), 2 * number
        arguments = {"query": f"order {number}", "limit": 10, "tags": ["open", "paid"]}
        yield "tool", tool, arguments, TEXT * 2 + str(number), 2 * number + 1


def moment(second: int) -> str:
    return f"2026-11-19T08:00:{second:02d}Z"


def measure(read, judge, row, lines, rounds: int = 5) -> None:
    """Print medians of CPU microseconds a trace: reading, judging, and both with a row written."""
    read_all, judge_all, both = [], [], []
    for item in lines[:50]:
        row(judge(read(item)))
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        for item in lines:
            read(item)
        read_all.append(time.process_time() - start)
        traces = [read(item) for item in lines]
        gc.collect()
        start = time.process_time()
        for trace in traces:
            judge(trace)
        judge_all.append(time.process_time() - start)
        del traces
        gc.collect()
        written = 0
        start = time.process_time()
        for item in lines:
            written += len(row(judge(read(item))))
        both.append(time.process_time() - start)
        assert written
    names = ("reading", "judging", "both")
    medians = [statistics.median(found) / len(lines) * 1e6 for found in (read_all, judge_all, both)]
    json.dump(dict(zip(names, medians, strict=True)), sys.stdout)
