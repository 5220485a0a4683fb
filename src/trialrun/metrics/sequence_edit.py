"""`sequence_edit`: similarity of the calls to the reference by edit distance."""

from __future__ import annotations

from trialrun.measures.sequence import sequence_edit
from trialrun.metrics._compared import OrderMetric


class SequenceEditMetric(OrderMetric):
    """Similarity by edit distance; undefined without a reference.

    The reference is `reference_tools` of the case, else the calls of the baseline.
    """

    name = "sequence_edit"
    formula = "1 − ED(P, R) / max(|P|, |R|)"

    def compare(self, calls: list[str], reference: list[str]) -> float:
        return sequence_edit(calls, reference)
