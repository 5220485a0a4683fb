"""Audits kept beside specs: one for each judge, since specs of one folder may have several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from trialrun.judge.audits import read_audits
from trialrun.model.audit import Audit
from trialrun.util.files import replace_file


def keep_audit(path: Path, audit: Audit) -> None:
    """Put it into the file, in place of an earlier one of the same judge; others stay.

    What cannot be read speaks for nobody, and is replaced.
    """
    try:
        earlier = read_audits(path)
    except (OSError, ValueError, RecursionError):
        earlier = []
    others = [other for other in earlier if other["identity"] != audit.identity]
    replace_file(path, [audit.to_json() if not others else _together(audit, others)])


def _together(audit: Audit, others: Sequence[Mapping[str, Any]]) -> bytes:
    audits = [msgspec.json.decode(audit.to_json()), *others]
    # By their judges, not by age: a repository shows what has changed.
    ordered = sorted(audits, key=lambda one: str(one["identity"]))
    return msgspec.json.format(msgspec.json.encode(ordered, order="sorted"), indent=2) + b"\n"
