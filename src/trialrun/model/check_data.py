"""What a check found, as plain values of bounded size: for programs that read results.

Also the layer whose results are described only when they are read: most of them never are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from trialrun.model.exchanges import shown_object
from trialrun.model.results import CheckResult, LayerResult, LayerStatus

if TYPE_CHECKING:
    from trialrun.checks.base import Check, Description
    from trialrun.model.case import LayerPlan
    from trialrun.model.trace import Step, Trace

LONGEST_MESSAGE = 2000
"""Characters after which a message is cut: it may quote an agent's text of any length."""

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
    if kind is int and value.bit_length() < 64:
        return value
    if kind is list or kind is tuple:
        if left[0] < 0 or depth > _DEEPEST:
            return "…"
        if _is_short_texts(value):
            left[0] -= len(value)
            return list(value)
        return _bounded_items(value, left, depth)
    return _bounded_other(value, left, depth)


def _is_short_texts(items: Sequence[Any]) -> bool:
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
        is_set = isinstance(value, (set, frozenset))
        return _bounded_items(sorted(value, key=str) if is_set else list(value), left, depth)
    text = value if isinstance(value, str) else shown_object(value)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


def _bounded_items(items: Sequence[Any], left: list[int], depth: int) -> list[Any]:
    kept = [_bounded(item, left, depth + 1) for item in items[:MOST_ITEMS]]
    return [*kept, f"… and {len(items) - MOST_ITEMS} more"] if len(items) > MOST_ITEMS else kept


UNREAD: Any = object()
"""Marks a layer that was not read yet. It has no JSON form on purpose: an encoder that meets
it stops, where it would otherwise write the trace in place of the results."""


class JudgedLayer(Struct, eq=False, gc=False):
    """A layer whose results are described when read: equal to the `LayerResult` that it makes.

    It keeps the steps that were judged: the trace may have got others since.
    """

    status: LayerStatus
    plan: LayerPlan
    results: Sequence[CheckResult]
    judged: tuple[Trace, Sequence[Step], Trace | None] | None  # trace, its steps, the baseline
    made: LayerResult = UNREAD

    @property
    def checks(self) -> Sequence[CheckResult]:
        """The results of the checks, with what each of them found."""
        return self.settled().checks

    def _judged(self) -> tuple[Trace, Trace | None]:
        """The trace as it was judged, and the baseline."""
        assert self.judged is not None
        trace, steps, baseline = self.judged
        return (trace if trace.steps is steps else replace(trace, steps=steps)), baseline

    def settled(self, brief: bool = False) -> LayerResult:
        """The layer as plain data; from then on without a reference to the trace.

        `brief`: passes have no data.
        """
        if self.judged is not None:
            trace, baseline = self._judged()
            if brief:
                checks = self._brief(trace, baseline)
            else:
                every = zip(self.plan.checks, self.results, strict=True)
                checks = [described(check, result, trace, baseline) for check, result in every]
            self.made = LayerResult(self.status, tuple(checks))
            self.judged = None
        return self.made

    def _brief(self, trace: Trace, baseline: Trace | None) -> list[CheckResult]:
        """The results; those of passes have no data."""
        plan, found = self.plan, []
        for check, passed, message, result in zip(
            plan.checks, plan.passes, plan.messages, self.results, strict=True
        ):
            if result is not passed:
                result = described(check, result, trace, baseline)
            elif message is not None:
                try:
                    text = message(trace, baseline)
                    if len(text) > LONGEST_MESSAGE:
                        text = check.shortened(text)
                    result = CheckResult(result.name, result.status, result.severity, text)
                except Exception:  # as in `_found`
                    result = passed
            found.append(result)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (LayerResult, JudgedLayer)):
            return NotImplemented
        return self.settled() == other.settled()

    def __repr__(self) -> str:
        return repr(self.settled())

    def __reduce__(self) -> tuple[Any, ...]:
        return LayerResult, (self.status, self.checks)


def _found(
    check: Check, result: CheckResult, trace: Trace, baseline: Trace | None
) -> Description | None:
    """What the check found, if its result does not say so yet."""
    try:
        if result is check.pass_result:
            return check.describe(trace, baseline)
        return check.explain(trace, baseline) if result is check.fail_result else None
    except Exception:  # the verdict is made: no mistake in its description may change it
        return None


def described(
    check: Check, result: CheckResult, trace: Trace, baseline: Trace | None
) -> CheckResult:
    """The result with what the check found; as it is, if the description fails."""
    found = _found(check, result, trace, baseline)
    if found is None:
        return result
    try:
        return (check.passed if result is check.pass_result else check.failed)(*found)
    except Exception:  # as above
        return result
