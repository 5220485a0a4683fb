"""Whether a kept audit speaks for a judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trialrun.model.audit import TRUSTWORTHY
from trialrun.util import strict_json


def why_not_audited(path: Path | None, identity: str) -> str | None:
    """Why a verdict of the judge counts for nothing yet; None if the audit speaks for it."""
    if path is None:
        return "the judge is not audited: no audit was given with it"
    advice = "run `trialrun judge audit`"
    try:
        audits = read_audits(path)
    except FileNotFoundError:
        return f"the judge is not audited: {path} is not there; {advice}"
    except (OSError, ValueError, RecursionError):
        return f"the judge is not audited: {path} cannot be read; {advice}"
    verdicts = {one["verdict"] for one in audits if one["identity"] == identity}
    if not verdicts:
        audited = " and ".join(one["identity"] for one in audits)
        return f"the judge is not audited: {path} is about {audited}, not {identity}; {advice}"
    if verdicts != {TRUSTWORTHY}:
        said = ", ".join(sorted(verdicts - {TRUSTWORTHY}))
        return f"the judge is not to be trusted: {path} says that it is: {said}"
    return None


def read_audits(path: Path) -> list[Mapping[str, Any]]:
    """The audits of a file: one as it is, several in a list. OSError or ValueError without any."""
    found = strict_json.decode(path.read_text(encoding="utf-8"))
    audits = found if isinstance(found, list) else [found]
    if not audits or not all(map(_is_audit, audits)):
        raise ValueError("it holds no audit")
    return audits


def _is_audit(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(key), str) for key in ("identity", "verdict")
    )
