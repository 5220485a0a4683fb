"""Time `trialrun compare` on two recorded runs: CPU seconds and peak memory of that process.

The runs are written to a store first, by another process: each attempt has three model calls and
three tool calls. In every tenth case of the later run an argument is another one.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path


def write(count: int) -> None:
    """Record two runs of this many attempts in the folder that is current."""
    from trialrun import EvalCase, Step, TokenUsage, Trace, evaluate
    from trialrun.engine.asked import asked_in
    from trialrun.redaction import Redactor
    from trialrun.store import open_store
    from trialrun.store.records import Attempt, PlannedCase, RunRecord, new_run_id

    case = EvalCase.from_dict(
        {"query": "q", "correctness": {"exact_match": "Done."}, "path": {"max_tool_calls": 5}}
    )
    asked = asked_in(case)

    def trace(number: int, later: bool) -> Trace:
        amount = 200 if later and number % 10 == 0 else 20
        prompt = 400 + (number * (5 if later else 3)) % 97
        usage = TokenUsage(prompt_tokens=prompt, completion_tokens=60)
        think = Step.llm_call("gpt-4o-mini", "in", "out", usage, cost_usd=0.0001)
        calls = [
            Step.tool_call("find", {"order": str(number)}, {"state": "sent"}),
            Step.tool_call("refund", {"order": str(number), "amount": amount}, "done"),
            Step.tool_call("mail", {"text": "Your refund is on its way."}, "sent"),
        ]
        steps = [step for call in calls for step in (think, call)]
        return Trace(
            input="q",
            output="Done.",
            steps=steps,
            duration_ms=1000.0 + (number * (3 if later else 7)) % 101,
        )

    with open_store(None, create=True) as store:
        for later in (False, True):
            now = datetime.now(UTC)
            run = RunRecord(
                id=new_run_id(now), spec="s", spec_key="s", created_at=now, planned=count,
                trialrun="0",
            )  # fmt: skip
            planned = (
                PlannedCase(position=at, suite="s", case=f"case-{at}") for at in range(count)
            )
            store.create_run(run, planned, Redactor().plain)
            for at in range(0, count, 500):
                made = []
                for number in range(at, min(at + 500, count)):
                    recorded = trace(number, later)
                    result = evaluate(case, recorded)
                    result.settle()
                    made.append(
                        Attempt(
                            position=number,
                            attempt=1,
                            fingerprint="f",
                            result=result,
                            trace=recorded,
                            asked=asked,
                        )
                    )
                store.add(run.id, made, Redactor().plain)
            time.sleep(0.01)


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([sys.executable, __file__, "write", str(count)], check=True)

        import trialrun.cli.compare
        import trialrun.engine.compare
        import trialrun.reports.views.comparison
        import trialrun.store.store  # noqa: F401
        from trialrun.cli.main import main as trialrun_main

        printed = io.StringIO()
        start = time.process_time()
        with redirect_stdout(printed):
            code = trialrun_main(["compare", "latest~1", "latest", "--fail-on", "changed"])
        seconds = time.process_time() - start
        assert code == 1, code
        assert f"; {-(-count // 10)} cases behave differently" in printed.getvalue()
        status = Path("/proc/self/status").read_text().splitlines()
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        os.chdir("/")
    print(json.dumps({"seconds": seconds, "peak_kb": peak}))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(int(sys.argv[2]))
    else:
        main(int(sys.argv[1]))
