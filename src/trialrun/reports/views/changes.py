"""How the behaviour of a run differs from an earlier one, a line for each change."""

from __future__ import annotations

from collections.abc import Iterator

from trialrun.model.behaviour import CallChange, Changes


def change_lines(found: Changes) -> list[str]:
    """The changes in words: `issue_refund: amount 20 → 200`, `lookup_order is missing`."""
    texts = [f"{call} is missing" for call in found.missing]
    texts += [f"{call} is extra" for call in found.extra]
    for call in found.changed:
        texts += _of_call(call)
    texts += [f"{name} is called at another place" for name in found.moved]
    texts += [f"{name}: the arguments were not recorded" for name in found.not_recorded]
    return texts


def _of_call(call: CallChange) -> Iterator[str]:
    if call.arguments:
        yield f"{call.name}: {', '.join(map(str, call.arguments))}"
    if call.error is not None:
        before, after = call.error
        yield f"{call.name} fails now: {after}" if before is None else f"{call.name} works now"
    elif call.result is not None:
        yield f"{call.name}: result {call.result[0]} → {call.result[1]}"
