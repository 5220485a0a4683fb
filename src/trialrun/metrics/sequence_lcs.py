"""`sequence_lcs`: similarity of the calls to the reference by longest common subsequence."""

from __future__ import annotations

from trialrun.measures.sequence import sequence_lcs
from trialrun.metrics._compared import OrderMetric


class SequenceLcsMetric(OrderMetric):
    """Similarity by the longest common subsequence; undefined without a reference.

    The reference is `reference_tools` of the case, else the calls of the baseline.
    """

    name = "sequence_lcs"
    formula = "2·LCS(P, R) / (|P| + |R|)"

    def compare(self, calls: list[str], reference: list[str]) -> float:
        return sequence_lcs(calls, reference)
