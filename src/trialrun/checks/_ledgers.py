"""What the checks of verification have in common: the ledger, and what a spec adds to it."""

from __future__ import annotations

from typing import Literal

import msgspec

from trialrun.checks.base import Check
from trialrun.ledger_results import Ledger
from trialrun.redaction import is_masked
from trialrun.results import CheckResult
from trialrun.trace import TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS, Step, Trace
from trialrun.verification.settings import OwnRunner, OwnTools, Settings, settings_of

BEHIND_A_CALL = frozenset({TOOL_ARGS, TOOL_RESULTS})
"""What has to be on record of each call for the ledger to say anything about it."""


class LedgerCheck(Check):
    """A check on what the evidence ledger of the run says."""

    wanted: bool | float
    tools: OwnTools | None = None
    runners: list[OwnRunner] = msgspec.field(default_factory=list)
    phrases: dict[str, list[str]] | None = None
    claims: Literal["phrases", "judge"] = "phrases"

    def __post_init__(self) -> None:
        self.__dict__["settings"] = None
        # The statements that the phrases leave over are put to a judge: then it is one of those
        # checks that cost money, and waits for its turn among them.
        self.__dict__["judged"] = self.claims == "judge"
        super().__post_init__()

    def validate(self) -> None:
        self.__dict__["settings"] = settings_of(self.tools, self.runners, self.phrases)

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        reason = self.why_unknown(trace)
        return self.concluded(trace) if reason is None else reason

    def concluded(self, trace: Trace, claimed: frozenset[str] | None = None) -> CheckResult:
        """What the ledger says; `claimed` are statements that a judge takes for claims."""
        from trialrun.verification import audit

        settings: Settings | None = self.__dict__["settings"]
        ledger = audit(trace, settings, claimed)
        if ledger.empty:  # an agent that does nothing and says nothing has proven nothing
            return self.unknown("no call is on record, and the answer claims and shows nothing")
        return self.decide(ledger)

    def why_unknown(self, trace: Trace) -> CheckResult | None:
        """Why nothing can be said about this run, if so."""
        seen = TOOL_CALLS in trace.recorded and bool(trace.tool_calls)
        if seen and not trace.recorded >= BEHIND_A_CALL:
            missing = ", ".join(sorted(BEHIND_A_CALL - trace.recorded))
            return self.unknown(f"not recorded in this trace: {missing}")
        if is_masked(trace.output) or any(_is_masked(step) for step in trace.tool_calls):
            return self.redacted("the answer, of calls or of results")
        return None

    def decide(self, ledger: Ledger) -> CheckResult:
        """What the ledger means to this check."""
        raise NotImplementedError


def _is_masked(step: Step) -> bool:
    return is_masked([step.tool_name, step.tool_args, step.tool_result])


# For the examples of the checks: an edit, and runs of its tests.
EDIT = Step.tool_call("Edit", {"file_path": "/app/tax.py", "new_string": "x"}, "updated")
TESTED = Step.tool_call("Bash", {"command": "cd /app && pytest -q"}, "12 passed in 0.2s")
BROKEN = Step.tool_call("Bash", {"command": "cd /app && pytest -q"}, "1 failed, 11 passed in 0.2s")
