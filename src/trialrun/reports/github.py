"""The GitHub report: workflow commands, which GitHub Actions shows as annotations.

Only lines that this module writes begin with `::`: text of an agent is escaped, and cannot forge a
command such as `::add-mask::`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trialrun.model.results import CheckStatus, EvaluationResult, LayerStatus, RunResult
from trialrun.model.verified import Session, Verification
from trialrun.reports.base import Report, View
from trialrun.reports.views.ledger import (
    finding_place,
    finding_text,
    summary_lines,
    verdict_of,
    weight_of,
)
from trialrun.reports.views.places import LEVELS, file_of
from trialrun.reports.views.printable import one_line
from trialrun.reports.views.texts import masked_in, texts_lines
from trialrun.reports.views.wording import status_word

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_STATUSES = {
    LayerStatus.FAIL: "error",
    LayerStatus.ERROR: "error",
    LayerStatus.WARN: "warning",
}


class GithubReport(Report):
    """Workflow commands of GitHub Actions, shown as annotations."""

    name = "github"
    suffixes = ()  # named by --format: annotations are read from the log
    reads_sessions = True

    def render(self, run: RunResult, view: View) -> str:
        lines, passed = [], 0
        for result in run.results:
            passed += result.status not in _STATUSES
            if result.status in _STATUSES or view.most is None or passed <= view.most:
                lines.append(_result(result))
        if view.most is not None and passed > view.most:
            lines.append(f"and {passed - view.most:,} more that passed")
        lines += map(_plain, [_counts(run), *texts_lines(masked_in(run), run.withheld)])
        return "".join(f"{line}\n" for line in lines)

    def render_sessions(self, found: Verification, view: View) -> str:
        lines = [line for session in found.sessions for line in _session(session)]
        lines += [command("error", problem) for problem in found.problems]
        return "".join(f"{line}\n" for line in [*lines, *map(_plain, summary_lines(found))])


def command(kind: str, message: str, **properties: str) -> str:
    """One workflow command: `::error file=a.py,title=TR104::message`."""
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{kind}{' ' if given else ''}{given}::{_data(one_line(message))}"


def _data(text: str) -> str:
    """The text of a command: `%`, line breaks and the older `##[command]` are escaped."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace("##[", "## [")


def _property(text: str) -> str:
    return _data(one_line(text)).replace(":", "%3A").replace(",", "%2C")


_COMMAND = re.compile(r"^\s*::")


def _plain(text: str) -> str:
    """A line of the log that is not a command."""
    return _COMMAND.sub(": :", one_line(text)).replace("##[", "## [")


def _result(result: EvaluationResult) -> str:
    name = f"{result.suite_name}: {result.case_name}" if result.suite_name else result.case_name
    reasons = [result.error] if result.error else []
    reasons += [
        f"{check.name} {status_word(check)}: {check.message}"
        for layer in result.layers.values()
        for check in layer.checks
        if check.status in (CheckStatus.FAIL, CheckStatus.UNKNOWN)
    ]
    reasons += [f"tool call: {call}" for call in result.failed_calls]
    kind = _STATUSES.get(result.status)
    if kind is None and reasons:
        return command("notice", f"{result.status.value}: {'; '.join(reasons)}", title=name)
    if kind is None:
        return _plain(f"{result.status.value}  {name}")
    return command(kind, f"{result.status.value}: {'; '.join(reasons)}", title=name)


def _counts(run: RunResult) -> str:
    counts = (f"{run.count(status)} {status.value}" for status in LayerStatus if run.count(status))
    return f"{len(run.results)} of {run.planned}: {', '.join(counts) or 'nothing'}"


def _session(session: Session) -> Iterator[str]:
    ledger = session.ledger
    for finding in session.findings:
        yield command(
            _COMMANDS[LEVELS[weight_of(finding)]],
            f"{finding_place(session, finding)}: {finding_text(finding)}",
            file=file_of(session, finding),
            title=f"{finding.code} {finding.name}",
        )
    if ledger.no_verdict:
        yield command("error", f"{session.name}: no verdict: {ledger.no_verdict}")
    else:
        yield _plain(f"{verdict_of(ledger)}  {session.name}")
