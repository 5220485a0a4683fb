"""The path of a run against what was expected, on one line: `search  +search  -answer`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from trialrun.model.paths import CHANGED, EXTRA, GAP, MISSING, MOVED, SAME
from trialrun.model.results import CheckResult

STYLES = {
    SAME: "",
    MISSING: "red",
    EXTRA: "yellow",
    MOVED: "cyan",
    CHANGED: "magenta",
    GAP: "dim",
}
LEGEND = "path: - missing  + extra  ~ at another place  * other arguments, or another outcome"


def path_steps(data: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Mark, name and how many times in a row, of the path in the data of a check; else nothing."""
    path = data.get("path")
    pairs = [step for step in path if _is_step(step)] if isinstance(path, Sequence) else []
    for (mark, name), group in groupby(pairs, key=tuple):
        yield mark, name, len(list(group))


def _is_step(step: Any) -> bool:
    return (
        isinstance(step, (list, tuple))
        and len(step) == 2
        and step[0] in STYLES
        and isinstance(step[1], str)
    )


def path_text(check: CheckResult, shown: Callable[[str], str]) -> str:
    """`search  +search ×2  -answer`, with each name as `shown`."""
    return "  ".join(call_text(*step, shown) for step in path_steps(check.data))


def call_text(mark: str, name: str, times: int, shown: Callable[[str], str]) -> str:
    """One call of the path: `+search ×2`."""
    if mark == GAP:
        return f"{GAP} {shown(name)} {GAP}"
    return f"{shown(mark + name)}{f' ×{times}' if times > 1 else ''}"
