"""What `trialrun verify` takes from a project: its sessions, settings, tasks and baseline."""

from __future__ import annotations

import json
import os
import re

import pytest

from tests.cli.sessions import SOUND, STALE, bash, edit, rows, write
from tests.cli.test_verify import verify
from tests.reports.pages import case_pages


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder, and a project that is the current folder."""
    project = tmp_path / "my.project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def claude_folder(place, project):
    return place / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project))


def aged(file, hours):
    moment = file.stat().st_mtime - hours * 3600
    os.utime(file, (moment, moment))


# Sessions


def test_the_newest_session_of_the_project_is_found(home, tmp_path):
    folder = claude_folder(home / ".claude", tmp_path / "my.project")
    old = write(folder / "old.jsonl", rows(STALE, "All tests pass."))
    write(folder / "new.jsonl", rows(SOUND, "All tests pass."))
    write(folder / "agent-1.jsonl", rows(SOUND, "All tests pass."))
    aged(old, 48)
    ran = verify("--latest")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("compliant  new\n")


def test_another_configuration_folder_of_claude_code(home, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    write(
        claude_folder(tmp_path / "config", tmp_path / "my.project") / "a.jsonl", rows(SOUND, "Ok.")
    )
    assert "1 session" in verify("--latest").stdout


def test_sessions_of_codex_are_found_by_their_folder(home, tmp_path):
    day = home / ".codex" / "sessions" / "2026" / "01" / "02"
    day.mkdir(parents=True)
    for name, cwd in (("mine", str(tmp_path / "my.project")), ("other", "/srv/other")):
        head = {"type": "session_meta", "payload": {"id": name, "cwd": cwd}}
        said = {"type": "message", "role": "assistant"}
        said["content"] = [{"type": "output_text", "text": "Hello."}]
        asked = {**said, "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
        items = [{"type": "response_item", "payload": one} for one in (asked, said)]
        text = "".join(json.dumps(row) + "\n" for row in (head, *items))
        (day / f"rollout-{name}.jsonl").write_text(text)
    ran = verify("--all")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("sessions read       1\n")


def test_without_a_session_it_says_where_it_looked(home):
    ran = verify("--latest")
    assert ran.returncode == 5
    assert ".claude" in ran.stderr and ".codex" in ran.stderr


def test_rates_over_all_sessions_since_a_while(home, tmp_path):
    folder = claude_folder(home / ".claude", tmp_path / "my.project")
    write(folder / "a.jsonl", rows(STALE, "All tests pass."))
    write(folder / "b.jsonl", rows(SOUND, "All tests pass. The naming is nicer."))
    write(folder / "open.jsonl", rows(SOUND))
    aged(write(folder / "old.jsonl", rows(STALE, "All tests pass.")), 24 * 40)
    ran = verify("--all", "--since", "30d")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[:4] == [
        "sessions read       3",
        "with a verdict      2  (1 unfinished or not recorded)",
        "compliant           1 of 2  (50%)",
        "statements checked  2 of 3  (67%)",
    ]
    assert ["TR104", "changed-after-run", "1", "in", "1", "session"] in map(str.split, lines)
    assert json.loads(verify("--all", "--json").stdout)["sessions"] == 4
    verify("--all", "-o", "rates.json")
    assert json.loads((tmp_path / "my.project" / "rates.json").read_text())["sessions"] == 4


def test_the_html_report_of_sessions_has_their_steps(home, tmp_path):
    folder = claude_folder(home / ".claude", tmp_path / "my.project")
    write(folder / "a.jsonl", rows(STALE, "All tests pass."))
    write(folder / "b.jsonl", rows(SOUND, "All tests pass."))
    ran = verify("--all", "-o", "report.html")
    assert ran.returncode == 0, ran.stderr
    text = (tmp_path / "my.project" / "report.html").read_text()
    assert "1 of 2 sessions not compliant" in text
    pages = case_pages(text)
    assert all('<details class="s ' in page for page in pages) and len(pages) == 2
    assert verify("--all", "--share", "-o", "report.html").returncode == 0
    shared = "".join(case_pages((tmp_path / "my.project" / "report.html").read_text()))
    assert '<details class="s ' in shared and "All tests pass" not in shared


@pytest.mark.parametrize(
    "arguments", [["--all", "--since", "soon"], ["--since", "3d"], ["--latest", "a.jsonl"]]
)
def test_calls_that_cannot_work(home, arguments):
    assert verify(*arguments).returncode == 2


# The baseline


@pytest.fixture
def stale(tmp_path):
    return write(tmp_path / "stale.jsonl", rows(STALE, "All tests pass."))


def test_known_findings_are_counted_and_fail_nothing(stale, tmp_path):
    known = tmp_path / "known.json"
    ran = verify("--write-baseline", known, stale)
    assert ran.returncode == 0 and "2 findings written" in ran.stderr
    assert {row["code"] for row in json.loads(known.read_text())["findings"]} == {"TR101", "TR104"}
    ran = verify("--baseline", known, "--fail-on", "stale,open", stale)
    assert ran.returncode == 0
    assert "TR104" not in ran.stdout and "0 findings, 2 known from the baseline" in ran.stdout
    assert all(
        one["known"]
        for one in json.loads(verify("--json", "--baseline", known, stale).stdout)["runs"][0][
            "findings"
        ]
    )


def test_a_new_finding_is_not_known(stale, tmp_path):
    known = tmp_path / "known.json"
    verify("--write-baseline", known, stale)
    write(stale, rows(STALE, "All tests pass. The linter is clean."))
    ran = verify("--baseline", known, "--fail-on", "unsupported", stale)
    assert ran.returncode == 1
    assert "TR102" in ran.stdout and "TR104" not in ran.stdout


def test_the_fingerprint_is_of_the_session_and_the_words_of_the_claim(stale, tmp_path):
    known = tmp_path / "known.json"
    verify("--write-baseline", known, stale)
    write(stale, rows(STALE, "ALL tests  pass!"))
    assert "TR104" not in verify("--baseline", known, stale).stdout
    other = rows(STALE, "All tests pass.", sessionId="another")
    write(stale, other)
    assert "TR104" in verify("--baseline", known, stale).stdout


@pytest.mark.parametrize("text", [None, "", '{"version": 1, "findings": [', '{"version": 9}', "[]"])
def test_a_missing_or_torn_baseline_is_an_error(text, stale, tmp_path):
    known = tmp_path / "known.json"
    if text is not None:
        known.write_text(text)
    ran = verify("--baseline", known, stale)
    assert ran.returncode == 2 and "--baseline" in ran.stderr


# Settings


def settings(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(f"[tool.trialrun.verification]\n{text}\n")


def test_settings_of_the_project_are_found_upwards_of_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "src" / "deep").mkdir(parents=True)
    settings(tmp_path, 'ignore = ["TR1"]')
    (tmp_path / "src" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    monkeypatch.chdir(tmp_path / "src" / "deep")
    file = write(tmp_path / "stale.jsonl", rows(STALE, "All tests pass."))
    assert "0 findings\n" in verify(file).stdout


def test_the_folder_of_the_session_comes_first_if_it_exists(tmp_path, monkeypatch):
    settings(tmp_path / "here", 'ignore = ["TR1"]')
    settings(tmp_path / "there", 'severity = {TR104 = "warn", TR101 = "warn"}')
    monkeypatch.chdir(tmp_path / "here")
    file = write(tmp_path / "s.jsonl", rows(STALE, "All tests pass.", cwd=str(tmp_path / "there")))
    assert "TR101 changed-not-exercised [warning]" in verify(file).stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["TR1"]', "unknown key `selct`; did you mean `select`?"),
        ('select = ["TR9"]', "select: there is no rule `TR9`"),
        ('severity = {TR104 = "error"}', "severity"),
        ('severity = {TR999 = "warn"}', "severity: there is no rule `TR999`"),
        ("runners = [{name = 'x', kind = 'tests', command = 'x'}]", "runners[0].kind"),
        ("ignore = ", "not TOML"),
        ("[tool.trialrun]\nverification = 3", "not TOML"),
    ],
)
def test_a_mistake_in_the_settings_is_an_error_with_its_place(text, message, tmp_path, monkeypatch):
    settings(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "s.jsonl", rows(STALE, "All tests pass."))
    ran = verify(file)
    assert ran.returncode == 2
    assert "pyproject.toml" in ran.stderr and message in ran.stderr


SPEC = """
defaults:
  verification: {%s}
cases: [{name: a, input: q, verification: {min_compliance: 0.9}}]
"""


def test_settings_of_a_spec(tmp_path):
    (tmp_path / "spec.yaml").write_text(SPEC % "severity: {TR104: warn}, ignore: [TR101]")
    file = write(tmp_path / "s.jsonl", rows(STALE, "All tests pass."))
    out = verify("--spec", tmp_path / "spec.yaml", file).stdout
    assert "TR104 changed-after-run [warning]" in out and "TR101" not in out
    (tmp_path / "none.yaml").write_text("cases: [{name: a, input: q, path: {max_tool_calls: 1}}]")
    ran = verify("--spec", tmp_path / "none.yaml", file)
    assert ran.returncode == 2
    assert "defaults: verification:" in ran.stderr


def test_a_runner_of_the_project(tmp_path, monkeypatch):
    calls = [edit("tax.py"), bash("hamster run", "ALL GOOD")]
    file = write(tmp_path / "s.jsonl", rows(calls, "All tests pass."))
    monkeypatch.chdir(tmp_path)
    assert "verified" not in verify(file).stdout.splitlines()[1]
    row = '{name = "hamster", kind = "test", command = "hamster run", passed = "ALL GOOD"}'
    settings(tmp_path, f"runners = [{row}]")
    assert '✓ verified       "All tests pass."' in verify(file).stdout


@pytest.mark.xfail(strict=True, reason="a known fault: a task's body is not certain to be tests")
def test_a_task_of_the_current_project_is_what_its_body_runs(tmp_path, monkeypatch):
    calls = [edit(str(tmp_path / "tax.py")), bash("npm run preflight", "3 passed in 0.1s")]
    file = write(tmp_path / "s.jsonl", rows(calls, "All tests pass.", cwd=str(tmp_path)))
    (tmp_path / "package.json").write_text('{"scripts": {"preflight": "pytest -q"}}')
    monkeypatch.chdir(tmp_path)
    assert '✓ verified       "All tests pass."' in verify(file).stdout
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "· not_checkable" in verify(file).stdout


def test_a_passing_run_of_an_unknown_task_verifies_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = [edit(str(tmp_path / "tax.py")), bash("npm run preflight", "3 passed in 0.1s")]
    file = write(tmp_path / "s.jsonl", rows(calls, "All tests pass."))
    assert "TR102" not in verify(file).stdout
