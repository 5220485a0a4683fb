"""Where a run came from, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trialrun.reports.views.printable import one_line

_SHORT = 10


def origin_line(origin: Mapping[str, Any]) -> str:
    """Commit, branch, CI, agents, models and labels, as far as they are known; "" if nothing is."""
    parts = []
    if commit := commit_text(origin):
        parts.append(f"commit {commit}")
    for name in ("agents", "models", "labels"):
        if origin.get(name):
            noun = name if len(origin[name]) > 1 else name[:-1]
            parts.append(f"{noun} {', '.join(map(str, origin[name]))}")
    if origin.get("ci_url"):
        parts.append(str(origin["ci_url"]))
    if origin.get("trialrun") and parts:
        parts.append(f"trialrun {origin['trialrun']}")
    return one_line(" · ".join(parts))


def commit_text(origin: Mapping[str, Any]) -> str:
    """`1a2b3c4d5e (main, uncommitted changes)`; "" if the commit is not known."""
    if not origin.get("commit"):
        return ""
    changes = "uncommitted changes" if origin.get("dirty") else None
    about = [str(part) for part in (origin.get("branch"), changes) if part]
    return str(origin["commit"])[:_SHORT] + (f" ({', '.join(about)})" if about else "")
