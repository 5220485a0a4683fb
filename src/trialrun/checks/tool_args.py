"""`tool_args`: calls with these arguments were made."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from trialrun.checks._masks import fits_arguments
from trialrun.checks.base import (
    Check,
    Description,
    Text,
    check,
    counted,
    fails,
    is_unknown,
    passes,
    require_deciding_pattern,
)
from trialrun.measures.arguments import MISSING, fits, fits_all, is_matcher
from trialrun.measures.assignment import largest_matching
from trialrun.measures.patterns import shared_limit
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_ARGS, TOOL_CALLS, Step, Trace
from trialrun.redaction import is_masked


class WantedCall(Struct, frozen=True, omit_defaults=True):
    """A call that must have been made, with conditions on its arguments."""

    tool: Text
    args: dict[str, Any] = {}
    exact: bool = False
    only: bool = False


_BOOK = Step.tool_call("book", {"date": "2026-05-01", "seats": 2.0, "note": "aisle"})
_BOOK_LATER = Step.tool_call("book", {"date": "2026-06-01", "seats": 1})


@check(layer="path", needs={TOOL_CALLS, TOOL_ARGS})
class ToolArgs(Check):
    """Fails when a wanted call has no match among the calls that were made.

    An argument is given as a literal value or as a matcher: `{any: true}`, `{regex: "^2026-"}`,
    `{one_of: [a, b]}`, `{approx: 2, within: 0.5}`, `{absent: true}`, also inside nested values.
    Other arguments are allowed unless `exact: true`. Each wanted call is matched to a different
    actual call, and as many as possible are matched, so the order of calls does not matter. With
    `only: true` the tool must not have been called any further.
    """

    calls: Annotated[list[WantedCall], Meta(min_length=1)]

    stricter: ClassVar = {"calls": "more"}
    formula: ClassVar = "a matching of wanted to actual calls that leaves no wanted call out"
    when_passed: ClassVar = "every wanted call was made"
    says_when_passed: ClassVar = True
    examples: ClassVar = (
        passes(
            [
                {
                    "tool": "book",
                    "args": {"date": {"regex": "^2026-"}, "seats": {"approx": 2}},
                }
            ],
            steps=[_BOOK],
        ),
        passes(
            [
                {"tool": "book", "args": {"date": {"any": True}}},
                {"tool": "book", "args": {"seats": 2}},
            ],
            steps=[_BOOK, _BOOK_LATER],
        ),
        fails([{"tool": "book", "args": {"seats": 3}}], steps=[_BOOK], because="seats"),
        fails(
            [{"tool": "book", "args": {"seats": 2}, "exact": True}],
            steps=[_BOOK],
            because="date, note",
        ),
        fails([{"tool": "book"}, {"tool": "book"}], steps=[_BOOK], because="1 call of `book`"),
        fails(
            [{"tool": "book", "args": {"seats": 2}, "only": True}],
            steps=[_BOOK, _BOOK_LATER],
            because="2 calls of `book`, only 1 wanted",
        ),
        is_unknown(
            [{"tool": "book", "args": {"note": {"regex": "(a|aa)+$"}}}],
            steps=[Step.tool_call("book", {"note": "a" * 60 + "!"})],
            because="pattern",
        ),
        is_unknown(
            [{"tool": "login", "args": {"key": "sk-1"}}],
            steps=[Step.tool_call("login", {"key": "[redacted]"})],
            because="redacted",
        ),
    )

    def validate(self) -> None:
        for call in self.calls:
            for value in call.args.values():
                _require_matchers(value)

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        with shared_limit():
            return self._matched(trace.tool_calls)

    def _matched(self, actual: list[Step]) -> CheckResult:
        answers = [
            [_may_be_tool(step, call) and _fits(step, call) for step in actual]
            for call in self.calls
        ]
        given = largest_matching([_where(row, {True}) for row in answers])
        missing = [index for index, found in enumerate(given) if found is None]
        if not missing:
            return self._without_others(actual)
        # If the undecided ones could complete the matching, the result is unknown.
        possible = largest_matching([_where(row, {True, None}) for row in answers])
        if None not in possible:
            if any(is_masked([step.tool_name, step.tool_args]) for step in actual):
                return self.redacted("the calls")
            return self.unknown("a pattern reached its time limit, or arguments were not recorded")
        text = "; ".join(_why_missing(self.calls[index], actual) for index in missing)
        data = {
            "wanted": [_plain(call) for call in self.calls],
            "missing": [_plain(self.calls[index]) for index in missing],
            "steps": [None if found is None else actual[found].id for found in given],
        }
        return self.failed(text, data)

    def describe(self, trace: Trace, baseline: Trace | None) -> Description:
        return self.when_passed, {"wanted": [_plain(call) for call in self.calls]}

    def _without_others(self, actual: list[Step]) -> CheckResult:
        """The result where every wanted call was made: tools with `only` may have no other."""
        closed = dict.fromkeys(call.tool for call in self.calls if call.only)
        if not closed:
            return self.pass_result
        hidden = sum(is_masked(step.tool_name) for step in actual)
        undecided = False
        for tool in closed:
            wanted = sum(call.tool == tool for call in self.calls)
            made = sum(step.tool_name == tool for step in actual)
            if made > wanted:
                text = f"{counted(made, 'call')} of `{tool}`, only {wanted} wanted"
                return self.failed(text, {"tool": tool, "found": made, "limit": wanted})
            undecided |= made + hidden > wanted
        return self.redacted("the tools' names") if undecided else self.pass_result


def _plain(call: WantedCall) -> dict[str, Any]:
    return {"tool": call.tool, "args": call.args}


def _may_be_tool(step: Step, call: WantedCall) -> bool:
    return step.tool_name == call.tool or is_masked(step.tool_name)


def _fits(step: Step, call: WantedCall) -> bool | None:
    if step.tool_args is None:
        return None  # not recorded, which differs from a call without arguments
    if not is_masked(step.tool_args):
        fit = fits_all(step.tool_args, call.args, call.exact)
    else:
        fit = fits_arguments(step.tool_args, call.args, call.exact)
    return None if fit and step.tool_name != call.tool else fit


def _where(row: list[bool | None], accepted: set[bool | None]) -> list[int]:
    return [index for index, answer in enumerate(row) if answer in accepted]


def _why_missing(call: WantedCall, actual: list[Step]) -> str:
    same_tool = [step for step in actual if step.tool_name == call.tool]
    if not same_tool:
        return f"no call of `{call.tool}`"
    fitting = [step for step in same_tool if _fits(step, call)]
    if fitting:
        return (
            f"{counted(len(fitting), 'call')} of `{call.tool}` with these arguments, "
            "but more are wanted"
        )
    reasons = [_misfits(call, step.tool_args or {}) for step in same_tool]
    return f"no call of `{call.tool}` matches; nearest: {min(reasons, key=len)}"


def _misfits(call: WantedCall, args: dict[str, Any]) -> str:
    wrong = [
        f"{key} is {_short(args.get(key, MISSING))}, wanted {_short(value)}"
        for key, value in call.args.items()
        if not fits(args.get(key, MISSING), value, call.exact)
    ]
    extra = sorted(set(args) - set(call.args)) if call.exact else []
    if extra:
        wrong.append(f"not wanted: {', '.join(extra)}")
    return ", ".join(wrong)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _require_matchers(value: Any) -> None:
    """Refuse a matcher that could never match, such as a broken pattern or an empty choice."""
    if is_matcher(value):
        _require_usable(value)
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            _require_matchers(item)


def _require_usable(matcher: dict[str, Any]) -> None:
    if "regex" in matcher:
        if not isinstance(matcher["regex"], str):
            raise ValueError(f"regex: expected text, found {matcher['regex']!r}")
        require_deciding_pattern(matcher["regex"])
    if "one_of" in matcher and (not isinstance(matcher["one_of"], list) or not matcher["one_of"]):
        raise ValueError("one_of: expected a list that is not empty")
    for key in ("approx", "within"):
        _require_number(key, matcher.get(key, 0))
    for key in ("any", "absent"):
        if not isinstance(matcher.get(key, True), bool):
            raise ValueError(f"{key}: expected true or false, found {matcher[key]!r}")


def _require_number(key: str, number: Any) -> None:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise ValueError(f"{key}: expected a number, found {number!r}")
    if not math.isfinite(number) or (key == "within" and number < 0):
        raise ValueError(f"{key}: expected a usable number, found {number!r}")
