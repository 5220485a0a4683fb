"""How the behaviour of a run differs from an earlier one, a line for each change."""

from __future__ import annotations

from collections.abc import Iterator

from trialrun.model.behaviour import CallChange, Changes


def change_lines(found: Changes) -> list[str]:
    """The changes in words, the worst first: `issue_refund: amount 20 → 200`."""
    lines = [f"{call} is missing" for call in found.missing]
    lines += [f"{call} is extra" for call in found.extra]
    lines += found.arguments
    lines += [line for call in found.changed for line in _outcome(call)]
    lines += [f"{name} moved" for name in found.moved]
    lines += [
        f"{call.name} result: {call.result[0]} → {call.result[1]}"
        for call in found.changed
        if call.result is not None and call.error is None
    ]
    if found.model_calls is not None:
        lines.append(f"model calls: {found.model_calls[0]} → {found.model_calls[1]}")
    if found.ended is not None:
        lines.append(f"ended: {found.ended[0]} → {found.ended[1]}")
    lines += [f"{name}: arguments not recorded on both sides" for name in found.not_recorded]
    lines += [f"{name}: not recorded on both sides" for name in found.not_compared]
    unsure = "not compared: masked, or its pattern is slow"
    return lines + [f"{name} is {unsure}" for name in found.undecided]


def _outcome(call: CallChange) -> Iterator[str]:
    if call.error is None:
        return
    before, after = call.error
    if before is None:
        yield f"{call.name} fails now: {after}"
    else:
        yield f"{call.name} succeeds now; it failed before: {before}"
