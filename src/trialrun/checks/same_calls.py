"""`same_calls`: the run makes the calls of its baseline, no fewer and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trialrun.checks._regression import AgainstBaseline
from trialrun.checks.base import check, fails, passes
from trialrun.model.behaviour import Changes
from trialrun.model.trace import TOOL_CALLS


@check(layer="regression", needs={TOOL_CALLS}, order=10)
class SameCalls(AgainstBaseline):
    """Fails when a call of the baseline is missing, or a call is extra.

    Equal calls count. With a baseline of several passing repeats, any one of their paths will do. A
    failed call that is repeated with success counts as one call; so does a failed call that is
    repeated with other arguments, if a passing repeat did that with the same tool. Tool calls,
    handoffs and retrievals count, calls of models do not. Skipped if there is no baseline.
    """

    formula: ClassVar = "missing = extra = ∅ in the best alignment with the baseline"
    when_passed: ClassVar = "the calls of the baseline"
    examples: ClassVar = (
        passes(True, tools=["find", "refund"], baseline_tools=["find", "refund"]),
        passes(
            True,
            tools=["find", "find", "refund"],
            baseline_tools=["find", "refund"],
            beside={"any_number": ["find*"]},
        ),
        fails(True, tools=["refund"], baseline_tools=["find", "refund"], because="find is missing"),
        fails(True, tools=["refund"] * 2, baseline_tools=["refund"], because="refund is extra"),
    )

    def broken(self, found: Changes) -> Sequence[str]:
        return [
            *(f"{call} is missing" for call in found.missing),
            *(f"{call} is extra" for call in found.extra),
        ]

    def why_unknown(self, found: Changes) -> str:
        names = ", ".join(dict.fromkeys(found.not_compared))
        return f"calls of this kind were not recorded on both sides: {names}" if names else ""
