"""The baseline of `trialrun verify`: findings that a team knows, so that it sees only new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from trialrun.cli.output import say, write_file
from trialrun.errors import UsageError
from trialrun.model.verified import Verification
from trialrun.reports.views.printable import one_line
from trialrun.util.files import reason
from trialrun.util.texts import counted

VERSION = 1


class _File(Struct, forbid_unknown_fields=True):
    """The file: `findings` are for people and diffs, only their fingerprints are compared."""

    version: int
    findings: list[dict[str, Any]]


def read_known(file: str) -> frozenset[str]:
    """The fingerprints of a baseline. UsageError if it cannot be read whole: it is not empty."""
    try:
        found = msgspec.json.decode(Path(file).read_bytes(), type=_File)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else f"not a baseline: {error}"
        hint = "; `trialrun verify --write-baseline` makes one"
        raise UsageError(f"--baseline {file[:200]}: {why}{hint}") from None
    if found.version > VERSION:
        raise UsageError(f"--baseline {file[:200]}: written by a newer trialrun")
    marks = [row.get("fingerprint") for row in found.findings]
    if not all(isinstance(mark, str) for mark in marks):
        raise UsageError(f"--baseline {file[:200]}: a finding without a fingerprint")
    return frozenset(str(mark) for mark in marks)


def write_known(file: str, found: Verification) -> int:
    """Write all findings of the sessions to the file. The exit code of the command."""
    rows = {
        finding.fingerprint(session.id): {
            "fingerprint": finding.fingerprint(session.id),
            "code": finding.code,
            "session": one_line(session.id),
            "about": one_line((finding.claim or finding.target)[:200]),
        }
        for session in found.sessions
        for finding in session.ledger.findings
    }
    ordered = sorted(rows.values(), key=lambda row: (row["session"], row["code"], row["about"]))
    text = msgspec.json.format(msgspec.json.encode(_File(VERSION, list(ordered))), indent=2)
    write_file(Path(file), text.decode() + "\n")
    say(f"{counted(len(ordered), 'finding')} written to {file}")
    for problem in found.problems:
        say(problem)
    return 3 if found.problems else 0
