"""`trialrun verify`: one look, no configuration."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trialrun.testing import SCENARIOS

SESSIONS = Path(__file__).parents[1] / "data" / "claude-code"


def verify(*arguments):
    command = [sys.executable, "-m", "trialrun", "verify", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_folder_of_sessions():
    ran = verify(SESSIONS)
    assert ran.returncode == 0, ran.stderr
    assert "compliant  1.00 perfect  read-tool-variants" in ran.stdout
    assert "never looked at afterwards" in ran.stdout
    assert "3 sessions: " in ran.stdout


def test_the_claims_with_their_evidence():
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


def test_fail_on_something_that_is_not():
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


def test_what_cannot_be_read_is_named_and_the_rest_shown(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"input": "q", "output": "Done."}\n{"input": \n')
    ran = verify(file)
    assert ran.returncode == 3
    assert "t.jsonl:2" in ran.stderr and "1 session: " in ran.stdout


def test_a_session_of_which_a_line_is_lost_has_no_good_verdict(tmp_path):
    lines = (SESSIONS / "read-tool-variants.jsonl").read_text().splitlines()
    (tmp_path / "cut.jsonl").write_text("\n".join(lines)[:-200])
    ran = verify(tmp_path / "cut.jsonl")
    assert ran.returncode == 3
    assert ran.stdout.startswith("not compliant  0.84 good  cut")


def test_no_such_file_and_no_trace(tmp_path):
    assert verify(tmp_path / "none.json").returncode == 2
    assert verify(tmp_path).returncode == 2
    assert verify().returncode == 2


def test_text_of_an_agent_is_inert(tmp_path):
    file = tmp_path / "t.json"
    file.write_text(
        json.dumps({"input": "q", "output": "All tests pass \x1b[2J\u202e now.", "steps": []})
    )
    ran = verify(file)
    assert "\x1b" not in ran.stdout and "\u202e" not in ran.stdout


def test_quiet():
    assert verify("-q", SCENARIOS / "compliant.jsonl").stdout.startswith("8 sessions: ")
