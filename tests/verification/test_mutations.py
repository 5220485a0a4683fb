"""Real sessions, spoiled mechanically: what was verified must not stay verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verification.mutations import WAYS, counted, spoiled
from tests.verification.runs import GREEN, bash, edit
from trialrun import Trace, read_traces
from trialrun.verification import audit

DATA = Path(__file__).parents[1] / "data" / "verification"
SESSIONS = {"cli": 4, "git-sync": 2}
"""Sessions of `tests/data/verification`, and how many verified claims about checks each has."""


def session(name):
    (trace,) = read_traces(DATA / f"{name}.jsonl.gz")
    return trace


def verified(ledger):
    return [one for one in (*ledger.earlier, *ledger.claims) if one.verdict.value == "verified"]


@pytest.mark.parametrize("name", SESSIONS)
def test_an_unchanged_session_is_compliant(name):
    ledger = audit(session(name))
    assert ledger.compliant and not ledger.no_verdict
    assert len(verified(ledger)) == SESSIONS[name]
    assert [one for one in ledger.findings if one.stable] == []


@pytest.mark.parametrize("name", SESSIONS)
def test_no_claim_stays_verified(name):
    found = list(spoiled(session(name)))
    assert {one.way for one in found} == set(WAYS)
    still = [(one.way, one.statement.text) for one in found if one.outcome == "verified"]
    assert still == []


def test_most_of_them_turn_red():
    found = [one for name in SESSIONS for one in spoiled(session(name))]
    outcomes = counted(found)
    for way in WAYS:
        assert outcomes[way]["red"] >= 0.6 * outcomes[way].total(), (way, outcomes[way])


def test_the_tool_spoils_what_it_says():
    """A session of our own: the run is removed, the edit moved behind it, the run turned red."""
    trace = Trace(
        input="Fix it.",
        output="All 12 tests pass.",
        steps=[edit("/r/src/app.py"), bash("cd /r && pytest -q", GREEN)],
    )
    verdicts = {one.way: one.claim.verdict.value for one in spoiled(trace)}
    assert verdicts == {"removed": "unsupported", "moved": "stale", "red": "contradicted"}
    assert audit(trace).compliant
