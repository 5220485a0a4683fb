"""Take the behaviour of a stored run as the new baseline, case by case, after a look at it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from trialrun.engine.baseline_files import Redact, is_against_baseline, locked, write
from trialrun.engine.baseline_saving import (
    MOST_REPEATS,
    Saved,
    choose,
    planned_cases,
    why_not_sound,
)
from trialrun.engine.regrade import MatchedTrace, Regrader
from trialrun.engine.stored_run import AskedIn
from trialrun.model.baseline import changes_from, repeats_of
from trialrun.model.behaviour import Changes, short_text
from trialrun.model.case import Suite
from trialrun.model.results import CheckStatus
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked
from trialrun.store.records import Attempt, RunRecord

if TYPE_CHECKING:
    from trialrun.store.store import Store


class Proposal(Struct, kw_only=True):
    """What accepting a case would change; `refused` says why it cannot be accepted.

    `changes` has the differences of each attempt from the baseline, `others` those of answers and
    of what the multipliers compare. `had` and `has` are the numbers of attempts, before and after.
    """

    case: str
    file: Path | None = None
    refused: str | None = None
    changes: list[Changes] = []
    others: list[str] = []
    attempts: list[Attempt] = []
    had: int = 0
    is_broken: bool = False  # it differs from its baseline, or cannot be compared with it

    @property
    def has(self) -> int:
        """How many attempts the new baseline is made from."""
        return len(self.attempts)


def proposals(
    store: Store,
    record: RunRecord,
    suites: Sequence[Suite],
    folder: Path | None,
    saved: Saved,
    *,
    names: Collection[str] = (),
    agent: str | None = None,
    allows_errors: bool = False,
) -> list[Proposal]:
    """What accepting each of the named cases, or of all, would change.

    Without names, those that do not differ from their baselines come without their attempts.
    """
    positions = planned_cases(store, record, names, agent)
    labels = {case.position: (case.suite, case.case) for case in store.plan(record.id)}
    regrader = Regrader(suites, labels, folder, None, [])
    asked = AskedIn(store, record)
    found = []
    for (_, case), position in positions.items():
        attempts = list(store.attempts(record.id, [position]))
        regrader.asked = asked.of(attempts)
        one = _proposal(case, attempts, regrader, saved, allows_errors)
        if not one.is_broken and not names:  # a run may have thousands of cases
            one.changes, one.attempts = [], []
        found.append(one)
    return found


def _proposal(
    case: str, attempts: Sequence[Attempt], regrader: Regrader, saved: Saved, allows_errors: bool
) -> Proposal:
    one = Proposal(case=case)
    matched = [regrader.match(attempt) for attempt in attempts]
    known = next((match for match in matched if isinstance(match, MatchedTrace)), None)
    if known is None:
        reasons = [match for match in matched if isinstance(match, str)]
        one.refused = reasons[0] if reasons else "it was not run"
        one.is_broken = True
        return one
    one.file = regrader.baselines.file_of(known.planned.suite, known.planned.case)
    if one.file is None or known.baseline is None:
        one.refused = f"it has no baseline yet; `trialrun baseline save --case {case}` makes one"
        return one
    one.had = len(repeats_of(known.baseline))
    any_number = known.planned.case.setting("regression", "any_number") or ()
    _compare(one, attempts, known.baseline, any_number)
    before = len(saved.failed_calls)
    one.attempts = choose(case, attempts, saved, known.baseline, True, allows_errors)
    if not one.attempts:
        failed = saved.failed_calls[before:]
        one.refused = "a call failed" if failed else why_not_sound(attempts[0])
    return one


def _compare(
    one: Proposal, attempts: Sequence[Attempt], baseline: Trace, any_number: Sequence[str]
) -> None:
    answers = {repeat.answer_text for repeat in repeats_of(baseline)}
    others: dict[str, None] = {}
    for attempt in attempts[:MOST_REPEATS]:
        for layer, check in attempt.result.checks():
            if is_against_baseline(layer, check) and check.status is not CheckStatus.PASS:
                one.is_broken |= check.status is not CheckStatus.SKIPPED
                if layer != "regression" or check.name == "max_latency_multiplier":
                    others[f"{check.name}: {check.message}"] = None
        if attempt.trace is None:
            continue
        found = changes_from(baseline, attempt.trace, any_number, is_masked)
        if found is not None:
            one.is_broken |= any(found.weight())
            one.changes.append(found)
        answer = attempt.trace.answer_text
        if answer not in answers:
            old = short_text(baseline.answer_text or "")
            others[f"answer: {old} → {short_text(answer or '')}"] = None
    one.others = list(others)


def accept(accepted: Sequence[Proposal], redact: Redact, saved: Saved) -> None:
    """Write the baselines. Rules stay: they say what may vary, not what the agent does."""
    for one in accepted:
        assert one.file is not None
        with locked(one.file.parent):
            saved.written.append(write(one.file, one.attempts, redact, keeps_rules=True))
