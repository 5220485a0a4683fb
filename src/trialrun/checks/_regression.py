"""What the checks of the layer `regression` share: the run against its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from trialrun.checks._masks import any_masked
from trialrun.checks.base import Check, Description, Text
from trialrun.model.baseline import changes_from
from trialrun.model.behaviour import CallChange, Changes
from trialrun.model.results import NO_BASELINE, CheckResult
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked

AnyNumber = Annotated[list[Text], Meta(min_length=1)]

ABOUT: dict[str, str] = {
    "any_number": "tools (globs) that may be called any number of times: not compared call by call",
}
_SHOWN = 5


class AgainstBaseline(Check):
    """A check of how the run differs from its baseline."""

    against_baseline: ClassVar = True
    is_flag: ClassVar = True
    about_settings: ClassVar = ABOUT

    asked: bool
    any_number: AnyNumber | None = None

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if baseline is None:
            return self.skipped(NO_BASELINE)
        found = self._changes(trace, baseline)
        if found is None:
            return self.unknown("the tool calls of the run or of its baseline were not recorded")
        unsure = self.why_unknown(found)
        broken = self.broken(found)
        if broken and any_masked((*trace.tools_used, *baseline.tools_used)):
            return self.redacted("the tools' names")
        if broken:
            return self.failed(listed(broken), {"found": broken, **self.details(found)})
        return self.unknown(unsure) if unsure else self.pass_result

    def _changes(self, trace: Trace, baseline: Trace) -> Changes | None:
        return changes_from(baseline, trace, self.any_number or (), is_masked)

    def broken(self, found: Changes) -> Sequence[str]:
        """What differs and must not, one text for each."""
        raise NotImplementedError

    def details(self, found: Changes) -> dict[str, Any]:
        """Further data on a failure: the path, or the tools and the steps that it is about."""
        return {"path": found.path} if found.path else {}

    def why_unknown(self, found: Changes) -> str:
        """Why a pass could not be trusted; "" if it can."""
        return ""

    def describe(self, trace: Trace, baseline: Trace | None) -> Description | None:
        found = None if baseline is None else self._changes(trace, baseline)
        if found is None:
            return None
        data: dict[str, Any] = {"found": [], "matched": found.matched}
        return self.when_passed, data


def of_calls(calls: Sequence[CallChange]) -> dict[str, Any]:
    """The tools and the steps of these calls."""
    return {
        "tools": list(dict.fromkeys(call.name for call in calls)),
        "steps": [call.steps[1] for call in calls],
    }


def listed(texts: Sequence[str]) -> str:
    """The first texts, and how many more there are."""
    more = f"; and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return "; ".join(texts[:_SHOWN]) + more
