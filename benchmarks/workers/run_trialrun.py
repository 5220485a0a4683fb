"""Time `trialrun run`: a trivial async agent in its worker process, every attempt on disk.

Imports are done before the clock starts, as for the other tools. Everything else counts: reading
the spec, writing the plan, starting the worker, the report. Peak memory is that of this process.
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

AGENT = 'async def run(question):\n    return f"answer {question}"\n'
SPEC = """
runner: trivial:run
queries:
  - name: case
    query: "{{question}}"
    cases_from: cases.csv
    correctness: {expected_in_answer: [answer]}
"""

count = int(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    Path("trivial.py").write_text(AGENT)
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
    start, cpu = time.perf_counter(), time.process_time()
    with redirect_stdout(printed):
        code = main(["run", "bench.yaml", "-q", "-j", "64"])
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    assert code == 0, code
    assert printed.getvalue() == f"{count:,} cases: {count:,} passed\n", printed.getvalue()
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    workers = usage.ru_utime + usage.ru_stime
    os.chdir("/")
found = {"seconds": seconds, "cpu": cpu + workers, "workers": workers, "peak_kb": peak}
print(json.dumps(found))
