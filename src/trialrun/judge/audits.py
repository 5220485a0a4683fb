"""Check whether a stored audit allows a judge to give verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trialrun.model.audit import TRUSTWORTHY
from trialrun.util import strict_json


def why_not_audited(path: Path | None, identity: str) -> str | None:
    """Why the judge's verdicts do not count; None if its audit says that it can be trusted."""
    if path is None:
        return "the judge is not audited: no audit was given with it"
    advice = "run `trialrun judge audit`"
    try:
        audits = read_audits(path)
    except FileNotFoundError:
        return f"the judge is not audited: {path} does not exist; {advice}"
    except (OSError, ValueError, RecursionError):
        return f"the judge is not audited: {path} cannot be read; {advice}"
    verdicts = {one["verdict"] for one in audits if one["identity"] == identity}
    if not verdicts:
        audited = " and ".join(one["identity"] for one in audits)
        return f"the judge is not audited: {path} is about {audited}, not {identity}; {advice}"
    if verdicts != {TRUSTWORTHY}:
        said = ", ".join(sorted(verdicts - {TRUSTWORTHY}))
        return f"the judge cannot be trusted: {path} says: {said}"
    return None


def read_audits(path: Path) -> list[Mapping[str, Any]]:
    """The audits of a file: an object or a list. Raises OSError or ValueError if there is none."""
    found = strict_json.decode(path.read_text(encoding="utf-8"))
    audits = found if isinstance(found, list) else [found]
    if not audits or not all(map(_is_audit, audits)):
        raise ValueError("it holds no audit")
    return audits


def _is_audit(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(key), str) for key in ("identity", "verdict")
    )
