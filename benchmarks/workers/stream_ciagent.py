"""Read, judge and write rows with ciagent: its three layers, by pydantic's own JSON reader."""

import json

import common as run
import recorded_run as recorded
from ciagent.engine.runner import evaluate_query
from ciagent.models import LLMCall, Span, ToolCall, Trace
from judge_ciagent import query as with_baseline

cost = with_baseline.cost.model_copy(update={"max_cost_multiplier": None})
query = with_baseline.model_copy(update={"cost": cost})


def line(number: int) -> bytes:
    span = Span(output_data=recorded.ANSWER)
    for kind, name, given, result, second in recorded.steps():
        moment = recorded.moment(second)
        if kind == "model":
            prompt, completion = recorded.TOKENS
            span.llm_calls.append(
                LLMCall(
                    model=name,
                    tokens_in=prompt,
                    tokens_out=completion,
                    cost_usd=recorded.COST,
                    input_messages=[{"role": "user", "content": given}],
                    output_text=result,
                    timestamp=moment,
                )
            )
        else:
            span.tool_calls.append(
                ToolCall(
                    tool_name=name, arguments=given, result=result, duration_ms=120.0,
                    timestamp=moment,
                )
            )  # fmt: skip
    trace = Trace(
        trace_id=f"trace-{number}",
        spans=[span],
        total_duration_ms=recorded.DURATION_MS,
        metadata={"final_output": recorded.ANSWER},
    )
    return trace.model_dump_json().encode()


def judge(trace):
    trace.compute_metrics()
    return trace.trace_id, evaluate_query(query, trace, baseline)


def row(found) -> str:
    """Statuses and messages of the layers: ciagent has no JSON form of its results."""
    trace_id, result = found
    layers = (result.correctness, result.path, result.cost)
    return json.dumps([trace_id, [(layer.status.value, layer.messages) for layer in layers]])


baseline = Trace(
    spans=[Span(tool_calls=[ToolCall(tool_name=tool, arguments={}) for tool in run.EVEN[:8]])]
)
baseline.compute_metrics()
read = Trace.model_validate_json
if __name__ == "__main__":
    result = judge(read(line(0)))[1]
    statuses = {one.status.value for one in (result.correctness, result.path, result.cost)}
    assert (statuses == {"pass"}) != recorded.FAILING, result
    recorded.measure(read, judge, row, [line(number) for number in range(400)])
