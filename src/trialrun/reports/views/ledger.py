"""Evidence ledgers as text and as JSON: a line a finding, a line a statement, and a summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trialrun.model.ledger import (
    BANDS,
    HARMFUL,
    Claim,
    ClaimVerdict,
    ComplianceSummary,
    Finding,
    Ledger,
    summarised,
)
from trialrun.model.verified import Session, Verification
from trialrun.reports.views.consoles import Console, Line
from trialrun.reports.views.printable import escaped_json, one_line, printable
from trialrun.reports.views.texts import masked_among, texts_lines
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
_SHOWN_NAME = 60
_SHOWN_PATH = 70
_MOST_UNDECIDED = 8  # not checkable statements that are shown without `-v`

Named = tuple[str, Ledger]


def render(ledgers: Sequence[Named], colour: bool = False, quiet: bool = False) -> str:
    """Each run with its findings, statements and score, then the summary."""
    sessions = [Session(name, name, "", ledger) for name, ledger in ledgers]
    return render_sessions(Verification(sessions), colour=colour, quiet=quiet, verbose=True)


def render_sessions(
    found: Verification,
    colour: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    width: int | None = None,
) -> str:
    """The report of `trialrun verify`; `verbose` adds earlier turns, scores and advice."""
    console = Console(colour, width)
    for session in () if quiet else found.sessions:
        for line in _session(session, verbose):
            console.print(line)
    for text in summary_lines(found, with_scores=verbose):
        console.print(text)
    return console.out.getvalue()


def _session(session: Session, verbose: bool) -> Iterator[Line]:
    yield _head(session, verbose)
    for finding in session.findings:
        yield _finding(session, finding)
    yield from _statements(session, verbose)
    yield from _changes(session.ledger)
    if verbose:
        yield from _earlier(session)
        for part, advice in session.ledger.advice.items():
            share = session.ledger.components[part]
            yield _dim(f"  {part.replace('_', ' ')} {share:.2f}: {one_line(advice)}")


def _dim(text: str) -> Line:
    return Line(text, "dim")


def verdict_of(ledger: Ledger) -> str:
    """`compliant`, `not compliant` or `no verdict`."""
    if ledger.no_verdict:
        return "no verdict"
    return "compliant" if ledger.compliant else "not compliant"


_HEAD_STYLES = {"compliant": "green", "not compliant": "bold red", "no verdict": "bold magenta"}


def _head(session: Session, verbose: bool) -> Line:
    ledger = session.ledger
    word = verdict_of(ledger)
    head = Line.of((word, _HEAD_STYLES[word]), "  ")
    if verbose and not ledger.no_verdict:
        head.append(f"{ledger.score:.2f}  ")
    head.append(one_line(session.name), "bold")
    if ledger.no_verdict:
        head.append(f"  {one_line(ledger.no_verdict)}")
    if ledger.source == "text":
        head.append("  (no tool call: by its text alone)", "dim")
    return head


def finding_place(session: Session, finding: Finding) -> str:
    """`bug-fix:s3`: the session and the last step of the finding."""
    name = one_line(session.name)
    name = name if len(name) <= _SHOWN_NAME else name[: _SHOWN_NAME - 1] + "…"
    return f"{name}:{one_line(finding.steps[-1])}" if finding.steps else name


def finding_text(finding: Finding) -> str:
    """What was found, then the claim and the command to run, on one line."""
    text = one_line(finding.message)
    if finding.claim:
        text += f": {one_line(excerpt(' '.join(finding.claim.split()), _SHOWN_CLAIM))}"
    if finding.command:
        text += f" (run: {one_line(finding.command)})"
    return text


def weight_of(finding: Finding) -> str:
    """`preview`, `warning`, or nothing for a finding that may fail a command."""
    if not finding.stable:
        return "preview"
    return "" if finding.is_red else "warning"


def _finding(session: Session, finding: Finding) -> Line:
    weight = weight_of(finding)
    style = {"": "bold red", "warning": "yellow", "preview": "dim"}[weight]
    line = Line(f"{finding_place(session, finding)}: ")
    line.append(f"{finding.code} {finding.name}{f' [{weight}]' if weight else ''}", style)
    line.append(f" {finding_text(finding)}")
    return line


def _statements(session: Session, verbose: bool) -> Iterator[Line]:
    ledger = session.ledger
    if not ledger.claims:
        yield _dim(f"  {'no final message' if ledger.silent else 'nothing is claimed'}")
        return
    known = session.known_claims
    undecided = 0
    for claim in ledger.claims:
        if claim.verdict in HARMFUL and claim.text in known:
            continue
        undecided += claim.verdict is ClaimVerdict.NOT_CHECKABLE
        if verbose or undecided <= _MOST_UNDECIDED or _is_decided(claim):
            yield _claim(claim)
    if not verbose and undecided > _MOST_UNDECIDED:
        yield _dim(f"  · and {undecided - _MOST_UNDECIDED} more that are not checkable: -v")
    if ledger.source == "trace":
        total = counted(len(ledger.claims), "statement")
        yield _dim(f"  {ledger.checked} of {total} checked")


def _is_decided(claim: Claim) -> bool:
    return claim.verdict is not ClaimVerdict.NOT_CHECKABLE


def _claim(claim: Claim) -> Line:
    mark, style = _MARKS[claim.verdict]
    line = Line.of("  ", (f"{mark} {claim.verdict.value.ljust(_WIDEST)}", style), "  ")
    line.append(one_line(excerpt(" ".join(claim.text.split()), _SHOWN_CLAIM)))
    if claim.rule:
        line.append(f"  {claim.rule}", "dim")
    elif claim.reason:
        steps = f"{_steps(claim.evidence)}: " if claim.evidence else ""
        line.append(f"  {one_line(steps + claim.reason)}", "dim")
    return line


def _steps(ids: Sequence[str]) -> str:
    noun = "step" if len(ids) == 1 else "steps"
    return one_line(f"{noun} {', '.join(ids[:4])}")


def _shortened(target: str) -> str:
    """The end of a long path: paths in one project differ there."""
    return target if len(target) <= _SHOWN_PATH else "…" + target[-_SHOWN_PATH:]


def _changes(ledger: Ledger) -> Iterator[Line]:
    for one in ledger.obligations:
        if one.met_by is None:
            state = "said to be unchecked" if one.disclosed else "never exercised"
            mark, style = ("!", "cyan") if one.disclosed else ("?", "red")
            line = Line.of("  ", (f"{mark} {'changed'.ljust(_WIDEST)}", style))
            line.append(f"  {one_line(_shortened(one.target))}")
            line.append(f"  {_steps([one.step])}: {state} afterwards", "dim")
            yield line


def _earlier(session: Session) -> Iterator[Line]:
    """Statements of earlier turns that came out red, and how many there were."""
    earlier = session.ledger.earlier
    if not earlier:
        return
    decided = sum(map(_is_decided, earlier))
    total = counted(len(earlier), "statement")
    yield _dim(f"  earlier turns: {decided} of {total} checked")
    for finding in session.earlier_findings:
        line = _finding(session, finding)
        line.append(f"  (turn {finding.turn})", "dim")
        yield line


_ORDER = (
    ClaimVerdict.VERIFIED,
    ClaimVerdict.STALE,
    ClaimVerdict.UNSUPPORTED,
    ClaimVerdict.CONTRADICTED,
    ClaimVerdict.DISCLOSED,
    ClaimVerdict.NOT_CHECKABLE,
)


def summary_lines(found: Verification, with_scores: bool = False) -> list[str]:
    """The summary: findings, sessions, statements, and the scores if they are wanted."""
    summary = found.summary
    lines = [_findings_line(found), _sessions_line(summary)]
    if with_scores and summary.runs > 1 and summary.score is not None:
        bands = ", ".join(f"{summary.bands[word]} {word}" for _, word in BANDS)
        lines.append(f"score {summary.score:.2f} on average: {bands}")
        parts = [
            f"{name.replace('_', ' ')} {value:.2f}" for name, value in summary.components.items()
        ]
        lines.append(" · ".join(parts))
    return [*lines, *texts_lines(masked_among(found), found.withheld)]


def _findings_line(found: Verification) -> str:
    findings = [one for session in found.sessions for one in session.findings]
    weights = [weight_of(one) for one in findings]
    known = sum(session.known_findings for session in found.sessions)
    parts = [counted(weights.count(""), "finding")]
    parts += [counted(weights.count("warning"), "warning")] if "warning" in weights else []
    parts += [f"{weights.count('preview')} in preview"] if "preview" in weights else []
    parts += [f"{known} known from the baseline"] if known else []
    return ", ".join(parts)


def _sessions_line(summary: ComplianceSummary) -> str:
    counts = [
        f"{summary.claims[verdict.value]} {verdict.value.replace('_', ' ')}"
        for verdict in _ORDER
        if summary.claims[verdict.value] or verdict is ClaimVerdict.VERIFIED
    ]
    without = summary.runs - summary.with_verdict
    return (
        f"{counted(summary.runs, 'session')}: {summary.compliant} compliant"
        + (f", {without} without a verdict" if without else "")
        + f" · {summary.checked} of {counted(summary.total_claims, 'statement')} checked: "
        + ", ".join(counts)
    )


def as_json(found: Verification) -> str:
    """The ledgers and the summary as one JSON document."""
    summary = summarised([session.ledger for session in found.sessions])
    document: Mapping[str, Any] = {
        "runs": [_plain(session) for session in found.sessions],
        "summary": {**msgspec.to_builtins(summary), "total_claims": summary.total_claims},
        "problems": list(found.problems),
        "masked": masked_among(found),
        "left_out": None if found.withheld is None else found.withheld.counts,
    }
    text = msgspec.json.format(msgspec.json.encode(_redacted(document)), indent=2).decode()
    return escaped_json(text) + "\n"


def _plain(session: Session) -> dict[str, Any]:
    ledger = session.ledger
    plain: dict[str, Any] = msgspec.to_builtins(ledger)
    for row, finding in zip(plain["findings"], ledger.findings, strict=True):
        row["fingerprint"] = finding.fingerprint(session.id)
        row["known"] = session.is_known(finding)
    plain["open_obligations"] = ledger.open_obligations
    head = {"name": session.name, "session": session.id, "file": session.file}
    return {**head, "verdict": verdict_of(ledger), "band": ledger.band, **plain}


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, (list, tuple)):
        return [_redacted(one) for one in value]
    if isinstance(value, dict):
        return {key: _redacted(one) for key, one in value.items()}
    return value
