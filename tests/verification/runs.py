"""Steps of made-up runs, for the tests of the ledger."""

from __future__ import annotations

from trialrun import Step, Trace
from trialrun.verification import audit

GREEN = "12 passed in 0.3s"


def edit(path="src/app.py", new="total = price * (1 + rate)", old="total = price"):
    call = {"file_path": path, "old_string": old, "new_string": new}
    return Step.tool_call("Edit", call, "updated")


def read(path="src/app.py", text="1\ttotal = price * (1 + rate)", **part):
    return Step.tool_call("Read", {"file_path": path, **part}, text)


def bash(command, output="", **rest):
    return Step.tool_call("Bash", {"command": command}, output, **rest)


def ledger(output, *steps):
    return audit(Trace(input="do it", output=output, steps=steps))


def verdict(message, *steps):
    """Of the first claim of the message."""
    return ledger(message, *steps).claims[0].verdict.value


def is_open(*steps):
    """What was changed in the run and never looked at."""
    return ledger("Done.", *steps).open_obligations
