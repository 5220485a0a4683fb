"""Where a finding of `trialrun verify` points to, for reports that show findings beside code."""

from __future__ import annotations

from trialrun.model.ledger import Finding
from trialrun.model.verified import Session

LEVELS = {"": "error", "warning": "warning", "preview": "note"}
"""What `weight_of` says of a finding → the level by the names of SARIF."""


def file_of(session: Session, finding: Finding) -> str:
    """The changed file, relative to the folder of the session where it is in it; else ""."""
    target = finding.target
    root = session.cwd.rstrip("/")
    if root and target.startswith(root + "/"):
        target = target[len(root) + 1 :]
    # A path outside of the project is not one that a viewer of code could show.
    outside = target.startswith(("/", "~", "..")) or ":" in target
    return "" if outside else target
