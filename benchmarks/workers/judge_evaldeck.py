"""Judge the run with evaldeck: its graders and default metrics."""

import common as run
from evaldeck import EvalCase, Evaluator, Step, Trace
from evaldeck.test_case import ExpectedBehavior, Turn
from evaldeck.trace import TokenUsage

case = EvalCase(
    name="case",
    turns=[
        Turn(
            user="q",
            expected=ExpectedBehavior(
                output_contains=run.EXPECTED_TERMS,
                output_not_contains=run.FORBIDDEN_TERMS,
                tools_called=run.EXPECTED_TOOLS,
                tools_not_called=run.FORBIDDEN_TOOLS,
                tool_call_order=["search", "book"],
                max_steps=30,
                max_tool_calls=20,
                max_llm_calls=20,
                task_completed=True,
            ),
        )
    ],
)
evaluator = Evaluator()


def make():
    trace = Trace(input="q", output=run.ANSWER, duration_ms=run.DURATION_MS)
    for tool in run.TOOLS:
        trace.add_step(Step.tool_call(tool, {"q": 1}, "result"))
    for _ in range(run.MODEL_CALLS):
        usage = TokenUsage(
            prompt_tokens=run.PROMPT_TOKENS,
            completion_tokens=run.COMPLETION_TOKENS,
            total_tokens=run.PROMPT_TOKENS + run.COMPLETION_TOKENS,
        )
        trace.add_step(Step.llm_call(run.MODEL, "in", "out", usage))
    return trace


if __name__ == "__main__":
    result = evaluator.evaluate(make(), case)
    assert result.passed and len(result.metrics) == 4, result
    run.report(lambda trace: evaluator.evaluate(trace, case), make)
