"""Time Inspect: its mock model, a trivial scorer, its log as written by default."""

import json
import sys
import tempfile
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


def answer(*given: object) -> ModelOutput:
    output = ModelOutput.from_content(model="mockllm", content="an answer")
    # Without usage, the mock model would download a table to count tokens.
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


count = int(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    start = time.perf_counter()
    samples = [Sample(id=f"case-{n}", input=f"question {n}", target="answer") for n in range(count)]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = eval(task, model=model, display="none", log_dir=folder, max_connections=64)
    seconds = time.perf_counter() - start
    assert log.status == "success", log.error
    assert log.results.completed_samples == count
print(json.dumps({"seconds": seconds}))
