"""Time `trialrun score` on recorded answers with one rubric each, 64 calls at a time.

Arguments: the number of answers, the folder of the verdict cache, the address of the judge (without
it, the suite has no rubrics), and `warm` to import the client of the judge before the clock starts.
"""

import io
import json
import os
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

count, cache = int(sys.argv[1]), sys.argv[2]
address = sys.argv[3] if len(sys.argv) > 3 else None
os.environ["TRIALRUN_JUDGE_CACHE"] = cache

SPEC = """
{judge}
defaults: {{correctness: {{expected_in_answer: [answer]{rubric}}}}}
queries:
  - {{name: "case-{{{{n}}}}", query: "question {{{{n}}}}", cases_from: cases.csv}}
"""

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    judge = rubric = ""
    if address:
        block = {"model": "judge", "base_url": address, "max_concurrency": 64}
        judge = f"judge: {json.dumps(block)}"
        rubric = ", llm_judge: [{rule: it is an answer}]"
    Path("spec.yaml").write_text(SPEC.format(judge=judge, rubric=rubric))
    Path("cases.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(count)))
    traces = [
        json.dumps({"name": f"case-{n}", "input": f"question {n}", "output": f"answer {n}"})
        for n in range(count)
    ]
    Path("traces.jsonl").write_text("\n".join(traces))

    import rich.console  # noqa: F401
    import yaml  # noqa: F401

    if sys.argv[4:] == ["warm"]:
        import pydantic_ai.direct
        import pydantic_ai.models.openai  # noqa: F401

    import trialrun.cli.score
    import trialrun.engine.judges  # noqa: F401
    from trialrun.cli.main import main

    printed = io.StringIO()
    start = time.perf_counter()
    with redirect_stdout(printed):
        code = main(["score", "spec.yaml", "traces.jsonl", "-q"])
    seconds = time.perf_counter() - start
    assert code == 0, printed.getvalue()
    assert f"{count:,} cases: {count:,} passed" in printed.getvalue(), printed.getvalue()
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    os.chdir("/")
print(json.dumps({"seconds": seconds, "peak_kb": peak}))
