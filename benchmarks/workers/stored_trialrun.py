"""Time a command over a recorded run: `regrade`, `export`, `show` or `show -o x.json`.

The run is recorded first, by another process: cases of a table, an async agent that returns a trace
of some 2 KB with three model calls and three tool calls. Prints CPU seconds and peak memory of the
command alone.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

AGENT = """
TEXT = "The parcel was handed over on Monday and the customer asked for a refund. "


async def run(question):
    number = int(question.split()[-1])
    usage = {"prompt_tokens": 400 + number % 97, "completion_tokens": 60}
    think = {"type": "llm_call", "model": "gpt-4o-mini", "content": TEXT * 3, "tokens": usage,
             "cost_usd": 0.0001}
    calls = [
        {"type": "tool_call", "tool_name": name, "tool_args": {"order": str(number), "token": "x"},
         "tool_result": TEXT} for name in ("find", "refund", "mail")
    ]
    steps = [step for call in calls for step in (think, call)]
    return {"output": f"answer {number}: the api key and the password pass", "steps": steps}
"""
SPEC = """
runner: agent:run
queries:
  - name: "case {{question}}"
    query: "{{question}}"
    cases_from: cases.csv
    correctness: {expected_in_answer: [answer]}
    path: {max_tool_calls: 5}
    cost: {max_total_tokens: 5000}
"""
COMMANDS = {
    "regrade": ["regrade", "latest", "--spec", "bench.yaml", "-q"],
    "export": ["export", "latest", "-o", "out.jsonl"],
    "show": ["show", "latest"],
    "show-quiet": ["show", "latest", "-q"],
    "show-json": ["show", "latest", "-q", "-o", "out.json"],
}


def main(name: str, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("agent.py").write_text(AGENT)
        Path("bench.yaml").write_text(SPEC)
        rows = "".join(f"question {n}\n" for n in range(count))
        Path("cases.csv").write_text(f"question\n{rows}")
        program = [str(Path(sys.executable).with_name("trialrun"))]
        subprocess.run([*program, "run", "bench.yaml", "-q", "-j", "64"], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip

        import trialrun.cli.export
        import trialrun.cli.regrade
        import trialrun.cli.show
        import trialrun.engine.regrade
        import trialrun.reports.json
        import trialrun.reports.terminal
        import trialrun.store.backends.sqlite
        import trialrun.store.store  # noqa: F401
        from trialrun.cli.main import main as trialrun_main

        start = time.process_time()
        with redirect_stdout(io.StringIO()):
            code = trialrun_main(COMMANDS[name])
        seconds = time.process_time() - start
        assert code == 0, code
        status = Path("/proc/self/status").read_text().splitlines()
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        os.chdir("/")
    print(json.dumps({"seconds": seconds, "peak_kb": peak}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
