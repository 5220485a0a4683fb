"""Steps that lie below others, as a file gives them: no step twice, no circle of parents."""

from __future__ import annotations

from typing import Any


def shown(value: object) -> str:
    """The value as code, in short."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "a number of thousands of digits"
    return text if len(text) <= 40 else text[:37] + "..."


def clean_tree(steps: list[Any], notes: list[str]) -> list[Any]:
    """Keep only one of identical steps; remove a `parent_id` that is unknown or circular."""
    named: dict[str, Any] = {}
    kept = []
    for index, step in enumerate(steps):
        name = step.get("id") if isinstance(step, dict) else None
        if isinstance(name, str) and name:
            if name in named and named[name] == step:
                notes.append(f"steps[{index}]: the step {shown(name)} is there twice; counted once")
                continue
            if name in named:
                notes.append(f"steps[{index}]: another step has the id {shown(name)} too")
            named.setdefault(name, step)
        kept.append(step)
    rooted: set[str] = set()
    for index, step in enumerate(kept):
        parent = step.get("parent_id") if isinstance(step, dict) else None
        if isinstance(parent, str) and not _reaches_a_root(step, named, rooted):
            notes.append(f"steps[{index}].parent_id: {shown(parent)} is not above it; removed")
            del step["parent_id"]
    return kept


def _reaches_a_root(step: dict[str, Any], named: dict[str, Any], rooted: set[str]) -> bool:
    """Whether the chain of parents ends at a root, without a cycle or an unknown parent.

    `rooted` caches steps that do, so that a long chain is walked once, not once for each link.
    """
    visited: list[str] = []
    seen = {step.get("id")}
    parent = step.get("parent_id")
    while isinstance(parent, str) and parent not in rooted:
        if parent in seen or parent not in named:
            return False
        seen.add(parent)
        visited.append(parent)
        parent = named[parent].get("parent_id")
    rooted.update(visited)
    return True
