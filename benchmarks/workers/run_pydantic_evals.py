"""Time pydantic-evals: a trivial async task, one evaluator. Nothing is stored."""

import asyncio
import json
import sys
import time
from dataclasses import dataclass

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext


@dataclass
class Contains(Evaluator):
    def evaluate(self, context: EvaluatorContext) -> bool:
        return "answer" in context.output


async def agent(question: str) -> str:
    return f"answer {question}"


count = int(sys.argv[1])
start, cpu = time.perf_counter(), time.process_time()
cases = [Case(name=f"case-{n}", inputs=f"question {n}") for n in range(count)]
dataset = Dataset(name="bench", cases=cases, evaluators=[Contains()])
report = asyncio.run(dataset.evaluate(agent, progress=False, max_concurrency=64))
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
assert len(report.cases) == count
print(json.dumps({"seconds": seconds, "cpu": cpu}))
