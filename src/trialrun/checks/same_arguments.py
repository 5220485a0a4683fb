"""`same_arguments`: the calls of the run have the arguments of its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from trialrun.checks._regression import AgainstBaseline, of_calls
from trialrun.checks.base import check, fails, is_unknown, passes
from trialrun.model.behaviour import Changes
from trialrun.model.trace import TOOL_CALLS, Step, StepType

_REFUND = Step.tool_call("refund", {"order": "12", "amount": 20})
_TENFOLD = Step.tool_call("refund", {"order": "12", "amount": 200})


@check(layer="regression", needs={TOOL_CALLS}, order=20)
class SameArguments(AgainstBaseline):
    """Fails when an argument breaks its rule in the baseline file.

    The rules are `exact` (the default), `same_type`, `ignore`, `same_set`, `{regex: …}` and
    `{within: …}`. Calls that only one of the runs made are left to `same_calls`, and arguments that
    were masked are not compared. Skipped if there is no baseline.
    """

    formula: ClassVar = "∀ matched calls, ∀ arguments: rule(before, after)"
    when_passed: ClassVar = "the arguments of the baseline"
    examples: ClassVar = (
        passes(True, steps=[_REFUND], baseline_steps=[_REFUND]),
        fails(True, steps=[_TENFOLD], baseline_steps=[_REFUND], because="refund: amount 20 → 200"),
        is_unknown(
            True,
            steps=[Step(type=StepType.TOOL_CALL, tool_name="refund")],
            baseline_steps=[_REFUND],
            because="not recorded",
        ),
    )

    def broken(self, found: Changes) -> Sequence[str]:
        return found.arguments

    def details(self, found: Changes) -> dict[str, Any]:
        return of_calls([call for call in found.changed if call.arguments])

    def why_unknown(self, found: Changes) -> str:
        names = ", ".join(dict.fromkeys(found.not_recorded))
        if names:
            return f"the arguments were not recorded on both sides: {names}"
        unsure = ", ".join(dict.fromkeys(found.undecided))
        return f"masked, or its pattern took too long to search: {unsure}" if unsure else ""
