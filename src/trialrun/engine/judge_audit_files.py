"""Keep judge audits in a file beside the specs, one entry per judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from trialrun.judge.audits import read_audits
from trialrun.model.audit import Audit
from trialrun.util.files import replace_file


def keep_audit(path: Path, audit: Audit) -> None:
    """Write the audit to the file, in place of an earlier one of the same judge.

    Audits of other judges stay. A file that cannot be read is replaced.
    """
    try:
        earlier = read_audits(path)
    except (OSError, ValueError, RecursionError):
        earlier = []
    others = [other for other in earlier if other["identity"] != audit.identity]
    replace_file(path, [audit.to_json() if not others else _together(audit, others)])


def _together(audit: Audit, others: Sequence[Mapping[str, Any]]) -> bytes:
    audits = [msgspec.json.decode(audit.to_json()), *others]
    # Sorted by judge, not by age: a diff then shows what has changed.
    ordered = sorted(audits, key=lambda one: str(one["identity"]))
    return msgspec.json.format(msgspec.json.encode(ordered, order="sorted"), indent=2) + b"\n"
