"""The SARIF report, checked against the part of the standard that it uses."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from tests.reports.ledgers import verification
from tests.reports.runs import everything
from trialrun.reports.base import View
from trialrun.reports.sarif import SarifReport

SCHEMA = Path(__file__).parents[1] / "data" / "sarif" / "sarif-2.1.0-part.json"
VALIDATOR = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()), validate_formats=True)


def checked(text):
    document = json.loads(text)
    VALIDATOR.validate(document)
    return document["runs"][0]


def test_sessions_are_valid_sarif():
    run = checked(SarifReport().render_sessions(verification(), View()))
    assert [row["level"] for row in run["results"]] == ["error", "note", "error"]
    first = run["results"][0]
    assert first["ruleId"] == "TR104"
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/my%20tax.py"
    assert [one["name"] for one in first["locations"][0]["logicalLocations"]] == ["s4", "s6"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"TR104", "TR107"}
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert rules["TR107"]["defaultConfiguration"] == {"level": "note"}


def test_known_findings_are_suppressed_and_earlier_turns_left_out():
    run = checked(SarifReport().render_sessions(verification(), View()))
    assert [bool(row.get("suppressions")) for row in run["results"]] == [False, False, True]
    assert "an earlier turn" not in json.dumps(run)


def test_a_session_without_a_verdict_is_not_a_success():
    run = checked(SarifReport().render_sessions(verification(no_verdict="it is torn"), View()))
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"] == "a session: no verdict: it is torn"


def test_a_run_is_valid_sarif_too():
    run = checked(SarifReport().render(everything(), View()))
    kinds = {row["locations"][0]["logicalLocations"][0]["name"]: row for row in run["results"]}
    assert kinds["good"]["kind"] == "pass" and kinds["so-so"]["level"] == "warning"


@pytest.mark.parametrize("level", ["fatal", 3, None])
def test_the_schema_finds_mistakes(level):
    document = json.loads(SarifReport().render(everything(), View()))
    document["runs"][0]["results"][0]["level"] = level
    assert not VALIDATOR.is_valid(document)
