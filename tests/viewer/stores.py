"""A store with a run of every kind that the viewer shows, made without any agent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.reports.pages import HOSTILE, attempt, calls, run
from trialrun.model.results import CheckResult, CheckStatus, Severity, Verdict, Vote
from trialrun.redaction import Redactor
from trialrun.store import Attempt, PlannedCase, RunRecord, RunState

BEGAN = datetime(2026, 3, 4, 9, tzinfo=UTC)
RULE = "The answer is polite,\nand <b>complete</b>."

FIRST, SECOND, REPEATED, JUDGED, HELD = (
    f"20260304-09{number:02d}00-aaa{number}" for number in range(1, 6)
)


def fill(store) -> None:
    """Two runs of one spec, a repeated one, and one with verdicts of a judge."""
    made = list(run().results.attempts())
    record(store, FIRST, 1, [one for one in made if one[0].attempt == 1], labels=["nightly"])
    changed = attempt(
        {"name": "passing", "correctness": {"expected_in_answer": ["30 days"]}},
        calls()[:2],
        output="No idea.",
    )
    rest = [one for one in made if one[0].attempt == 1 and one[0].case_name != "passing"]
    record(store, SECOND, 2, [changed, *rest], labels=["nightly", HOSTILE])
    spec = {"name": "steady", "correctness": {"expected_in_answer": ["30 days"]}}
    flaky = {**spec, "name": "unsteady"}
    repeats = [attempt(spec, calls(), number=number) for number in (1, 2, 3)]
    repeats += [
        attempt(flaky, calls(), output="No." if number == 2 else "30 days", number=number)
        for number in (1, 2, 3)
    ]
    record(store, REPEATED, 3, repeats, repeat=3)
    record(store, JUDGED, 4, list(map(judged, range(3))), spec="rubrics.yaml")


def judged(number: int):
    """An attempt with a verdict: a pass against the facts, a pass, and none."""
    spec = {"name": f"asked-{number}", "correctness": {"expected_in_answer": ["30 days"]}}
    made = attempt(spec, calls(), output="Sorry." if number == 0 else "30 days. Thank you.")
    result = made[0]
    passed = None if number == 2 else True
    vote = Vote(model="a-judge", score=None if passed is None else 5, rationale=HOSTILE)
    verdict = Verdict(
        rule=RULE, minimum=4, passed=passed, score=vote.score, prompt_version="1", votes=[vote]
    )
    status = CheckStatus.UNKNOWN if passed is None else CheckStatus.PASS
    check = CheckResult("llm_judge", status, Severity.WARN, "4.0", verdicts=[verdict])
    layer = result.layers["correctness"]
    result.settle()
    layer = result.layers["correctness"]
    result.layers["correctness"] = type(layer)(layer.status, (*layer.checks, check))
    return made


def record(
    store, run_id, number, made, *, repeat=1, spec="support.yaml", labels=(), state=None
) -> RunRecord:
    """Record the attempts as a run that is finished, unless another state is given."""
    cases: dict[str, int] = {}
    for result, *_ in made:
        cases.setdefault(result.case_name, len(cases))
    kept = RunRecord(
        id=run_id,
        spec=spec,
        spec_key=f"/shop/{spec}",
        created_at=BEGAN + timedelta(minutes=number),
        planned=len(cases),
        repeat=repeat,
        trialrun="0.2.0",
        origin={
            "commit": f"{number}abcdef0123456789",
            "branch": "main",
            "labels": list(labels),
            "models": ["small-model"],
        },
    )
    redactor = Redactor().plain
    store.create_run(
        kept,
        [
            PlannedCase(position=place, suite="suite", case=name, tags=("policy",))
            for name, place in cases.items()
        ],
        redactor,
    )
    store.add(
        run_id,
        [
            Attempt(
                position=cases[result.case_name],
                attempt=result.attempt,
                fingerprint=result.case_name[:20],
                result=result,
                trace=trace,
            )
            for result, trace, _ in made
        ],
        redactor,
    )
    if state is None:
        state, ended = RunState.FINISHED, kept.created_at + timedelta(seconds=30)
        store.finish(run_id, state, ended, [], redactor)
    return kept
