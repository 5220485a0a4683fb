"""`sequence_edit`: how few edits lie between the calls and the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.measures.sequence import sequence_edit
from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class SequenceEditMetric(BuiltInMetric):
    """Similarity by edit distance; undefined without a reference.

    The reference is `reference_tools` of the case, else the calls of the baseline.
    """

    name = "sequence_edit"
    unit = "ratio"
    needs = frozenset({TOOL_CALLS})
    formula = "1 − ED(P, R) / max(|P|, |R|)"
    uses_reference = True

    def measure(
        self, trace: Trace, test_case: EvalCase | None
    ) -> tuple[float | None, dict[str, Any]]:
        reference = None if test_case is None else test_case.reference_tools
        if reference is None:
            return None, {"message": "the case has no reference"}
        return sequence_edit(trace.tool_call_sequence, reference), {"reference": list(reference)}
