"""`min_sequence_similarity`: the order of calls is close enough to the reference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Literal

from trialrun.checks._limits import at_least
from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Description, Share, Text, check, fails, is_unknown, passes
from trialrun.measures.ratios import reaches
from trialrun.measures.sequence import edit_of_names, edit_path, lcs_of_names
from trialrun.model.paths import short_path
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace

_SIMILARITY = {"lcs": lcs_of_names, "edit": edit_of_names}


@check(layer="path", needs={TOOL_CALLS})
class MinSequenceSimilarity(Check):
    """Fails when the similarity of the calls to the reference is below this.

    The reference is `reference_tools` of the case, else the calls of the baseline; without either
    the check is unknown. Extra calls cost less with `sequence_metric: lcs` (the default) than with
    `edit`.
    """

    minimum: Share
    sequence_metric: Literal["lcs", "edit"] = "lcs"
    reference_tools: list[Text] | None = None

    shareable: ClassVar = True
    formula: ClassVar = "lcs: 2·LCS(P, R) / (|P| + |R|) · edit: 1 − ED(P, R) / max(|P|, |R|)"
    recommended: ClassVar = "0.6 to 0.8"
    examples: ClassVar = (
        passes(
            0.8,
            tools=["search", "rank", "answer"],
            case={"reference_tools": ["search", "answer"]},
        ),
        passes(1.0, tools=["search"], baseline_tools=["search"]),
        fails(
            0.8,
            tools=["search", "rank", "answer"],
            beside={"sequence_metric": "edit"},
            case={"reference_tools": ["search", "answer"]},
            because="0.67",
        ),
        is_unknown(0.5, tools=["search"], because="no reference"),
        is_unknown(
            0.8,
            tools=["search", "[redacted]"],
            case={"reference_tools": ["search", "answer"]},
            because="redacted",
        ),
    )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        reference = self.reference_tools
        if reference is None:
            if baseline is None or TOOL_CALLS not in baseline.recorded:
                return self.unknown(
                    "no reference to compare with: give `reference_tools` or a baseline"
                )
            reference = baseline.tool_call_sequence
        similarity = _SIMILARITY[self.sequence_metric](trace.tool_call_sequence, reference)
        reached = similarity >= self.minimum or reaches(similarity, self.minimum)
        # A masked name can only raise the similarity, unless the reference has masks too.
        unsure = self._masked if self.reference_tools is not None else any_masked(reference)
        if unsure or (not reached and any_masked(trace.tools_used)):
            return self.redacted("the tools' names")
        return self.pass_result if reached else self.fail_result

    @cached_property
    def _masked(self) -> bool:
        return any_masked(self.reference_tools or ())

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        text, found = self.describe(trace, baseline)
        path = short_path(edit_path(trace.tool_call_sequence, found["wanted"]))
        return text, {**found, "path": path}

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        similarity = self._similarity(trace, baseline)
        return self._text(similarity), {
            "found": similarity,
            "minimum": self.minimum,
            "wanted": self._reference(baseline),
            "calls": trace.tool_call_sequence,
        }

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        return self._text(self._similarity(trace, baseline))

    def _text(self, similarity: float) -> str:
        return at_least(f"sequence_{self.sequence_metric}", similarity, self.minimum)

    def _reference(self, baseline: Trace | None) -> Sequence[str]:
        if self.reference_tools is not None:
            return self.reference_tools
        return baseline.tool_call_sequence if baseline is not None else []

    def _similarity(self, trace: Trace, baseline: Trace | None) -> float:
        compare = _SIMILARITY[self.sequence_metric]
        return compare(trace.tool_call_sequence, self._reference(baseline))
