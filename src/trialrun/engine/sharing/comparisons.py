"""A comparison of two runs as it may be shared: what changed where, without what it changed to."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from trialrun.model.behaviour import ArgumentChange, CallChange, Changes
from trialrun.model.comparison import CaseChange, Comparison, LeftOut, Loosened
from trialrun.model.withheld import LEFT_OUT, Withheld
from trialrun.redaction import masks_in

_OTHER = f"{LEFT_OUT}, another one"
_FAILED = " (failed)"
_LEFT_OUT_CASES = ("only_before", "only_after", "no_verdict_before", "no_verdict_after")


def shared_comparison(found: Comparison) -> Comparison:
    """The comparison without answers, arguments, results and errors."""
    withheld = Withheld()
    cases = {name: _cases(getattr(found, name), withheld) for name in _LEFT_OUT_CASES}
    return replace(
        found,
        **cases,
        not_comparable=_cases(found.not_comparable, withheld),
        stricter=_cases(found.stricter, withheld),
        loosened=[_loosened(case, withheld) for case in found.loosened],
        changes=[_change(change, withheld) for change in found.changes],
        masked=masks_in(found.texts),
        withheld=withheld,
    )


def _cases(cases: Sequence[LeftOut], withheld: Withheld) -> list[LeftOut]:
    return [replace(case, error=withheld.text("reason", case.error)) for case in cases]


def _loosened(case: Loosened, withheld: Withheld) -> Loosened:
    """`correctness.not_in_answer changed`: settings may hold what the answer should be."""
    what = []
    for text in case.what:
        name, _, rest = text.partition(" ")
        if rest not in ("removed", "rewritten"):
            withheld.add("setting")
            rest = "changed"
        what.append(f"{name} {rest}")
    return replace(case, what=what)


def _change(change: CaseChange, withheld: Withheld) -> CaseChange:
    before, after = change.before.answer, change.after.answer
    withheld.add("answer", (before is not None) + (after is not None))
    other = LEFT_OUT if before == after else _OTHER
    return replace(
        change,
        before=replace(change.before, answer=None if before is None else LEFT_OUT),
        after=replace(change.after, answer=None if after is None else other),
        stop=_stop(change.stop),
        behaviour=None if change.behaviour is None else shared_changes(change.behaviour, withheld),
    )


def _stop(pair: tuple[str | None, str | None] | None) -> tuple[str | None, str | None] | None:
    """How the two runs ended, in words such as `length`: a recorder may write anything there."""
    if pair is None:
        return None
    before, after = (one if one is None or one.isidentifier() else LEFT_OUT for one in pair)
    return before, after


def shared_changes(found: Changes, withheld: Withheld) -> Changes:
    """How the calls differ, with the names of the tools alone."""
    return replace(
        found,
        changed=[_call(call, withheld) for call in found.changed],
        missing=[_name(call, withheld) for call in found.missing],
        extra=[_name(call, withheld) for call in found.extra],
        undecided=[name.partition(": ")[0] for name in found.undecided],
    )


def _name(call: str, withheld: Withheld) -> str:
    """`issue_refund` of `issue_refund(order_id: "12")`, the rest of which are arguments."""
    name, bracket, _ = call.removesuffix(_FAILED).partition("(")
    withheld.add("argument", bool(bracket))
    return name + (_FAILED if call.endswith(_FAILED) else "")


def _call(call: CallChange, withheld: Withheld) -> CallChange:
    withheld.add("argument", len(call.arguments))
    withheld.add("result", call.result is not None)
    error = call.error
    if error is not None:
        before, after = (withheld.text("error", one) for one in error)
        error = before, after
    return replace(
        call,
        arguments=[_argument(one) for one in call.arguments],
        result=None if call.result is None else (LEFT_OUT, _OTHER),
        error=error,
    )


def _argument(one: ArgumentChange) -> ArgumentChange:
    before, after = (None if text is None else LEFT_OUT for text in (one.before, one.after))
    return ArgumentChange("an argument", before, after, more=one.more)
