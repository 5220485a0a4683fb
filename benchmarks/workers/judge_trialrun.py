"""Judge the run with trialrun: the checks of ciagent or (argument `expected`) of evaldeck."""

import sys

import common as run

from trialrun import EvalCase, Step, TokenUsage, Trace, evaluate

THREE_LAYERS = {
    "query": "q",
    "correctness": {
        "expected_in_answer": run.EXPECTED_TERMS,
        "not_in_answer": run.FORBIDDEN_TERMS,
        "regex_match": run.PATTERN,
    },
    "path": {
        "max_tool_calls": 20,
        "forbidden_tools": run.FORBIDDEN_TOOLS,
        "expected_tools": run.EXPECTED_TOOLS,
        "min_tool_precision": 0.3,
        "max_loops": 3,
        "min_sequence_similarity": 0.5,
    },
    "cost": {
        "max_cost_multiplier": 3.0,
        "max_total_tokens": 10000,
        "max_llm_calls": 20,
        "max_latency_ms": 10000,
        "max_cost_usd": 0.1,
    },
}
EXPECTED = {
    "query": "q",
    "expected": {
        "output_contains": run.EXPECTED_TERMS,
        "output_not_contains": run.FORBIDDEN_TERMS,
        "tools_called": run.EXPECTED_TOOLS,
        "tools_not_called": run.FORBIDDEN_TOOLS,
        "tool_call_order": ["search", "book"],
        "max_steps": 30,
        "max_tool_calls": 20,
        "max_llm_calls": 20,
        "task_completed": True,
    },
}


def make_trace(tools=run.TOOLS):
    steps = [Step.tool_call(tool, {"q": 1}, "result") for tool in tools]
    for _ in range(run.MODEL_CALLS):
        usage = TokenUsage(prompt_tokens=run.PROMPT_TOKENS, completion_tokens=run.COMPLETION_TOKENS)
        steps.append(Step.llm_call(run.MODEL, "in", "out", usage, cost_usd=run.COST))
    return Trace(input="q", output=run.ANSWER, duration_ms=run.DURATION_MS, steps=steps)


def main(expected):
    case = EvalCase.from_dict(EXPECTED if expected else THREE_LAYERS)
    baseline = None if expected else make_trace(run.REFERENCE)
    result = evaluate(case, make_trace(), baseline)
    assert result.status.value == "pass" and len(result.metrics) == 4, result
    run.report(lambda trace: evaluate(case, trace, baseline), make_trace)


if __name__ == "__main__":
    main("expected" in sys.argv)
