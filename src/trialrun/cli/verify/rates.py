"""`trialrun verify --all`: rates over all sessions of a project."""

from __future__ import annotations

from collections import Counter

import msgspec

from trialrun.model.verified import Verification
from trialrun.util.texts import counted


def rates_text(found: Verification, as_json: bool) -> str:
    """The rates as a small table, or as JSON."""
    if as_json:
        text = msgspec.json.format(msgspec.json.encode(_rates(found)), indent=2)
        return text.decode() + "\n"
    summary = found.summary
    without = summary.runs - summary.with_verdict
    lines = [
        f"sessions read       {summary.runs:,}"
        + (f"  ({len(found.problems)} that cannot be read)" if found.problems else ""),
        f"with a verdict      {summary.with_verdict:,}"
        + (f"  ({without} unfinished or not recorded)" if without else ""),
        f"compliant           {_share(summary.compliant, summary.with_verdict)}",
        f"statements checked  {_share(summary.checked, summary.total_claims)}",
        "findings",
    ]
    return "".join(f"{line}\n" for line in [*lines, *_findings(found)])


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f"  ({part / whole:.0%})" if whole else "")


def _findings(found: Verification) -> list[str]:
    rules = {rule.code: rule for rule in found.rules}
    times: Counter[str] = Counter()
    sessions: Counter[str] = Counter()
    known = 0
    for session in found.sessions:
        codes = [finding.code for finding in session.findings]
        times.update(codes)
        sessions.update(set(codes))
        known += session.known_findings
    lines = []
    for code, count in sorted(times.items()):
        rule = rules[code]
        preview = "" if rule.stable else "  (preview)"
        where = counted(sessions[code], "session")
        lines.append(f"  {code} {rule.name:<26} {count:>4,} in {where}{preview}")
    if known:
        lines.append(f"  {known:,} known from the baseline")
    return lines or ["  none"]


def _rates(found: Verification) -> dict[str, object]:
    summary = found.summary
    return {
        "sessions": summary.runs,
        "unreadable": len(found.problems),
        "with_verdict": summary.with_verdict,
        "compliant": summary.compliant,
        "statements": summary.total_claims,
        "checked": summary.checked,
        "claims": summary.claims,
        "findings": Counter(
            finding.code for session in found.sessions for finding in session.findings
        ),
        "known": sum(session.known_findings for session in found.sessions),
        "problems": list(found.problems),
    }
