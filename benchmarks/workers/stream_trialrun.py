"""Read, judge and write rows with trialrun: the free layers and the default metrics."""

import common as run
import msgspec
import recorded_run as recorded
from judge_trialrun import THREE_LAYERS

from trialrun import EvalCase, Step, TokenUsage, Trace, evaluate
from trialrun.model.trace_format import decode

CASE = EvalCase.from_dict(
    {
        **THREE_LAYERS,
        "reference_tools": run.EVEN[:8],
        "cost": {
            key: value
            for key, value in THREE_LAYERS["cost"].items()
            if key != "max_cost_multiplier"
        },
    }
)
ENCODER = msgspec.json.Encoder()


def line(number: int) -> bytes:
    trace = Trace(
        id=f"trace-{number}",
        name="case",
        input="q",
        output=recorded.ANSWER,
        duration_ms=recorded.DURATION_MS,
        started_at=msgspec.convert(recorded.moment(0), __import__("datetime").datetime),
        agent_name="support",
    )
    for kind, name, given, result, second in recorded.steps():
        timed = {
            "timestamp": msgspec.convert(recorded.moment(second), __import__("datetime").datetime),
            "duration_ms": 120.0,
        }
        if kind == "model":
            usage = TokenUsage(*recorded.TOKENS)
            trace.add_step(
                Step.llm_call(name, given, result, usage, cost_usd=recorded.COST, **timed)
            )
        else:
            trace.add_step(Step.tool_call(name, given, result, **timed))
    return trace.to_json()


def read(text: bytes) -> Trace:
    return decode(text)[0]


def judge(trace: Trace):
    return evaluate(CASE, trace)


def row(result) -> bytes:
    """What `score` writes of the checks: data only of those that did not pass."""
    result.settle(brief=True)
    metrics = {one.metric_name: one.value for one in result.metrics}
    return ENCODER.encode((result.trace_id, result.status, result.layers, metrics))


def main() -> None:
    result = judge(read(line(0)))
    wanted = "fail" if recorded.FAILING else "pass"
    assert result.status.value == wanted and len(result.metrics) == 4, result
    assert len(list(result.checks())) == 14
    recorded.measure(read, judge, row, [line(number) for number in range(400)])


if __name__ == "__main__":
    main()
