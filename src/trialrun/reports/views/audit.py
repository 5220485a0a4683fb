"""An audit of a judge as text for the terminal."""

from __future__ import annotations

from trialrun.measures.agreement import Confusion
from trialrun.model.audit import NEEDS_CALIBRATION, TRUSTWORTHY, UNRELIABLE, Audit
from trialrun.reports.views.consoles import Console, Line
from trialrun.reports.views.printable import one_line
from trialrun.reports.views.texts import masked_among, texts_lines
from trialrun.util.money import dollars
from trialrun.util.texts import counted, excerpt

_STYLES = {TRUSTWORTHY: "green", NEEDS_CALIBRATION: "yellow", UNRELIABLE: "bold red"}


def render(audit: Audit, colour: bool = False, width: int | None = None) -> str:
    """The verdict of the audit, then the measurements behind it."""
    console = Console(colour, width)
    verdict = Line.of((audit.verdict, _STYLES[audit.verdict]), f": {one_line(audit.identity)}")
    console.print(verdict)
    cost = "cost unknown" if audit.cost_usd is None else dollars(audit.cost_usd)
    silent = f", {audit.without_verdict} not given each time" if audit.without_verdict else ""
    verdicts, answers = counted(audit.verdicts, "verdict"), counted(audit.answers, "answer")
    console.print(
        f"{verdicts} on {answers}{silent} · {counted(audit.calls, 'call')}, {cost}",
    )
    if audit.passes in (0, audit.verdicts):
        did = "passed" if audit.passes else "failed"
        console.print(f"  it {did} all of them: whether it can tell good from bad is not known")
    rows = audit.findings()
    widest = max(len(name) for name, _, _ in rows)
    for name, found, word in rows:
        line = Line(f"  {name.ljust(widest)}  {found}: ")
        line.append(word, _STYLES.get(word, "dim"))
        console.print(line)
    for name, table in (("facts", audit.facts), ("a person", audit.labels)):
        if table.total:
            console.print(_table(name, table))
    for one in audit.sensitivity:
        if one.verdicts:
            console.print(
                f"  {one.name}: the score moved in {one.score_moved} of {one.verdicts}, "
                f"by {one.mean_move:+.2f} on average",
            )
    if audit.disagreements:
        console.print("passed by the judge, and wrong:")
    for wrong in audit.disagreements:
        console.print(
            f"  {one_line(wrong.case)} #{wrong.attempt}: score {wrong.score:g} for "
            f"{one_line(excerpt(wrong.rule, 40))}; {one_line(wrong.against)}",
        )
    for text in texts_lines(masked_among(audit), audit.withheld):
        console.print(text, "dim")
    return console.out.getvalue()


def _table(name: str, table: Confusion) -> str:
    """The confusion matrix on one line."""
    rate = "" if table.base_rate is None else f" (base rate {table.base_rate:.0%})"
    return (
        f"  judge and {name}{rate}: both pass {table.true_pass}, both fail {table.true_fail}, "
        f"judge alone passes {table.false_pass}, judge alone fails {table.false_fail}"
    )
