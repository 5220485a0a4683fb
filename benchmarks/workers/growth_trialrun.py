"""Time of a priced call, and how a trace of 10,000 steps compares with one of 1,000."""

import gc
import json
import statistics
import sys
import time

import stream_trialrun as stream
from msgspec.structs import replace

from trialrun import Step, TokenUsage, Trace
from trialrun.pricing import step_cost


def priced() -> float:
    """Microseconds of CPU of a call without a recorded cost."""
    call = Step.llm_call("gpt-4o-mini", "in", "out", TokenUsage(400, 60))
    assert step_cost(call)
    found = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(2000):
            step_cost(call)
        found.append((time.process_time() - start) / 2000 * 1e6)
    return statistics.median(found)


def line(count: int) -> bytes:
    base = stream.read(stream.line(0))
    steps = [replace(base.steps[n % len(base.steps)], id=str(n)) for n in range(count)]
    return Trace(name="case", input="q", output=base.output, steps=steps).to_json()


def judged(text: bytes, repeats: int) -> float:
    found = []
    for _ in range(5):
        gc.collect()
        start = time.process_time()
        for _ in range(repeats):
            stream.row(stream.judge(stream.read(text)))
        found.append((time.process_time() - start) / repeats)
    return statistics.median(found)


few, many = judged(line(1000), 10), judged(line(10_000), 1)
json.dump({"price": priced(), "growth": many / few, "ms": [few * 1e3, many * 1e3]}, sys.stdout)
