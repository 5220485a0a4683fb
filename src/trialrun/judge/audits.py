"""Whether a kept audit speaks for a judge."""

from __future__ import annotations

from pathlib import Path

from trialrun import strict_json
from trialrun.audit_results import TRUSTWORTHY


def why_not_audited(path: Path | None, identity: str) -> str | None:
    """Why a verdict of the judge counts for nothing yet; None if the audit speaks for it."""
    if path is None:
        return "the judge is not audited: no audit was given with it"
    advice = "run `trialrun judge audit`"
    try:
        found = strict_json.decode(path.read_text(encoding="utf-8"))
        audited, verdict = str(found["identity"]), str(found["verdict"])
    except FileNotFoundError:
        return f"the judge is not audited: {path} is not there; {advice}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return f"the judge is not audited: {path} cannot be read; {advice}"
    if identity not in audited.split("; "):
        return f"the judge is not audited: {path} is about {audited}, not {identity}; {advice}"
    if verdict != TRUSTWORTHY:
        return f"the judge is not to be trusted: {path} says that it is: {verdict}"
    return None
