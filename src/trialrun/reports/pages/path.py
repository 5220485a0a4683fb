"""The path of an attempt as an edit script: what was expected beside what was called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from trialrun.model.baseline import repeats_of, rules_of
from trialrun.model.behaviour import Call, called, calls_of
from trialrun.model.edit_script import Edit, edit_script
from trialrun.model.results import EvaluationResult
from trialrun.model.trace import TOOL_CALLS, Trace
from trialrun.redaction import is_masked, redact

SIGNS = {"same": "", "changed": "*", "moved": "~", "missing": "−", "extra": "+", "also": "·"}
_WEIGHTS = {"missing": 3, "extra": 3, "changed": 2, "moved": 1}
_MOST_LINES = 500
Mask = Callable[[str], str]


class PathLine(Struct, frozen=True):
    """One line: the sign and the two sides; `step` is the number of the step, 0 for none."""

    kind: str
    sign: str
    expected: str
    made: str
    step: int
    notes: Sequence[str]


class Path(Struct, frozen=True):
    """The lines, and what they are compared with."""

    against: str
    lines: Sequence[PathLine]
    left_out: int = 0

    @property
    def differs(self) -> bool:
        """Whether any line is not the same on both sides."""
        return any(line.kind not in ("same", "also") for line in self.lines)


def path_of(
    result: EvaluationResult, trace: Trace, baseline: Trace | None, mask: Mask = redact
) -> Path | None:
    """The path against the baseline, else against the calls that a check asks for; else None."""
    if TOOL_CALLS not in trace.recorded:
        return None
    if baseline is not None and TOOL_CALLS in baseline.recorded:
        made, rules = calls_of(trace), rules_of(baseline)
        scripts = [
            edit_script(calls_of(repeat), made, rules, is_masked)
            for repeat in repeats_of(baseline)[:20]
            if TOOL_CALLS in repeat.recorded
        ]
        return _path("the baseline", min(scripts, key=_weight), trace, redact)
    wanted = _wanted(result)
    if wanted is None:
        return None
    check, names, extra_is_wrong, in_order = wanted
    if not extra_is_wrong and _has_all(names, trace):
        return Path(check, ())  # the usual case: nothing to align, and nothing to show
    made = calls_of(trace)
    # Calls of one reply have no order: a check that ignores order gets all calls as one reply
    # (number 0), any other check each call as a reply of its own.
    expected = [Call(name, None, reply=place * in_order) for place, name in enumerate(names)]
    unlike = [
        Call(call.name, None, reply=place * in_order, step=call.step)
        for place, call in enumerate(made)
    ]
    script = edit_script(expected, unlike)
    full = {call.step: call for call in made}
    lines = [
        Edit(edit.kind, edit.expected, full[edit.made.step] if edit.made else None)
        for edit in script
    ]
    return _path(check, lines, trace, mask, "extra" if extra_is_wrong else "also")


def _has_all(names: Sequence[str], trace: Trace) -> bool:
    """Whether each of them was called. Not where calls failed: they may not count."""
    left = list(trace.tool_call_sequence)
    for name in names:
        if name not in left:
            return False
        left.remove(name)
    return not trace.failed_calls


def _weight(script: Sequence[Edit]) -> int:
    return sum(_WEIGHTS.get(edit.kind, 0) for edit in script)


def _wanted(result: EvaluationResult) -> tuple[str, list[str], bool, bool] | None:
    """The check with the most to say about the path: its name, and its tools.

    Then whether more calls are wrong, and whether calls in another order are.
    """
    found = [
        (check.name, list(wanted), "edits" in data or bool(data.get("extra")), "edits" in data)
        for check in result.layers["path"].checks
        if isinstance(wanted := (data := check.data).get("wanted"), (list, tuple))
        and isinstance(data.get("found"), (list, tuple))
        and all(isinstance(name, str) for name in wanted)
    ]
    # One about the sequence of calls says more than one about which tools were called at all.
    found.sort(key=lambda one: (not one[2], -len(one[1])))
    return found[0] if found else None


def _path(
    against: str, script: Sequence[Edit], trace: Trace, mask: Mask, extra: str = "extra"
) -> Path:
    numbers = {step.id: index for index, step in enumerate(trace.steps, 1)}
    lines = [_line(edit, numbers, extra, mask) for edit in script[:_MOST_LINES]]
    return Path(against, lines, max(0, len(script) - _MOST_LINES))


def _line(edit: Edit, numbers: Mapping[str, int], extra: str, mask: Mask) -> PathLine:
    kind = extra if edit.kind == "extra" else edit.kind
    notes = []
    change = edit.change
    if change is not None:
        notes += [str(one) for one in change.arguments]
        if change.error is not None:
            before, after = change.error
            notes.append(f"fails now: {after}" if before is None else f"failed before: {before}")
        if change.result is not None:
            notes.append(f"result {change.result[0]} → {change.result[1]}")
    made = edit.made
    if made is not None and made.error is not None and change is None:
        notes.append(f"failed: {made.error}")
    return PathLine(
        kind,
        SIGNS[kind],
        "" if edit.expected is None else mask(called(edit.expected)),
        "" if made is None else mask(called(made)),
        0 if made is None else numbers.get(made.step, 0),
        [mask(note) for note in notes],
    )
