"""The SARIF report: SARIF 2.1.0, which code scanning and editors read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from trialrun import __version__
from trialrun.model.results import (
    CheckResult,
    CheckStatus,
    EvaluationResult,
    RunResult,
    Severity,
)
from trialrun.model.verified import RuleText, Session, Verification
from trialrun.model.withheld import Withheld
from trialrun.reports.base import Report, View
from trialrun.reports.views.ledger import finding_text, weight_of
from trialrun.reports.views.places import LEVELS, file_of
from trialrun.reports.views.printable import escaped_json, printable
from trialrun.reports.views.texts import masked_among, masked_in

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "trialrun/v1"


class SarifReport(Report):
    """SARIF 2.1.0, for code scanning and editors."""

    name = "sarif"
    suffixes = (".sarif",)
    reads_sessions = True

    def render(self, run: RunResult, view: View) -> str:
        rows = [row for result in run.results for row in _results(result)]
        names = sorted({row["ruleId"] for row in rows})
        rules = [{"id": name, "name": name} for name in names]
        return _log(rules, rows, run.warnings, _texts(masked_in(run), run.withheld))

    def render_sessions(self, found: Verification, view: View) -> str:
        rows = [row for session in found.sessions for row in _findings(session)]
        notes = [
            f"{session.name}: no verdict: {session.ledger.no_verdict}"
            for session in found.sessions
            if session.ledger.no_verdict
        ]
        rules = [_rule(rule) for rule in found.rules]
        texts = _texts(masked_among(found), found.withheld)
        return _log(rules, rows, [*found.problems, *notes], texts)


def _texts(masked: int, withheld: Withheld | None) -> dict[str, Any]:
    """How many values are masked, and what was left out of a report to be shared."""
    return {"masked": masked, "leftOut": None if withheld is None else withheld.counts}


def _log(
    rules: list[dict[str, Any]],
    rows: list[dict[str, Any]],
    notes: list[str],
    texts: dict[str, Any],
) -> str:
    """The whole document; `notes` are what kept a session or a case from a verdict."""
    driver = {
        "name": "trialrun",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": rules,
    }
    invocation = {
        "executionSuccessful": not notes,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": note}} for note in notes
        ],
    }
    run: dict[str, Any] = {"tool": {"driver": driver}, "invocations": [invocation], "results": rows}
    run["properties"] = texts
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    text = msgspec.json.format(msgspec.json.encode(_cleaned(document)), indent=2).decode()
    return escaped_json(text) + "\n"


def _rule(rule: RuleText) -> dict[str, Any]:
    level = ("error" if rule.severity == "fail" else "warning") if rule.stable else "note"
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": f"{rule.what} {rule.why}"},
        "help": {"text": f"trialrun explain {rule.code}"},
        "defaultConfiguration": {"level": level},
        "properties": {"preview": not rule.stable},
    }


def _findings(session: Session) -> Iterator[dict[str, Any]]:
    for finding in session.ledger.findings:
        if not finding.last:
            continue
        row: dict[str, Any] = {
            "ruleId": finding.code,
            "level": LEVELS[weight_of(finding)],
            "message": {"text": finding_text(finding)},
            "locations": [_location(session, file_of(session, finding), finding.steps)],
            "partialFingerprints": {FINGERPRINT: finding.fingerprint(session.id)},
        }
        if session.is_known(finding):
            row["suppressions"] = [{"kind": "external", "justification": "in the baseline"}]
        yield row


def _location(session: Session, file: str, steps: tuple[str, ...]) -> dict[str, Any]:
    """The changed file, else the session's; the steps of the session as logical locations."""
    uri = quote(file or session.file or session.name, safe="/")
    uri = f"file://{uri}" if uri.startswith("/") else uri
    places = [
        {"name": step, "fullyQualifiedName": f"{session.name}:{step}", "kind": "member"}
        for step in steps
    ]
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    }
    return {**location, "logicalLocations": places} if places else location


_LEVELS = {Severity.FAIL: "error", Severity.WARN: "warning"}


def _results(result: EvaluationResult) -> Iterator[dict[str, Any]]:
    """One row a check, one a tool call that failed; one for a case without a verdict."""
    name = f"{result.suite_name}: {result.case_name}" if result.suite_name else result.case_name
    where = [{"logicalLocations": [{"name": result.case_name, "fullyQualifiedName": name}]}]
    if result.error:
        text = f"{name}: {result.error}"
        yield {"ruleId": "error", "level": "error", "message": {"text": text}, "locations": where}
    for layer in result.layers.values():
        for check in layer.checks:
            yield {**_check(check, name), "locations": where}
    for call in result.failed_calls:
        text = f"{name}: tool call: {call}"
        row = {"ruleId": "tool_call", "kind": "informational", "level": "none"}
        yield {**row, "message": {"text": text}, "locations": where}


def _check(check: CheckResult, name: str) -> dict[str, Any]:
    message = {"text": f"{name}: {check.name} {check.status.value}: {check.message}"}
    row = {"ruleId": check.name, "message": message}
    if check.status is CheckStatus.FAIL:
        return {**row, "level": _LEVELS[check.severity]}
    kinds = {CheckStatus.PASS: "pass", CheckStatus.UNKNOWN: "open"}
    return {**row, "kind": kinds.get(check.status, "notApplicable"), "level": "none"}


def _cleaned(value: Any) -> Any:
    """The same values, every text with secrets masked and safe to show."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, (list, tuple)):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {key: _cleaned(one) for key, one in value.items()}
    return value
