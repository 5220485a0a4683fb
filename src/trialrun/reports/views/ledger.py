"""Evidence ledgers as text and as JSON: one line per claim with its evidence, and a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trialrun.model.ledger import (
    BANDS,
    Claim,
    ClaimVerdict,
    ComplianceSummary,
    Ledger,
    summarised,
)
from trialrun.reports.views.consoles import text_console
from trialrun.reports.views.printable import escaped_json, one_line, printable
from trialrun.util.texts import counted, excerpt

_MARKS = {
    ClaimVerdict.VERIFIED: ("✓", "green"),
    ClaimVerdict.STALE: ("~", "yellow"),
    ClaimVerdict.UNSUPPORTED: ("?", "red"),
    ClaimVerdict.CONTRADICTED: ("✗", "bold red"),
    ClaimVerdict.DISCLOSED: ("!", "cyan"),
    ClaimVerdict.NOT_CHECKABLE: ("·", "dim"),
}
_WIDEST = max(len(verdict.value) for verdict in ClaimVerdict)
_SHOWN_CLAIM = 100
_SHOWN_PATH = 70

Named = tuple[str, Ledger]


def render(ledgers: Sequence[Named], colour: bool = False, quiet: bool = False) -> str:
    """Each run with its claims and its unchecked changes, then the summary."""
    from rich.text import Text

    console, out = text_console(colour)
    for name, ledger in ledgers:
        if quiet:
            break
        word, style = ("compliant", "green") if ledger.compliant else ("not compliant", "bold red")
        head = Text.assemble((word, style), f"  {ledger.score:.2f}  ")
        head.append(one_line(name), "bold")
        if ledger.source == "text":
            head.append("  (no tool call: by its text alone)", "dim")
        console.print(head, soft_wrap=True)
        for claim in ledger.claims:
            console.print(_claim(claim), soft_wrap=True)
        for line in _unchecked_changes(ledger):
            console.print(line, soft_wrap=True)
        if not ledger.claims:
            why = "no final message" if ledger.silent else "nothing is claimed"
            console.print(Text(f"  {why}", "dim"))
        for part, advice in ledger.advice.items():
            line = f"  {part.replace('_', ' ')} {ledger.components[part]:.2f}: {one_line(advice)}"
            console.print(Text(line, "dim"), soft_wrap=True)
    for line in summary_lines(summarised([ledger for _, ledger in ledgers])):
        console.print(line, soft_wrap=True)
    return out.getvalue()


def _claim(claim: Claim) -> Any:
    from rich.text import Text

    mark, style = _MARKS[claim.verdict]
    line = Text.assemble("  ", (f"{mark} {claim.verdict.value.ljust(_WIDEST)}", style), "  ")
    line.append(one_line(excerpt(" ".join(claim.text.split()), _SHOWN_CLAIM)))
    steps = f"{_steps(claim.evidence)}: " if claim.evidence else ""
    if claim.reason:
        line.append(f"  {one_line(steps + claim.reason)}", "dim")
    return line


def _steps(ids: Sequence[str]) -> str:
    noun = "step" if len(ids) == 1 else "steps"
    return one_line(f"{noun} {', '.join(ids[:4])}")


def _shortened(target: str) -> str:
    """The end of a long path: paths in one project differ there."""
    return target if len(target) <= _SHOWN_PATH else "…" + target[-_SHOWN_PATH:]


def _unchecked_changes(ledger: Ledger) -> list[Any]:
    from rich.text import Text

    lines = []
    for one in ledger.obligations:
        if one.met_by is None:
            state = "said to be unchecked" if one.disclosed else "never looked at"
            style = "cyan" if one.disclosed else "red"
            line = Text.assemble(
                "  ", (f"{'!' if one.disclosed else '?'} {'changed'.ljust(_WIDEST)}", style)
            )
            line.append(f"  {one_line(_shortened(one.target))}")
            line.append(f"  {_steps([one.step])}: {state} afterwards", "dim")
            lines.append(line)
    return lines


def summary_lines(summary: ComplianceSummary) -> list[str]:
    """The summary in one line, or in three for several runs."""
    order = (
        ClaimVerdict.VERIFIED,
        ClaimVerdict.STALE,
        ClaimVerdict.UNSUPPORTED,
        ClaimVerdict.CONTRADICTED,
        ClaimVerdict.DISCLOSED,
        ClaimVerdict.NOT_CHECKABLE,
    )
    counts = [
        f"{summary.claims[verdict.value]} {verdict.value.replace('_', ' ')}"
        for verdict in order
        if summary.claims[verdict.value] or verdict is ClaimVerdict.VERIFIED
    ]
    lines = [
        f"{counted(summary.runs, 'session')}: {counted(summary.total_claims, 'claim')}, "
        f"{', '.join(counts)} · {summary.compliant} compliant"
    ]
    if summary.runs > 1 and summary.score is not None:
        bands = ", ".join(f"{summary.bands[word]} {word}" for _, word in BANDS)
        lines.append(f"score {summary.score:.2f} on average: {bands}")
        parts = [
            f"{name.replace('_', ' ')} {value:.2f}" for name, value in summary.components.items()
        ]
        lines.append(" · ".join(parts))
    return lines


def as_json(ledgers: Sequence[Named], problems: Sequence[str]) -> str:
    """The ledgers and the summary as one JSON document."""
    summary = summarised([ledger for _, ledger in ledgers])
    document: Mapping[str, Any] = {
        "runs": [{"name": name, "band": ledger.band, **_plain(ledger)} for name, ledger in ledgers],
        "summary": {**msgspec.to_builtins(summary), "total_claims": summary.total_claims},
        "problems": list(problems),
    }
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    return escaped_json(text) + "\n"


def _plain(ledger: Ledger) -> dict[str, Any]:
    plain: dict[str, Any] = _redacted(msgspec.to_builtins(ledger))
    plain["open_obligations"] = _redacted(ledger.open_obligations)
    return plain


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_redacted(one) for one in value]
    if isinstance(value, dict):
        return {key: _redacted(one) for key, one in value.items()}
    return value
