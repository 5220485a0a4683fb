"""`sequence_lcs`: how close the order of calls is to the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trialrun.measures.sequence import sequence_lcs
from trialrun.metrics.base import BuiltInMetric
from trialrun.trace import TOOL_CALLS, Trace

if TYPE_CHECKING:
    from trialrun.test_case import EvalCase


class SequenceLcsMetric(BuiltInMetric):
    """Similarity by the longest common subsequence; undefined without a reference.

    The reference is `reference_tools` of the case, else the calls of the baseline.
    """

    name = "sequence_lcs"
    unit = "ratio"
    needs = frozenset({TOOL_CALLS})
    formula = "2·LCS(P, R) / (|P| + |R|)"
    uses_reference = True

    def measure(
        self, trace: Trace, test_case: EvalCase | None
    ) -> tuple[float | None, dict[str, Any]]:
        reference = None if test_case is None else test_case.reference_tools
        if reference is None:
            return None, {"message": "the case has no reference"}
        return sequence_lcs(trace.tool_call_sequence, reference), {"reference": list(reference)}
