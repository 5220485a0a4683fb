"""`trialrun verify`: what was proven in a session, claim by claim."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from msgspec.structs import replace

from trialrun.cli.output import put, say
from trialrun.errors import NothingSelected, UsageError
from trialrun.importers.scanning import scan, trace_files
from trialrun.ledger_results import NOT_COMPLIANT_AT_MOST, ClaimVerdict, Ledger
from trialrun.shapes import did_you_mean

SESSION = "claude-code"
"""One run over the lines of a file: where one of them is lost, so is a part of the run."""

UNCHECKED = "unchecked"
_CHOICES = (
    ClaimVerdict.CONTRADICTED.value,
    ClaimVerdict.UNSUPPORTED.value,
    ClaimVerdict.STALE.value,
    UNCHECKED,
)
EXIT_FAILED = 1
EXIT_INCOMPLETE = 3


@click.command("verify")
@click.argument("paths", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
@click.option(
    "--fail-on",
    metavar="VERDICTS",
    help="Exit with 1 where a claim has one of these: contradicted, unsupported, stale; "
    "unchecked: something was changed, never looked at, and not said to be so.",
)
@click.option("--quiet", "-q", is_flag=True, help="Only the summary.")
def command(paths: tuple[str, ...], as_json: bool, fail_on: str | None, quiet: bool) -> int:
    """Hold what an agent says against what it did, in PATHS: sessions of Claude Code, folders of
    them, or any trace files.

    Every claim of the final message is verified, stale (something was changed afterwards),
    contradicted, unsupported, honestly disclosed, or not checkable. No configuration is needed.
    """
    from trialrun.reports import ledger as report
    from trialrun.reports import terminal
    from trialrun.verification import audit

    wanted = _wanted(fail_on)
    ledgers: list[tuple[str, Ledger]] = []
    problems: list[str] = []
    for file in [file for path in paths for file in trace_files(Path(path))]:
        traces, unread, _ = scan(file)
        problems += [str(problem) for problem in unread]
        for trace in traces:
            ledger = audit(trace)
            if unread and trace.framework == SESSION:
                ledger = replace(
                    ledger,
                    compliant=False,
                    score=min(ledger.score, NOT_COMPLIANT_AT_MOST),
                    reason=f"parts of the session cannot be read; {ledger.reason}",
                )
            ledgers.append((trace.name or trace.id or str(file), ledger))
    if not ledgers and not problems:
        raise NothingSelected("no run in these files")
    if as_json:
        put(report.as_json(ledgers, problems), for_machines=True)
    else:
        colour = terminal.wants_colour(sys.stdout is not None and sys.stdout.isatty())
        put(report.render(ledgers, colour=colour, quiet=quiet))
    for problem in problems:
        say(problem)
    if any(_has(ledger, wanted) for _, ledger in ledgers):
        return EXIT_FAILED
    return EXIT_INCOMPLETE if problems else 0


def _wanted(fail_on: str | None) -> frozenset[str]:
    if fail_on is None:
        return frozenset()
    names = [name.strip().replace("-", "_") for name in fail_on.split(",") if name.strip()]
    for name in names:
        if name not in _CHOICES:
            hint = did_you_mean(name, _CHOICES)
            raise UsageError(f"--fail-on {name}: none of {', '.join(_CHOICES)}{hint}")
    if not names:
        raise UsageError(f"--fail-on: name one or more of {', '.join(_CHOICES)}")
    return frozenset(names)


def _has(ledger: Ledger, wanted: frozenset[str]) -> bool:
    if UNCHECKED in wanted and ledger.unchecked:
        return True
    return any(claim.verdict.value in wanted for claim in ledger.claims)
