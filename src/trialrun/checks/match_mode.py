"""`match_mode`: how the calls must relate to the calls of the reference."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import ClassVar, Literal

from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Description, Text, check, fails, is_unknown, passes
from trialrun.measures.matching import matches
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Trace


@check(layer="path", needs={TOOL_CALLS})
class MatchMode(Check):
    """Fails when the calls P do not match the reference R in this mode.

    `strict`: the same list. `unordered`: the same set. `subset`: every tool of the reference was
    used, others may be. `superset`: no tool outside the reference was used. Other evaluation tools
    use these words with other meanings. If a case has a path block and a reference but no
    `match_mode`, `subset` is checked. A `match_mode` without a reference is unknown.
    """

    mode: Literal["strict", "unordered", "subset", "superset"]
    reference_tools: list[Text] | None = None

    shareable: ClassVar = True
    formula: ClassVar = (
        "strict P == R · unordered set(P) == set(R) · subset set(R) ⊆ set(P) · "
        "superset set(P) ⊆ set(R)"
    )
    when_passed: ClassVar = "the calls match the reference"
    examples: ClassVar = (
        passes("subset", tools=["a", "b"], case={"reference_tools": ["b"]}),
        passes("unordered", tools=["a", "b"], baseline_tools=["b", "a"]),
        fails("strict", tools=["a", "b"], case={"reference_tools": ["b", "a"]}, because="strict"),
        fails("subset", tools=["a"], case={"reference_tools": ["b"]}, because="missing: b"),
        fails("superset", tools=["a", "b"], case={"reference_tools": ["b"]}, because="extra: a"),
        is_unknown("strict", tools=["a"], because="no reference"),
        is_unknown(
            "subset", tools=["[redacted]"], case={"reference_tools": ["b"]}, because="redacted"
        ),
    )

    @cached_property
    def _reference_set(self) -> frozenset[str]:
        return frozenset(self.reference_tools or ())

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        reference: Collection[str]
        if self.reference_tools is not None:
            reference = self.reference_tools if self.mode == "strict" else self._reference_set
        elif baseline is not None and TOOL_CALLS in baseline.recorded:
            strict = self.mode == "strict"
            reference = baseline.tool_call_sequence if strict else baseline.tools_used
        else:
            return self.unknown(
                "no reference to compare with: give `reference_tools` or a baseline"
            )
        calls = trace.tool_call_sequence if self.mode == "strict" else trace.tools_used
        matched = matches(calls, reference, self.mode)
        # A masked name can turn a mismatch into a match, but not the reverse, unless the reference
        # has masks too.
        unsure = self._masked if self.reference_tools is not None else any_masked(reference)
        if unsure or (not matched and any_masked(trace.tools_used)):
            return self.redacted("the tools' names")
        return self.pass_result if matched else self.fail_result

    @cached_property
    def _masked(self) -> bool:
        return any_masked(self.reference_tools or ())

    def _reference(self, baseline: Trace | None) -> Sequence[str]:
        if self.reference_tools is not None:
            return self.reference_tools
        return baseline.tool_call_sequence if baseline is not None else []

    def explain(self, trace: Trace, baseline: Trace | None) -> Description:
        calls, reference = trace.tool_call_sequence, self._reference(baseline)
        missing, extra = sorted(set(reference) - set(calls)), sorted(set(calls) - set(reference))
        found = [f"missing: {', '.join(missing)}"] if missing and self.mode != "superset" else []
        if extra and self.mode != "subset":
            found.append(f"extra: {', '.join(extra)}")
        if not found:
            found.append("the same tools, but not in the same order or number")
        data = {"mode": self.mode, "wanted": reference, "found": calls, "missing": missing}
        text = f"`{self.mode}` does not hold; {'; '.join(found)}"
        return text, data | {"extra": extra}

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        reference = self._reference(baseline)
        data = {"mode": self.mode, "wanted": reference, "found": trace.tool_call_sequence}
        return self.message(trace, baseline), data

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        return f"`{self.mode}` fits the reference"
