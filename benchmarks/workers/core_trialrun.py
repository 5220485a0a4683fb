"""Does one task of the core N times, for tools that count instructions: `core_trialrun.py TASK N`.

The tasks: `read` and `read+judge` a recorded trace (with a third argument `failing`, one that fails
most checks), and `price` a call without a recorded cost.
"""

import gc
import sys

import stream_trialrun as stream

from trialrun import Step, TokenUsage
from trialrun.pricing import step_cost


def main(task: str, count: int) -> None:
    line = stream.line(0)
    call = Step.llm_call("gpt-4o-mini", "in", "out", TokenUsage(400, 60))
    gc.collect()
    gc.disable()
    if task == "price":
        for _ in range(count):
            step_cost(call)
        return
    for _ in range(count):
        trace = stream.read(line)
        if task == "read+judge":
            stream.judge(trace)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
