"""Judge the run with ciagent: its three layers."""

import common as run
from ciagent.engine.runner import evaluate_query
from ciagent.models import LLMCall, Span, ToolCall, Trace
from ciagent.schema.spec_models import GoldenQuery

query = GoldenQuery(
    query="q",
    correctness={
        "expected_in_answer": run.EXPECTED_TERMS,
        "not_in_answer": run.FORBIDDEN_TERMS,
        "regex_match": run.PATTERN,
    },
    path={
        "max_tool_calls": 20,
        "forbidden_tools": run.FORBIDDEN_TOOLS,
        "expected_tools": run.EXPECTED_TOOLS,
        "min_tool_precision": 0.3,
        "max_loops": 3,
        "min_sequence_similarity": 0.5,
    },
    cost={
        "max_cost_multiplier": 3.0,
        "max_total_tokens": 10000,
        "max_llm_calls": 20,
        "max_latency_ms": 10000,
        "max_cost_usd": 0.1,
    },
)


def make(tools=run.TOOLS):
    span = Span(
        output_data=run.ANSWER,
        tool_calls=[
            ToolCall(tool_name=tool, arguments={"q": 1}, result="result") for tool in tools
        ],
        llm_calls=[
            LLMCall(
                model=run.MODEL,
                tokens_in=run.PROMPT_TOKENS,
                tokens_out=run.COMPLETION_TOKENS,
                cost_usd=run.COST,
            )
            for _ in range(run.MODEL_CALLS)
        ],
    )
    return Trace(
        spans=[span], total_duration_ms=run.DURATION_MS, metadata={"final_output": run.ANSWER}
    )


def judge(trace):
    trace.compute_metrics()
    return evaluate_query(query, trace, baseline)


baseline = make(run.REFERENCE)
baseline.compute_metrics()


if __name__ == "__main__":
    result = judge(make())
    statuses = [result.correctness.status.value, result.path.status.value, result.cost.status.value]
    assert statuses == ["pass", "pass", "pass"], result
    run.report(judge, make)
