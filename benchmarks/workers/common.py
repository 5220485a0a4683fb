"""The one run that every tool judges here, as plain values, and how a worker measures.

20 steps: ten model calls, each followed by a tool call. Every worker builds fresh objects of its
own tool from these values before the clock starts, and judges each of them once.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time

ANSWER = "You get a refund within 30 days of delivery if the parcel is unopened."
TOOLS = ["search", "rank", "search", "grade", "quote", "search", "rank", "book", "mail", "log"]
REFERENCE = ["search", "rank", "grade", "quote", "search", "book", "mail", "log"]
MODEL = "gpt-4o-mini"
PROMPT_TOKENS, COMPLETION_TOKENS, COST = 400, 60, 0.0001
DURATION_MS = 5200.0

EXPECTED_TERMS = ["refund", "30 days"]
FORBIDDEN_TERMS = ["guarantee", "lawsuit"]
PATTERN = r"\d+ days"
EXPECTED_TOOLS = ["search", "rank", "book"]
FORBIDDEN_TOOLS = ["delete_order"]


def report(judge, make, rounds: int = 7, size: int = 400) -> None:
    """Print the median of microseconds per judgement over the rounds."""
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
