"""The lower bound of reading and judging: bare msgspec structs, the questions by hand.

Statuses only: no reasons, no notes on what cannot be used, no duplicate keys, no defaults checked.
"""

import re
from datetime import datetime
from typing import Any

import common as run
import msgspec
import recorded_run as recorded
from judge_trialrun import THREE_LAYERS
from rapidfuzz.distance import LCSseq
from stream_trialrun import line


class Tokens(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class Step(msgspec.Struct):
    type: str
    id: str = ""
    status: str = "success"
    timestamp: datetime | None = None
    duration_ms: float | None = None
    model: str | None = None
    input: str | None = None
    output: str | None = None
    tokens: Tokens | None = None
    cost_usd: float | None = None
    tool_name: str | None = None
    tool_args: dict[str, Any] | None = None
    tool_result: Any = None
    error: str | None = None


class Trace(msgspec.Struct):
    input: str
    id: str | None = None
    name: str | None = None
    output: str | None = None
    status: str = "success"
    error: str | None = None
    steps: list[Step] = []
    started_at: datetime | None = None
    completed_at: datetime | None = None
    duration_ms: float | None = None
    agent_name: str | None = None


read = msgspec.json.Decoder(Trace).decode
terms = [term.lower() for term in run.EXPECTED_TERMS]
forbidden = [term.lower() for term in run.FORBIDDEN_TERMS]
pattern = re.compile(run.PATTERN)
expected, banned = set(run.EXPECTED_TOOLS), set(run.FORBIDDEN_TOOLS)
reference = run.EVEN[:8]
path, cost = THREE_LAYERS["path"], THREE_LAYERS["cost"]


def judge(trace):
    answer = trace.output.lower()
    calls, tokens, spent, models = [], 0, 0.0, 0
    for step in trace.steps:
        if step.tool_name is not None:
            calls.append(step.tool_name)
        else:
            models += 1
            tokens += step.tokens.total_tokens
            spent += step.cost_usd
    used = set(calls)
    shared = len(expected & used)
    similarity = 2 * LCSseq.similarity(calls, reference) / (len(calls) + len(reference))
    return trace.id, (
        all(term in answer for term in terms),
        not any(term in answer for term in forbidden),
        pattern.search(trace.output) is not None,
        len(calls) <= path["max_tool_calls"],
        not (banned & used),
        shared == len(expected),
        shared / len(used) >= path["min_tool_precision"],
        sum(calls[at] == calls[at + 1] for at in range(len(calls) - 1)) <= path["max_loops"],
        similarity >= path["min_sequence_similarity"],
        tokens <= cost["max_total_tokens"],
        models <= cost["max_llm_calls"],
        trace.duration_ms <= cost["max_latency_ms"],
        spent <= cost["max_cost_usd"],
    ), (len(trace.steps), tokens, len(calls), trace.duration_ms)  # fmt: skip


row = msgspec.json.Encoder().encode


if __name__ == "__main__":
    statuses = judge(read(line(0)))[1]
    assert all(statuses) != recorded.FAILING, statuses
    recorded.measure(read, judge, row, [line(number) for number in range(400)])
