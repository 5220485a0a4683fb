"""Read, judge and write rows with evaldeck: its graders and default metrics."""

import recorded_run as recorded
from evaldeck import Evaluator, Step, Trace
from evaldeck.trace import TokenUsage
from judge_evaldeck import case

evaluator = Evaluator()


def line(number: int) -> bytes:
    trace = Trace(
        id=f"trace-{number}",
        input="q",
        output=recorded.ANSWER,
        duration_ms=recorded.DURATION_MS,
    )
    for kind, name, given, result, _ in recorded.steps():
        if kind == "model":
            prompt, completion = recorded.TOKENS
            usage = TokenUsage(
                prompt_tokens=prompt,
                completion_tokens=completion,
                total_tokens=prompt + completion,
            )
            trace.add_step(Step.llm_call(name, given, result, usage))
        else:
            trace.add_step(Step.tool_call(name, given, result))
    return trace.model_dump_json().encode()


def judge(trace):
    return evaluator.evaluate(trace, case)


def row(result) -> str:
    return result.model_dump_json()


read = Trace.model_validate_json
if __name__ == "__main__":
    assert judge(read(line(0))).passed != recorded.FAILING
    recorded.measure(read, judge, row, [line(number) for number in range(400)])
