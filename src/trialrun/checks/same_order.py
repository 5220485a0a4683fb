"""`same_order`: the calls of the run are in the order of its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trialrun.checks._regression import AgainstBaseline
from trialrun.checks.base import check, fails, passes
from trialrun.model.behaviour import Changes
from trialrun.model.trace import TOOL_CALLS, Step

_ASK = Step.llm_call("m", id="ask")
_FIND, _READ = Step.tool_call("find"), Step.tool_call("read")


@check(layer="regression", needs={TOOL_CALLS}, order=30)
class SameOrder(AgainstBaseline):
    """Fails when calls that different replies of the model asked for change places.

    Calls of one reply have no order; where no calls of models were recorded, each call is a reply
    of its own. Skipped if there is no baseline.
    """

    shareable: ClassVar = True
    formula: ClassVar = "moved = ∅ in the best alignment with the baseline"
    when_passed: ClassVar = "the order of the baseline"
    examples: ClassVar = (
        passes(True, tools=["find", "mail"], baseline_tools=["find", "mail"]),
        passes(True, steps=[_ASK, _READ, _FIND], baseline_steps=[_ASK, _FIND, _READ]),
        fails(True, tools=["mail", "find"], baseline_tools=["find", "mail"], because="find moved"),
    )

    def broken(self, found: Changes) -> Sequence[str]:
        return [f"{name} moved" for name in found.moved]
