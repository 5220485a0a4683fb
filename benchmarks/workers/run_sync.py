"""Time `trialrun run` of a synchronous agent: CPU of the run and of all its workers.

`run_sync.py CASES JOBS [SECONDS]`: the agent answers at once, or after sleeping so long.
"""

import io
import json
import os
import resource
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

AGENT = (
    "import time\n\n\ndef run(question):\n    time.sleep({})\n    return f'answer {{question}}'\n"
)
AT_ONCE = "def run(question):\n    return f'answer {question}'\n"
SPEC = """
runner: trivial:run
queries:
  - name: case
    query: "{{question}}"
    cases_from: cases.csv
    correctness: {expected_in_answer: [answer]}
"""

count, jobs = int(sys.argv[1]), sys.argv[2]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    Path("trivial.py").write_text(AGENT.format(sys.argv[3]) if sys.argv[3:] else AT_ONCE)
    Path("bench.yaml").write_text(SPEC)
    rows = "".join(f"question {n}\n" for n in range(count))
    Path("cases.csv").write_text(f"question\n{rows}")

    import yaml  # noqa: F401

    import trialrun.agents.running.python
    import trialrun.cli.run
    import trialrun.engine.run_lifecycle
    import trialrun.store.backends.sqlite
    import trialrun.store.store  # noqa: F401
    from trialrun.cli.main import main

    printed = io.StringIO()
    start, wall = time.process_time(), time.perf_counter()
    with redirect_stdout(printed):
        code = main(["run", "bench.yaml", "-q", "-j", jobs])
    own, wall = time.process_time() - start, time.perf_counter() - wall
    assert code == 0, code
    assert printed.getvalue() == f"{count:,} cases: {count:,} passed\n", printed.getvalue()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    workers = usage.ru_utime + usage.ru_stime
    os.chdir("/")
print(json.dumps({"seconds": own + workers, "workers": workers, "wall": wall}))
