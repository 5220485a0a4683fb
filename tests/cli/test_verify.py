"""`trialrun verify`: claims compared with recorded steps, on the command line."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.watchdog import WALL_SECONDS
from trialrun.cli.main import main
from trialrun.testing import SCENARIOS

SESSIONS = Path(__file__).parents[1] / "data" / "claude-code"


def verify(*arguments):
    """The command in this process."""
    command, out, err = ["verify", *map(str, arguments)], io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command)
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())


def verify_in_a_process(*arguments):
    command = [sys.executable, "-m", "trialrun", "verify", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=WALL_SECONDS)


@pytest.mark.parametrize("verify", [verify, verify_in_a_process])
def test_a_folder_of_sessions(verify):
    ran = verify(SESSIONS)
    assert ran.returncode == 0, ran.stderr
    assert "compliant  1.00  read-tool-variants" in ran.stdout
    assert "never looked at afterwards" in ran.stdout
    assert "3 sessions: " in ran.stdout


def test_claims_are_shown_with_their_evidence():
    ran = verify(SCENARIOS / "non-compliant.jsonl")
    assert '✗ contradicted   "everything passes."  step 1: npm test: Tests:' in ran.stdout
    assert '~ stale          "all 22 invoice tests pass."' in ran.stdout
    assert "8 sessions: " in ran.stdout and "0 compliant" in ran.stdout
    assert "score " in ran.stdout and "quality gates" in ran.stdout


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [("contradicted,unsupported", 1), ("stale", 1), ("unchecked", 1)],
)
def test_fail_on(verdicts, code):
    assert verify("--fail-on", verdicts, SCENARIOS / "non-compliant.jsonl").returncode == code
    assert verify("--fail-on", verdicts, SCENARIOS / "compliant.jsonl").returncode == 0


def test_an_unknown_verdict_in_fail_on_is_refused():
    ran = verify("--fail-on", "unsuported", SCENARIOS / "compliant.jsonl")
    assert ran.returncode == 2
    assert "did you mean `unsupported`" in ran.stderr
    assert verify("--fail-on", ",", SCENARIOS / "compliant.jsonl").returncode == 2


def test_json():
    ran = verify("--json", SCENARIOS / "non-compliant.jsonl")
    document = json.loads(ran.stdout)
    assert len(document["runs"]) == 8
    first = document["runs"][0]
    assert first["name"] == "file-edit" and not first["compliant"]
    assert first["open_obligations"] == ["/srv/app/config/database.yaml"]
    assert document["summary"]["runs"] == 8
    assert document["summary"]["total_claims"] == sum(document["summary"]["claims"].values())


def test_an_unreadable_line_is_reported_and_the_rest_is_shown(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"input": "q", "output": "Done."}\n{"input": \n')
    ran = verify(file)
    assert ran.returncode == 3
    assert "t.jsonl:2" in ran.stderr and "1 session: " in ran.stdout


def test_a_damaged_session_is_not_compliant(tmp_path):
    lines = (SESSIONS / "read-tool-variants.jsonl").read_text().splitlines()
    (tmp_path / "cut.jsonl").write_text("\n".join(lines)[:-200])
    ran = verify(tmp_path / "cut.jsonl")
    assert ran.returncode == 3
    assert ran.stdout.startswith("not compliant  0.84  cut")


def test_missing_files_and_empty_folders_are_usage_errors(tmp_path):
    assert verify(tmp_path / "none.json").returncode == 2
    assert verify(tmp_path).returncode == 2
    assert verify().returncode == 2


def test_control_characters_of_an_agent_are_escaped(tmp_path):
    file = tmp_path / "t.json"
    file.write_text(
        json.dumps({"input": "q", "output": "All tests pass \x1b[2J\u202e now.", "steps": []})
    )
    ran = verify(file)
    assert "\x1b" not in ran.stdout and "\u202e" not in ran.stdout


def test_quiet():
    assert verify("-q", SCENARIOS / "compliant.jsonl").stdout.startswith("8 sessions: ")


def test_fail_on_may_be_given_twice_and_reports_what_it_found():
    file = SCENARIOS / "non-compliant.jsonl"
    ran = verify("-q", "--fail-on", "contradicted", "--fail-on", "stale", file)
    assert ran.returncode == 1
    assert "failed by --fail-on: test-run (contradicted)" in ran.stderr
    assert "bug-fix (stale)" in ran.stderr


def test_a_misspelt_key_of_a_trace_gets_a_suggestion(tmp_path):
    (tmp_path / "t.json").write_text('{"input": "q", "ouput": "All tests pass."}')
    assert "did you mean" in verify(tmp_path / "t.json").stderr


def test_a_run_without_a_message(tmp_path):
    step = {"type": "tool_call", "tool_name": "Read", "tool_args": {"file_path": "a"}}
    trace = {"input": "q", "steps": [{**step, "tool_result": "x", "status": "success"}]}
    (tmp_path / "t.json").write_text(json.dumps(trace))
    assert "no final message" in verify(tmp_path / "t.json").stdout


SPEC = """
defaults:
  verification: {tools: {edits: [frobnicate]}}
cases: [{name: a, input: q, verification: {min_compliance: 0.9}}]
"""


def test_custom_tools_from_a_spec(tmp_path):
    (tmp_path / "spec.yaml").write_text(SPEC)
    steps = [
        {
            "type": "tool_call",
            "tool_name": "frobnicate",
            "tool_args": {"doc": "x"},
            "tool_result": 1,
        }
    ]
    (tmp_path / "t.json").write_text(json.dumps({"input": "q", "output": "Ok.", "steps": steps}))
    assert "never looked at" not in verify(tmp_path / "t.json").stdout
    ran = verify("--spec", tmp_path / "spec.yaml", tmp_path / "t.json")
    assert "never looked at" in ran.stdout, ran.stderr
    (tmp_path / "none.yaml").write_text("cases: [{name: a, input: q, path: {max_tool_calls: 1}}]")
    ran = verify("--spec", tmp_path / "none.yaml", tmp_path / "t.json")
    assert ran.returncode == 2
    assert "defaults: verification:" in ran.stderr


def test_other_files_in_a_folder_of_claude_code_are_skipped(tmp_path):
    session = (SESSIONS / "read-tool-variants.jsonl").read_text()
    (tmp_path / "s.jsonl").write_text(session)
    (tmp_path / "sessions-index.json").write_text('{"version": 1}')
    (tmp_path / "settings.json").write_text("{}")
    summary = '{"type": "summary", "summary": "x", "leafUuid": "1"}\n'
    (tmp_path / "old.jsonl").write_text(summary)
    ran = verify(tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "only summaries" in ran.stderr
    assert "1 session: " in ran.stdout
    assert verify(tmp_path / "old.jsonl").returncode == 3


def test_a_folder_of_subagents_is_refused_with_its_session_named(tmp_path):
    inside = tmp_path / "s" / "subagents"
    inside.mkdir(parents=True)
    (tmp_path / "s.jsonl").write_text("{}")
    (inside / "agent-1.jsonl").write_text("{}")
    ran = verify(inside)
    assert ran.returncode == 2
    assert "part of" in ran.stderr and "s.jsonl" in ran.stderr
