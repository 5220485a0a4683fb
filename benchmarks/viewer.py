"""What the viewer's pages cost: `python -m benchmarks.viewer [postgresql://…]`.

A store with 1,000 runs of 1,000 attempts, and a run with one case of 50,000 steps, are made in a
temporary folder (or in the database that is given, which should be empty); each page is asked for
in the process that serves it, so the CPU seconds are those of the server.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from starlette.testclient import TestClient

from trialrun.model.results import (
    LAYERS,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    LayerStatus,
    Severity,
)
from trialrun.model.trace import Step, Trace
from trialrun.store import Attempt, PlannedCase, RunRecord, RunState, open_store
from trialrun.store.codec import pack_attempt
from trialrun.store.rows import INSERT_ATTEMPT
from trialrun.store.store import Store
from trialrun.viewer.app import make_app

RUNS = 1000
CASES = 1000
STEPS = 50_000
REPEATS = 7
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOST = "127.0.0.1:7357"


def main() -> None:
    """Make the store, ask for pages, print a table."""
    with tempfile.TemporaryDirectory() as folder:
        location = sys.argv[1] if len(sys.argv) > 1 else str(Path(folder) / "runs.db")
        with open_store(location) as store:
            began = time.perf_counter()
            for number in range(RUNS):
                fill(store, number)
            add_long(store)
            print(f"made in {time.perf_counter() - began:.0f} s\n")
            report(store)


def report(store: Store) -> None:
    """The CPU of each page, as the median of some requests, and of the very first one."""
    ids = [record.id for record in store.runs()]
    newest, before, long = ids[1], ids[2], ids[0]
    pages = [
        ("runs: the first page", "/"),
        ("runs: searched", "/?q=nightly&sort=rate"),
        ("run of 1,000 cases", f"/runs/{newest}"),
        ("run, sorted by cost", f"/runs/{newest}?sort=cost"),
        ("case of 10 steps", f"/runs/{newest}/cases/7"),
        ("case of 50,000 steps", f"/runs/{long}/cases/0"),
        ("stability", f"/runs/{newest}/stability"),
        ("two runs of 1,000 cases", f"/compare?before={before}&after={newest}"),
    ]
    print("| page | first, CPU ms | again, CPU ms | kB |\n|---|---|---|---|")
    for name, address in pages:
        client = TestClient(make_app(store, [HOST]), base_url=f"http://{HOST}")
        client.get("/assets/page.css")
        first, size = timed(client, address)
        again = statistics.median(timed(client, address)[0] for _ in range(REPEATS))
        print(f"| {name} | {first * 1000:.0f} | {again * 1000:.0f} | {size / 1000:.0f} |")


def timed(client: TestClient, address: str) -> tuple[float, int]:
    """CPU seconds of a request, and the length of the page."""
    began = time.process_time()
    response = client.get(address)
    seconds = time.process_time() - began
    assert response.status_code == 200, (address, response.status_code)
    return seconds, len(response.content)


def fill(store: Store, number: int) -> None:
    """A run of so many cases; all runs have the same traces, packed once."""
    record = record_of(number, CASES)
    store.create_run(record, plan(record.id))
    rows = [
        [
            record.id,
            case,
            1,
            f"f{case}",
            status,
            None,
            900.0 + case,
            1200 + case,
            0.001,
            NOON,
            *blobs,
        ]
        for case in range(CASES)
        for status, blobs in [packed(case, number)]
    ]
    with store._database.writing() as connection:
        moment = store._database.moment(NOON)
        for row in rows:
            row[9] = moment
        connection.execute_many(INSERT_ATTEMPT, rows)
    store.finish(record.id, RunState.FINISHED, record.created_at + timedelta(minutes=2), [])


def record_of(number: int, cases: int) -> RunRecord:
    """A run with what a real one has beside its attempts."""
    return RunRecord(
        id=f"20260504-{number:06d}-aaaa",
        spec="support.yaml",
        spec_key="/srv/shop/support.yaml",
        created_at=NOON + timedelta(hours=number),
        planned=cases,
        trialrun="0.2.0",
        settings={"jobs": 8, "given": {}, "prices": "list", "directions": {"duration": False}},
        warnings=["2 cases have no baseline"],
        origin={
            "commit": f"{number:040x}",
            "branch": "main",
            "labels": ["nightly"],
            "agents": ["support-bot"],
            "models": ["gpt-4.1-mini"],
        },
    )


def plan(run_id: str) -> list[PlannedCase]:
    """The cases of a run."""
    return [
        PlannedCase(position=case, suite="support", agent="support-bot", case=f"case-{case:04d}")
        for case in range(CASES)
    ]


_PACKED: dict[tuple[str, int], tuple[bytes, bytes | None]] = {}


def packed(case: int, number: int) -> tuple[str, tuple[bytes, bytes | None]]:
    """The status of an attempt and its record: one case in forty fails, others in other runs."""
    status = LayerStatus.FAIL if (case + number) % 40 == 0 else LayerStatus.PASS
    key = status.value, case % 20
    if key not in _PACKED:
        made = Attempt(position=case, attempt=1, result=result(case, status), trace=trace(10))
        _, result_bytes, trace_bytes = pack_attempt(made, lambda value: value)
        _PACKED[key] = result_bytes, trace_bytes
    return status.value, _PACKED[key]


def result(case: int, status: LayerStatus) -> EvaluationResult:
    """A result with two checks."""
    failed = status is LayerStatus.FAIL
    check = CheckResult(
        "expected_in_answer",
        CheckStatus.FAIL if failed else CheckStatus.PASS,
        Severity.FAIL,
        'not in the answer: "order number"' if failed else "every term",
        data={"wanted": ["order number"], "found": []},
    )
    tools = CheckResult("expected_tools", CheckStatus.PASS, Severity.WARN, "tool_recall 1.00")
    layers = dict.fromkeys(LAYERS, LayerResult(LayerStatus.SKIP))
    layers["correctness"] = LayerResult(status, (check,))
    layers["path"] = LayerResult(LayerStatus.PASS, (tools,))
    return EvaluationResult(
        case_name=f"case-{case:04d}",
        suite_name="support",
        agent="support-bot",
        status=status,
        layers=layers,
        metrics=[],
        question="I want my money back now!",
        answer="Your last order has been refunded.",
        cost_usd=0.001,
        total_tokens=1200 + case,
        duration_ms=900.0 + case,
    )


def trace(steps: int) -> Trace:
    """A trace in which calls and replies alternate, each of them with a time."""
    made = []
    for number in range(steps):
        moment = NOON + timedelta(milliseconds=100 * number)
        if number % 2:
            made.append(
                Step.llm_call(
                    "gpt-4.1-mini", "Go on.", f"Reply {number}", duration_ms=60, timestamp=moment
                )
            )
        else:
            arguments = {"query": f"returns {number}", "limit": 5}
            found = [{"source": f"page-{number}.md", "text": "Thirty days from the delivery."}]
            made.append(
                Step.tool_call("search_docs", arguments, found, duration_ms=40, timestamp=moment)
            )
    return Trace(
        id=f"t{steps}", input="Money back?", output="Refunded.", steps=made, started_at=NOON
    )


def add_long(store: Store) -> None:
    """A run of one case with a very long trace."""
    record = record_of(RUNS, 1)
    store.create_run(record, plan(record.id)[:1])
    made = result(0, LayerStatus.FAIL)
    store.add(
        record.id,
        [Attempt(position=0, attempt=1, result=made, trace=trace(STEPS))],
        lambda value: value,
    )
    store.finish(record.id, RunState.FINISHED, record.created_at, [])


if __name__ == "__main__":
    main()
