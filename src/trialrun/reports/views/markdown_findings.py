"""Comparisons, sessions and audits as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trialrun.model.audit import Audit
from trialrun.model.comparison import CaseChange, Comparison, LeftOut
from trialrun.model.ledger import ClaimVerdict
from trialrun.model.verified import Session, Verification
from trialrun.model.withheld import Withheld
from trialrun.reports.views.comparison import (
    KINDS,
    behaviour_lines,
    verdicts_text,
)
from trialrun.reports.views.ledger import (
    finding_text,
    summary_lines,
    verdict_of,
    weight_of,
)
from trialrun.reports.views.markdown import Page, code, html_code
from trialrun.reports.views.measures import measure_rows
from trialrun.reports.views.origin import origin_line
from trialrun.reports.views.texts import masked_among, masked_text
from trialrun.util.money import dollars
from trialrun.util.texts import counted

_MOST_LINES = 8  # changes of one case in a table


def _about_texts(page: Page, masked: int, withheld: Withheld | None) -> None:
    page.end()
    page.add("; ".join([*([] if withheld is None else [str(withheld)]), masked_text(masked)]))


# Two runs


def comparison_page(found: Comparison) -> str:
    """What was loosened, the verdict, what changed in which case, the measures."""
    page = Page()
    page.add(f"## trialrun: {code(found.sentence)}", "")
    page.add(f"{code(found.before)} → {code(found.after)}", "")
    if found.loosened:
        page.add("### Checked less than before", "")
        rows = [[code(case.case, 80), _stacked(case.what)] for case in found.loosened]
        page.table(("case", "what"), rows, len(rows), share=0.3)
    if found.changes:
        page.add("### What changed", "")
        changes = sorted(found.changes, key=lambda change: list(KINDS).index(change.kind))
        rows = [_change(change) for change in changes]
        page.table(("", "case", "verdict", "what changed"), rows, len(rows), share=0.7)
    _measures(page, found)
    for heading, cases in _not_compared(found):
        _list(page, heading, cases)
    for side, origin in (("before", found.before_origin), ("after", found.after_origin)):
        if line := origin_line(origin):
            page.add(f"{side}: {code(line)}", "")
    _about_texts(page, masked_among(found), found.withheld)
    return page.text


def _change(change: CaseChange) -> list[str]:
    lines = list(behaviour_lines(change))
    kind = KINDS[change.kind].lower()
    return [f"**{kind}**", code(change.case, 80), code(verdicts_text(change)), _stacked(lines)]


def _stacked(lines: Sequence[str]) -> str:
    """Lines within a cell of a table."""
    shown = [code(line) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(f"and {len(lines) - _MOST_LINES} more")
    return "<br>".join(shown)


def _measures(page: Page, found: Comparison) -> None:
    if not page.add("<details><summary>measures</summary>", ""):
        return
    header = ("", "before", "after", "change", "95% interval", "")
    rows = [[code(cell) for cell in row] for row in measure_rows(found)]
    page.table(header, rows, len(rows))
    page.end_details()


def _not_compared(found: Comparison) -> Iterator[tuple[str, Sequence[LeftOut]]]:
    yield "not comparable", found.not_comparable
    yield "only before", found.only_before
    yield "only after", found.only_after
    yield "no verdict before", found.no_verdict_before
    yield "no verdict after", found.no_verdict_after
    yield "with more or stricter checks", found.stricter


def _list(page: Page, heading: str, cases: Sequence[LeftOut]) -> None:
    summary = f"<details><summary>{heading}: {counted(len(cases), 'case')}</summary>"
    if not cases or not page.add(summary, ""):
        return
    shown = 0
    for case in cases:
        why = f": {code(case.error)}" if case.error else ""
        if not page.add(f"- {code(case.case, 80)}{why}"):
            break
        shown += 1
    page.more(len(cases) - shown)
    page.end_details()


# Sessions


def sessions_page(found: Verification) -> str:
    """The summary, the findings, and the statements of each session, collapsed."""
    page = Page()
    first, *others = summary_lines(found)
    page.add(f"## trialrun verify: {first}", "", *others, "")
    findings = [(session, one) for session in found.sessions for one in session.findings]
    if findings:
        rows = [
            [
                code(session.name, 80),
                f"{code(f'{one.code} {one.name}')} {weight_of(one)}".rstrip(),
                code(finding_text(one)),
                code(", ".join(one.steps[-3:]), 60) if one.steps else "",
            ]
            for session, one in findings
        ]
        page.table(("session", "rule", "finding", "steps"), rows, len(rows), share=0.6)
    shown = 0
    for session in found.sessions:
        if not page.details(_head(session), *_statements(session)):
            break
        shown += 1
    page.more(len(found.sessions) - shown)
    for problem in found.problems[:20]:
        page.add(f"- {code(problem)}")
    _about_texts(page, masked_among(found), found.withheld)
    return page.text


def _head(session: Session) -> str:
    return f"{verdict_of(session.ledger)}: {html_code(session.name)}"


def _statements(session: Session) -> Iterator[str]:
    ledger = session.ledger
    if ledger.no_verdict:
        yield f"- {code(ledger.no_verdict)}"
    for claim in ledger.claims[:50]:
        if claim.verdict is not ClaimVerdict.NOT_CHECKABLE:
            reason = f": {code(claim.reason)}" if claim.reason and not claim.rule else ""
            yield f"- {claim.verdict.value} {code(claim.text)} {claim.rule}{reason}"
    for target in session.open[:50]:
        yield f"- changed and never exercised: {code(target)}"
    yield f"- {ledger.checked} of {counted(len(ledger.claims), 'statement')} checked"


# An audit of a judge


def audit_page(audit: Audit) -> str:
    """The verdict on the judge, the measurements, and the answers that it got wrong."""
    page = Page()
    page.add(f"## trialrun judge audit: {audit.verdict}", "")
    cost = "cost unknown" if audit.cost_usd is None else dollars(audit.cost_usd)
    verdicts, answers = counted(audit.verdicts, "verdict"), counted(audit.answers, "answer")
    page.add(f"{code(audit.identity)}: {verdicts} on {answers}, {cost}", "")
    rows = [[name, shown, word] for name, shown, word in audit.findings()]
    page.table(("measurement", "found", ""), rows, len(rows))
    if audit.disagreements:
        page.add("### Passed by the judge, and wrong", "")
        wrong = [
            [
                f"{code(one.case, 80)} #{one.attempt}",
                "–" if one.score is None else f"{one.score:g}",
                code(one.rule),
                code(one.against),
                code(one.rationale) if one.rationale else "",
            ]
            for one in audit.disagreements
        ]
        page.table(("case", "score", "rule", "against", "reason"), wrong, len(wrong))
    _about_texts(page, masked_among(audit), audit.withheld)
    return page.text
