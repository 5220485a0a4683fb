"""What a check found, as plain values of bounded size: for programs that read results.

Also the layer in which every check passed: it is described only when it is read, because
passing is common and most passes are never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from trialrun.model.exchanges import shown_object
from trialrun.model.results import CheckResult, LayerResult, LayerStatus, Reason

if TYPE_CHECKING:
    from trialrun.checks.base import Check
    from trialrun.model.case import LayerPlan
    from trialrun.model.trace import Step, Trace

LONGEST_TEXT = 300
MOST_ITEMS = 50
_MOST_PARTS = 200
_DEEPEST = 6


def bounded_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values as plain JSON: long texts and lists are cut, other objects become text."""
    left = [_MOST_PARTS]
    return {str(key)[:LONGEST_TEXT]: _bounded(value, left, 0) for key, value in data.items()}


def _bounded(value: Any, left: list[int], depth: int) -> Any:
    left[0] -= 1
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT] + "…"
    if kind is float and isfinite(value):
        return value
    if kind is list and _is_short_texts(value) and left[0] >= 0 and depth <= _DEEPEST:
        left[0] -= len(value)
        return value.copy()
    return _bounded_other(value, left, depth)


def _is_short_texts(items: list[Any]) -> bool:
    """Whether it is a list, such as of tools' names, in which nothing has to be cut or converted.

    Most lists are: looking at them as a whole takes a tenth of looking at each item.
    """
    if len(items) > MOST_ITEMS or set(map(type, items)) - _TEXT_ONLY:
        return False
    return sum(map(len, items)) <= LONGEST_TEXT


_TEXT_ONLY = {str}


def _bounded_other(value: Any, left: list[int], depth: int) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() < 64 else str(value)[:LONGEST_TEXT]
    if isinstance(value, float):
        return float(value) if isfinite(value) else str(value)
    if isinstance(value, Mapping) or (
        isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (str, bytes))
    ):
        if left[0] < 0 or depth > _DEEPEST:
            return "…"
        if isinstance(value, Mapping):
            pairs = list(value.items())[:MOST_ITEMS]
            return {str(key)[:LONGEST_TEXT]: _bounded(one, left, depth + 1) for key, one in pairs}
        items = sorted(value, key=str) if isinstance(value, (set, frozenset)) else list(value)
        kept = [_bounded(item, left, depth + 1) for item in items[:MOST_ITEMS]]
        return [*kept, f"… and {len(items) - MOST_ITEMS} more"] if len(items) > MOST_ITEMS else kept
    text = value if isinstance(value, str) else shown_object(value)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


UNREAD: Any = object()
"""Marks a layer that was not read yet. It has no JSON form on purpose: an encoder that meets
it stops, where it would otherwise write the trace in place of the results."""


class PassedLayer(Struct, eq=False, gc=False):
    """A layer in which every check passed: equal to the `LayerResult` that it makes when read.

    It keeps the steps that were judged: the trace may have got others since.
    """

    status: ClassVar[LayerStatus] = LayerStatus.PASS

    plan: LayerPlan
    judged: tuple[Trace, Sequence[Step], Trace | None] | None  # trace, its steps, the baseline
    made: LayerResult = UNREAD

    @property
    def checks(self) -> Sequence[CheckResult]:
        """The results of the checks, with what each of them found."""
        return self.settled().checks

    def reasons(self) -> list[Reason]:
        """The checks without their data, which takes longer to make than the rest."""
        if self.judged is None:
            return self.made.reasons()
        trace, baseline = self._judged()
        return [_reason(check, trace, baseline) for check in self.plan.checks]

    def _judged(self) -> tuple[Trace, Trace | None]:
        """The trace as it was judged, and the baseline."""
        assert self.judged is not None
        trace, steps, baseline = self.judged
        return (trace if trace.steps is steps else replace(trace, steps=steps)), baseline

    def settled(self) -> LayerResult:
        """The layer as plain data; from then on without a reference to the trace."""
        if self.judged is not None:
            trace, baseline = self._judged()
            checks = [described(check, trace, baseline) for check in self.plan.checks]
            self.made = LayerResult(self.status, tuple(checks))
            self.judged = None
        return self.made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (LayerResult, PassedLayer)):
            return NotImplemented
        return self.settled() == other.settled()

    def __repr__(self) -> str:
        return repr(self.settled())

    def __reduce__(self) -> tuple[Any, ...]:
        return LayerResult, (self.status, self.checks)


def _reason(check: Check, trace: Trace, baseline: Trace | None) -> Reason:
    """The pass as name, status, severity and message."""
    passed = check.pass_result
    try:
        found = check.describe(trace, baseline)
        text = passed.message if found is None else check.shortened(found[0])
    except Exception:  # as in `described`
        text = passed.message
    return passed.name, passed.status, passed.severity, text


def described(check: Check, trace: Trace, baseline: Trace | None) -> CheckResult:
    """The pass of the check with what it found; without, if the description fails."""
    try:
        found = check.describe(trace, baseline)
        return check.pass_result if found is None else check.passed(*found)
    except Exception:  # the verdict is made: no mistake in its description may change it
        return check.pass_result
