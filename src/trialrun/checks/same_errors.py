"""`same_errors`: no call fails that succeeded in the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from trialrun.checks._regression import AgainstBaseline, of_calls
from trialrun.checks.base import check, fails, is_unknown, passes
from trialrun.model.behaviour import Changes
from trialrun.model.trace import TOOL_CALLS, Step, StepStatus

_FIND = Step.tool_call("find", {}, ["a.md"])
_BROKEN = Step.tool_call("find", {}, error="timeout")
_ASKED = Step.tool_call("find", {}, status=StepStatus.PENDING)


@check(layer="regression", needs={TOOL_CALLS}, order=40)
class SameErrors(AgainstBaseline):
    """Fails when a call that succeeded in the baseline fails now.

    A failed call that is repeated with success does not count. A call that failed before and
    succeeds now is a change, but no failure of this check. Skipped if there is no baseline.
    """

    formula: ClassVar = "no matched call succeeded before and fails now"
    when_passed: ClassVar = "no call fails that succeeded"
    examples: ClassVar = (
        passes(True, steps=[_FIND], baseline_steps=[_FIND]),
        passes(True, steps=[_BROKEN, _FIND], baseline_steps=[_FIND]),
        passes(True, steps=[_FIND], baseline_steps=[_BROKEN]),
        fails(True, steps=[_BROKEN], baseline_steps=[_FIND], because="find fails now"),
        is_unknown(True, steps=[_ASKED], baseline_steps=[_FIND], because="was not recorded: find"),
    )

    def broken(self, found: Changes) -> Sequence[str]:
        return found.failures

    def details(self, found: Changes) -> dict[str, Any]:
        return of_calls([call for call in found.changed if call.fails_now])

    def why_unknown(self, found: Changes) -> str:
        names = ", ".join(dict.fromkeys(found.unsettled))
        return f"whether these calls failed was not recorded: {names}" if names else ""
