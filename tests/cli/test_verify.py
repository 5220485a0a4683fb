"""`trialrun verify`: findings, statements, formats and exit codes on the command line."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.cli.sessions import PASSED, SOUND, STALE, bash, edit, rows, write
from tests.watchdog import WALL_SECONDS
from trialrun.cli.main import main
from trialrun.testing import SCENARIOS
from trialrun.verification.rules import base, tr105_count_not_shown

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


@pytest.fixture
def stale(tmp_path):
    return write(tmp_path / "stale.jsonl", rows(STALE, "All tests pass."))


@pytest.fixture
def sound(tmp_path):
    return write(tmp_path / "sound.jsonl", rows(SOUND, "All tests pass. The naming is nicer."))


@pytest.mark.parametrize("verify", [verify, verify_in_a_process])
def test_a_folder_of_sessions_of_which_one_is_unfinished(verify):
    ran = verify(SESSIONS)
    assert ran.returncode == 3, ran.stderr
    assert "no verdict  edit-tool-variants  the session is not finished" in ran.stdout
    assert "3 sessions: 2 compliant, 1 without a verdict" in ran.stdout


def test_a_finding_is_one_line_with_its_step_its_claim_and_what_to_run(stale):
    ran = verify(stale)
    assert ran.returncode == 0
    (line,) = [line for line in ran.stdout.splitlines() if "TR104" in line and ":" in line[:8]]
    assert line == (
        "stale:s6: TR104 changed-after-run tax.py was changed after the last run of pytest: "
        '"All tests pass." (run: pytest -q)'
    )
    assert '  ~ stale          "All tests pass."  TR104' in ran.stdout
    assert "tax.py  step s6: never exercised afterwards" in ran.stdout


def test_statements_are_listed_and_counted(sound):
    ran = verify(sound)
    assert '✓ verified       "All tests pass."  step s4: pytest passed' in ran.stdout
    assert '· not_checkable  "The naming is nicer."' in ran.stdout
    assert "1 of 2 statements checked" in ran.stdout
    assert ran.stdout.startswith("compliant  sound\n")
    assert "0 findings\n1 session: 1 compliant · 1 of 2 statements checked" in ran.stdout


def test_undecided_statements_are_cut_short_unless_all_are_wanted(tmp_path):
    says = "\n".join(f"- The naming of part {number} is nicer." for number in range(20))
    file = write(tmp_path / "s.jsonl", rows(SOUND, says))
    assert "and 12 more that are not checkable: -v" in verify(file).stdout
    assert "of part 19 is nicer" in verify("-v", file).stdout


def test_claims_of_earlier_turns_are_shown_on_demand_and_do_not_count(tmp_path):
    first = rows(STALE, "All tests pass.")
    then = rows([PASSED], "All tests pass.", "Run them.", start=50, parent=first[-1]["uuid"])
    file = write(tmp_path / "s.jsonl", first, then)
    ran = verify(file)
    assert ran.stdout.startswith("compliant") and "TR104" not in ran.stdout
    shown = verify("-v", file).stdout
    assert "earlier turns: 1 of 1 statement checked" in shown
    assert "TR104" in shown and "(turn 1)" in shown
    assert shown.startswith("compliant  0.90  s")


def test_a_preview_finding_is_listed_as_such_and_never_red(tmp_path, monkeypatch, capsys):
    preview = replace(tr105_count_not_shown.RULE, stable=False)
    monkeypatch.setattr(tr105_count_not_shown, "RULE", preview)
    monkeypatch.setattr(base, "all_rules", lambda: (preview,))
    calls = [edit("a.py"), bash("pytest -q", "3 passed in 0.1s")]
    file = write(tmp_path / "s.jsonl", rows(calls, "All 417 tests pass."))
    assert main(["verify", str(file), "--fail-on", "contradicted,unsupported,stale,open"]) == 0
    printed = capsys.readouterr().out
    assert "TR105 count-not-shown [preview]" in printed
    assert "0 findings, 1 in preview" in printed


@pytest.mark.parametrize("verdict", ["stale", "open", "unchecked"])
def test_fail_on(verdict, stale, sound):
    assert verify("--fail-on", verdict, stale).returncode == 1
    assert verify("--fail-on", verdict, sound).returncode == 0
    assert verify("--fail-on", "contradicted,unsupported", stale).returncode == 0


def test_a_red_run_and_a_check_that_never_ran(tmp_path):
    red = bash("pytest -q", "1 failed, 2 passed in 0.1s", True)
    contradicted = write(tmp_path / "c.jsonl", rows([edit("a.py"), red], "All tests pass."))
    unsupported = write(tmp_path / "u.jsonl", rows([edit("a.py")], "All tests pass."))
    assert verify("--fail-on", "contradicted", contradicted).returncode == 1
    assert verify("--fail-on", "unsupported", unsupported).returncode == 1
    ran = verify("-q", "--fail-on", "contradicted", "--fail-on", "unsupported", tmp_path)
    assert ran.returncode == 1
    assert "failed by --fail-on: c (contradicted), u (unsupported)" in ran.stderr


def test_an_unknown_verdict_in_fail_on_is_refused(sound):
    ran = verify("--fail-on", "unsuported", sound)
    assert ran.returncode == 2
    assert "did you mean `unsupported`" in ran.stderr
    assert verify("--fail-on", ",", sound).returncode == 2


def test_select_and_ignore(stale):
    assert "TR101" not in verify("--select", "TR104", stale).stdout
    assert "TR104" in verify("--select", "changed-after-run", stale).stdout
    ran = verify("--ignore", "TR1", "--fail-on", "stale,open", stale)
    assert ran.returncode == 0 and "0 findings" in ran.stdout
    wrong = verify("--select", "TR9", stale)
    assert wrong.returncode == 2 and "--select: there is no rule `TR9`" in wrong.stderr


def test_json(stale):
    document = json.loads(verify("--json", stale).stdout)
    (run,) = document["runs"]
    assert (run["name"], run["verdict"], run["compliant"]) == ("stale", "not compliant", False)
    assert run["open_obligations"] == ["tax.py"] and run["file"] == str(stale)
    finding = next(one for one in run["findings"] if one["code"] == "TR104")
    assert finding["steps"] == ["s4", "s6"] and not finding["known"]
    assert len(finding["fingerprint"]) == 20
    assert document["summary"]["findings"] == {"TR101": 1, "TR104": 1}
    assert document["summary"]["total_claims"] == sum(document["summary"]["claims"].values()) == 1


def test_a_report_is_written_to_a_file_by_its_ending(stale, tmp_path):
    target = tmp_path / "found.sarif"
    ran = verify("-o", target, stale)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert f"report written to {target}" in ran.stderr
    assert json.loads(target.read_text())["version"] == "2.1.0"
    assert verify("-o", tmp_path / "a.xml", stale).returncode == 0
    assert "<failure " in (tmp_path / "a.xml").read_text()
    assert verify("-o", tmp_path / "a.zip", stale).returncode == 2
    assert verify("--format", "no-such", stale).returncode == 2
    assert verify("--json", "--format", "github", stale).returncode == 2


def test_secrets_are_masked_in_every_format(tmp_path):
    key = "sk-ant-api03-" + "Ab1" * 30
    file = write(tmp_path / "s.jsonl", rows(STALE, f"All tests pass with {key} in place."))
    for form in ("terminal", "json", "github", "sarif"):
        out = verify("--format", form, file).stdout
        assert "[redacted]" in out and "Ab1Ab1Ab1" not in out
    assert "Ab1Ab1Ab1" not in verify("--facts", file).stdout


def test_an_unreadable_line_is_reported_and_the_rest_is_shown(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"input": "q", "output": "Done."}\n{"input": \n')
    ran = verify(file)
    assert ran.returncode == 3
    assert "t.jsonl:2" in ran.stderr and "1 session: " in ran.stdout


def test_a_damaged_session_has_no_verdict(tmp_path):
    lines = (SESSIONS / "read-tool-variants.jsonl").read_text().splitlines()
    (tmp_path / "cut.jsonl").write_text("\n".join(lines)[:-200])
    ran = verify(tmp_path / "cut.jsonl")
    assert ran.returncode == 3
    assert ran.stdout.startswith("no verdict  cut  parts of the session cannot be read")
    (run,) = json.loads(verify("--json", tmp_path / "cut.jsonl").stdout)["runs"]
    assert not run["compliant"] and run["score"] <= 0.84


def test_a_session_that_the_user_interrupted_has_no_verdict(tmp_path):
    found = rows(STALE, "All tests pass.")
    stop = {"role": "user", "content": "[Request interrupted by user]"}
    found.append({**found[0], "uuid": "z", "parentUuid": found[-1]["uuid"], "message": stop})
    ran = verify(write(tmp_path / "s.jsonl", found))
    assert ran.returncode == 3 and ran.stdout.startswith("no verdict  s")
    went_on = rows([PASSED], "All tests pass.", "Go on.", start=50, parent="z")
    ran = verify(write(tmp_path / "s.jsonl", found, went_on))
    assert ran.returncode == 0 and ran.stdout.startswith("compliant  s")


def test_missing_files_and_empty_folders_are_usage_errors(tmp_path):
    assert verify(tmp_path / "none.json").returncode == 2
    assert verify(tmp_path).returncode == 2
    assert verify().returncode == 2
    assert verify("--block", tmp_path).returncode == 2


def test_control_characters_of_an_agent_are_escaped(tmp_path):
    file = tmp_path / "t.json"
    file.write_text(
        json.dumps({"input": "q", "output": "All tests pass \x1b[2J\u202e now.", "steps": []})
    )
    ran = verify(file)
    assert "\x1b" not in ran.stdout and "\u202e" not in ran.stdout


def test_quiet():
    out = verify("-q", SCENARIOS / "compliant.jsonl").stdout
    assert out.splitlines()[1].startswith("8 sessions: ") and len(out.splitlines()) == 2


def test_a_misspelt_key_of_a_trace_gets_a_suggestion(tmp_path):
    (tmp_path / "t.json").write_text('{"input": "q", "ouput": "All tests pass."}')
    assert "did you mean" in verify(tmp_path / "t.json").stderr


def test_a_run_without_a_message(tmp_path):
    step = {"type": "tool_call", "tool_name": "Read", "tool_args": {"file_path": "a"}}
    trace = {"input": "q", "steps": [{**step, "tool_result": "x", "status": "success"}]}
    (tmp_path / "t.json").write_text(json.dumps(trace))
    assert "no final message" in verify(tmp_path / "t.json").stdout


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


def test_facts_show_what_was_recognised_and_what_was_not(tmp_path):
    calls = [*STALE, bash("frobnicate --all", "done"), bash("git push", "To github.test:a/b.git")]
    file = write(tmp_path / "s.jsonl", rows(calls, "Done."))
    ran = verify("--facts", file)
    assert ran.returncode == 0
    assert "s: 5 calls, in /srv/app, finished" in ran.stdout
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert ["s2", "change", "edit", "tax.py", "(code,", "by", "Edit)"] in lines
    assert "run      passed test, pytest -q: 3 passed in 0.1s" in ran.stdout
    assert "act      push (done)" in ran.stdout
    assert "not recognised: 1 command or tool" in ran.stdout
    assert ran.stdout.rstrip().endswith("s8  frobnicate --all")
    (session,) = json.loads(verify("--facts", "--json", file).stdout)["sessions"]
    assert session["runs"][0]["outcome"] == "passed"
    assert [one["command"] for one in session["unknown"]] == ["frobnicate --all"]


def test_rules_are_listed():
    ran = verify("--rules")
    assert ran.returncode == 0
    assert any(line.startswith("TR104  changed-after-run") for line in ran.stdout.splitlines())
