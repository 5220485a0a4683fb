"""The lower bound: the same checks as a hand-written loop that returns statuses only.

No messages, evidence, details of metrics or result objects: hardly anything can be faster.
"""

import re
from itertools import pairwise

import common as run
from judge_trialrun import THREE_LAYERS, make_trace
from rapidfuzz.distance import LCSseq

terms = [term.lower() for term in run.EXPECTED_TERMS]
forbidden = [term.lower() for term in run.FORBIDDEN_TERMS]
pattern = re.compile(run.PATTERN)
expected, banned = set(run.EXPECTED_TOOLS), set(run.FORBIDDEN_TOOLS)
path, cost = THREE_LAYERS["path"], THREE_LAYERS["cost"]


def judge(trace):
    answer = trace.output.lower()
    correct = (
        all(term in answer for term in terms)
        and not any(term in answer for term in forbidden)
        and pattern.search(trace.output) is not None
    )
    calls, tokens, spent, models = [], 0, 0.0, 0
    for step in trace.steps:
        if step.tool_name is not None:
            calls.append(step.tool_name)
        else:
            models += 1
            tokens += step.tokens.total_tokens
            spent += step.cost_usd
    used = set(calls)
    loops = sum(a == b for a, b in pairwise(calls))
    shared = len(expected & used)
    similarity = 2 * LCSseq.similarity(calls, run.REFERENCE) / (len(calls) + len(run.REFERENCE))
    sound = (
        len(calls) <= path["max_tool_calls"]
        and not (banned & used)
        and shared == len(expected)
        and shared / len(used) >= path["min_tool_precision"]
        and loops <= path["max_loops"]
        and similarity >= path["min_sequence_similarity"]
        and set(run.REFERENCE) <= used
    )
    cheap = (
        spent / (run.MODEL_CALLS * run.COST) <= cost["max_cost_multiplier"]
        and tokens <= cost["max_total_tokens"]
        and models <= cost["max_llm_calls"]
        and trace.duration_ms <= cost["max_latency_ms"]
        and spent <= cost["max_cost_usd"]
    )
    metrics = (len(trace.steps), tokens, len(calls), trace.duration_ms)
    return correct, sound, cheap, metrics


if __name__ == "__main__":
    assert judge(make_trace())[:3] == (True, True, True), judge(make_trace())
    run.report(judge, make_trace)
