"""Work over a stored run grows as its attempts do: counted in calls of functions and rows read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from trialrun import Step, TokenUsage, Trace, evaluate, load_suite, redaction
from trialrun.cli.main import main
from trialrun.engine.asked import asked_in
from trialrun.redaction import Redactor
from trialrun.store import open_store
from trialrun.store.connection import Connection
from trialrun.store.records import Attempt, PlannedCase, RunRecord

SPEC = """
queries:
  - name: "case {{question}}"
    query: "{{question}}"
    cases_from: cases.csv
    correctness: {expected_in_answer: [answer]}
    path: {max_tool_calls: 5}
"""
FEW, MANY = 30, 300
REMEMBERED = 150
"""Clean texts that the redactor remembers: fewer than the larger run has names of cases."""


def record(folder: Path, count: int, number: int) -> None:
    """A run of this many cases, an attempt each, in the store of the folder."""
    suite = load_suite(folder / "spec.yaml")
    usage = TokenUsage(prompt_tokens=10, completion_tokens=5)
    with open_store(str(folder / "runs.db"), create=True) as store:
        run = RunRecord(
            id=f"run-{number}", spec="spec.yaml", spec_key=str(folder / "spec.yaml"),
            created_at=datetime.now(UTC), planned=count, trialrun="0",
        )  # fmt: skip
        planned = [
            PlannedCase(position=at, suite=suite.name, case=case.name)
            for at, case in enumerate(suite.cases)
        ]
        store.create_run(run, planned, Redactor().plain)
        made = []
        for at, case in enumerate(suite.cases):
            steps = [
                Step.llm_call("gpt-4o-mini", "in", "out", usage, cost_usd=0.0001),
                Step.tool_call("find", {"order": str(at)}, {"state": "sent"}),
            ]
            trace = Trace(input=case.query, output=f"answer {number}", steps=steps)
            result = evaluate(case, trace)
            result.settle()
            made.append(
                Attempt(position=at, attempt=1, fingerprint=f"f{at}", result=result, trace=trace,
                        asked=asked_in(case))
            )  # fmt: skip
        store.add(run.id, made, Redactor().plain)


def cost(work: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many functions are called and rows read."""
    calls = rows = 0

    def on_event(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    read = Connection.rows

    def counting(self: Connection, *arguments: object) -> list[object]:
        nonlocal rows
        found = read(self, *arguments)  # type: ignore[arg-type]
        rows += len(found)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Connection, "rows", counting)
        sys.setprofile(on_event)
        try:
            work()
        finally:
            sys.setprofile(None)
    return calls, rows


COMMANDS = {
    "regrade": ["regrade", "latest", "-q", "--spec", "spec.yaml"],
    "compare": ["compare", "latest~1", "latest"],
    "export": ["export", "latest", "-o", "out.jsonl"],
    "show": ["show", "latest"],
    "show as JSON": ["show", "latest", "-q", "-o", "out.json"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=list(COMMANDS))
def test_ten_times_the_attempts_are_at_most_eleven_times_the_work(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(redaction, "_MOST_REMEMBERED", REMEMBERED)
    found = []
    for count in (FEW, FEW, MANY):  # the first time, modules are imported
        folder = tmp_path / f"{len(found)}-{count}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        rows = "".join(f"question {n}\n" for n in range(count))
        (folder / "cases.csv").write_text(f"question\n{rows}")
        (folder / "spec.yaml").write_text(SPEC)
        record(folder, count, 1)
        record(folder, count, 2)
        redaction._default = None
        command = [*arguments, "--store", str(folder / "runs.db")]
        found.append(cost(lambda command=command: main(command), monkeypatch))
    assert "error" not in capsys.readouterr().err
    (few, many) = found[1:]
    assert few[1] >= FEW
    for less, more in zip(few, many, strict=True):
        assert more <= 11 * less, found


def test_work_that_is_not_linear_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def quadratic(count: int) -> Callable[[], object]:
        return lambda: [max(pair) for n in range(count) for pair in pairs(n)]

    def pairs(count: int) -> list[tuple[int, int]]:
        return [pair for pair in pairwise(range(count)) if one(pair)]

    def one(pair: object) -> bool:
        return bool(pair)

    (less, _), (more, _) = (cost(quadratic(count), monkeypatch) for count in (FEW, MANY))
    assert more > 50 * less
