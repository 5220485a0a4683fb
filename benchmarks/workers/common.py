"""The run that every tool judges, as plain values, and the function that measures a tool.

20 steps, in two mixes: `even` has ten model calls and ten tool calls; `tools` has four model calls
that ask for sixteen tool calls (several at once, as models do). Every worker builds new objects
of its tool from these values before the clock starts, and judges each of them once.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time

ANSWER = "You get a refund within 30 days of delivery if the parcel is unopened."
EVEN = ["search", "rank", "search", "grade", "quote", "search", "rank", "book", "mail", "log"]
MORE = ["fetch", "fetch", "check", "quote", "check", "archive"]
TOOLS = EVEN + MORE if "tools" in sys.argv else EVEN
MODEL_CALLS = 20 - len(TOOLS)
REFERENCE = [tool for position, tool in enumerate(TOOLS) if position not in (2, 6)]
MODEL = "gpt-4o-mini"
PROMPT_TOKENS, COMPLETION_TOKENS, COST = 400, 60, 0.0001
DURATION_MS = 5200.0

EXPECTED_TERMS = ["refund", "30 days"]
FORBIDDEN_TERMS = ["guarantee", "lawsuit"]
# Example: "30 days".
PATTERN = r"\d+ days"
EXPECTED_TOOLS = ["search", "rank", "book"]
FORBIDDEN_TOOLS = ["delete_order"]


def report(judge, make, rounds: int = 7, size: int = 400) -> None:
    """Print the median over the rounds of the microseconds per judged trace."""
    for item in [make() for _ in range(50)]:
        judge(item)
    medians = []
    for _ in range(rounds):
        items = [make() for _ in range(size)]
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        for item in items:
            judge(item)
        medians.append((time.perf_counter() - start) / size * 1e6)
        gc.enable()
    json.dump({"microseconds": statistics.median(medians)}, sys.stdout)
