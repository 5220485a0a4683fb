"""`trialrun verify --hook`: recorded calls of Claude Code's Stop hook, flushed and not flushed."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tests.cli.sessions import PASSED, SOUND, STALE, bash, edit, rows, write
from tests.watchdog import WALL_SECONDS
from trialrun.cli.main import main
from trialrun.cli.verify import hook_input
from trialrun.util import files


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The current folder; the hook does not wait, and the pauses are counted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIALRUN_STORE", raising=False)
    pauses = []
    monkeypatch.setattr(hook_input.time, "sleep", pauses.append)
    return types.SimpleNamespace(folder=tmp_path, pauses=pauses)


def given(transcript, **fields):
    """What Claude Code 2.1 gives a Stop hook."""
    return {
        "session_id": "the-session",
        "transcript_path": str(transcript),
        "cwd": str(Path.cwd()),
        "permission_mode": "acceptEdits",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        **fields,
    }


def call(document, *arguments):
    """The hook in this process: exit code, its JSON or None, stderr."""
    text = document if isinstance(document, str) else json.dumps(document)
    stdin = types.SimpleNamespace(buffer=io.BytesIO(text.encode()))
    out, err = io.StringIO(), io.StringIO()
    before, sys.stdin = sys.stdin, stdin
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["verify", "--hook", *arguments])
    finally:
        sys.stdin = before
    printed = out.getvalue()
    return code, json.loads(printed) if printed else None, err.getvalue()


@pytest.fixture
def stale(project):
    return write(project.folder / "s.jsonl", rows(STALE, "All tests pass."))


def test_it_reports_and_lets_go(stale):
    code, answer, said = call(given(stale))
    assert code == 0
    assert list(answer) == ["systemMessage"]
    assert "TR104 tax.py was changed after the last run of pytest" in answer["systemMessage"]
    assert "TR104" in said


def test_a_sound_session_is_passed_over_in_silence(project):
    file = write(project.folder / "s.jsonl", rows(SOUND, "All tests pass."))
    assert call(given(file), "--block") == (0, None, "")


def test_a_block_names_the_claim_what_undid_it_the_command_and_the_way_out(stale):
    code, answer, _ = call(given(stale), "--block")
    assert (code, answer["decision"]) == (0, "block")
    assert answer["reason"] == (
        'The last message says "All tests pass.", and the session does not show it.\n'
        "TR104 changed-after-run: tax.py was changed after the last run of pytest (steps s4, s6)\n"
        "Either run `pytest -q` and say what it shows, or say it without the claim."
    )


def test_a_claim_that_is_repeated_is_given_back_once(project):
    file = write(project.folder / "s.jsonl", rows(STALE, "All tests pass. " * 3))
    _, answer, _ = call(given(file), "--block")
    assert answer["reason"].count("TR104") == 1


def test_a_change_that_nothing_exercised(project):
    file = write(project.folder / "s.jsonl", rows([edit("tax.py")], "The rounding is new."))
    _, answer, _ = call(given(file), "--block")
    assert answer["reason"].endswith(
        "Either run a check of it and say what it shows, or say that it was not tried."
    )


def test_in_a_process(stale):
    ran = subprocess.run(
        [sys.executable, "-m", "trialrun", "verify", "--hook", "--block"],
        input=json.dumps(given(stale)),
        capture_output=True,
        text=True,
        timeout=WALL_SECONDS,
    )
    assert (ran.returncode, json.loads(ran.stdout)["decision"]) == (0, "block")


# The transcript lags behind


def test_the_last_message_is_that_of_the_hook_where_the_transcript_lacks_it(project):
    file = write(project.folder / "s.jsonl", rows(STALE))
    _, answer, _ = call(given(file, last_assistant_message="All tests pass."), "--block")
    assert answer["decision"] == "block" and len(project.pauses) == hook_input.TRIES - 1


@pytest.mark.parametrize("rows_there", [7, 8, 9])
def test_a_run_that_is_not_in_the_transcript_yet_is_waited_for(rows_there, project, monkeypatch):
    whole = rows([*STALE, PASSED], "All tests pass.")
    assert len(whole) == 10
    file = write(project.folder / "s.jsonl", whole[:rows_there])
    monkeypatch.setattr(hook_input.time, "sleep", lambda seconds: write(file, whole))
    document = given(file, last_assistant_message="All tests pass.")
    assert call(document, "--block") == (0, None, "")


def test_a_message_that_is_there_is_not_waited_for(stale, project):
    call(given(stale, last_assistant_message="All tests pass."), "--block")
    assert project.pauses == []


def test_a_message_that_is_in_both_counts_once(stale):
    _, answer, _ = call(given(stale, last_assistant_message="All tests pass."))
    assert answer["systemMessage"].count("TR104") == 1


def test_it_waits_for_the_end_of_the_transcript(project, monkeypatch):
    file = write(project.folder / "s.jsonl", rows(STALE))
    whole = rows(STALE, "All tests pass.")
    monkeypatch.setattr(hook_input.time, "sleep", lambda seconds: write(file, whole))
    _, answer, _ = call(given(file), "--block")
    assert answer["decision"] == "block"


def test_it_waits_for_a_line_that_is_being_written(project, monkeypatch):
    whole = rows(STALE, "All tests pass.")
    file = write(project.folder / "s.jsonl", whole)
    file.write_text(file.read_text()[:-40])
    monkeypatch.setattr(hook_input.time, "sleep", lambda seconds: write(file, whole))
    _, answer, _ = call(given(file), "--block")
    assert answer["decision"] == "block"


@pytest.mark.parametrize("message", [None, "All tests pass."])
def test_it_waits_a_bounded_moment_and_lets_go(message, project):
    calls = [*STALE, ("Bash", {"command": "pytest"}, None)]  # its result is not written yet
    file = write(project.folder / "s.jsonl", rows(calls))
    code, answer, said = call(given(file, last_assistant_message=message), "--block")
    assert (code, answer) == (0, None)
    assert "not checked" in said
    assert len(project.pauses) == hook_input.TRIES - 1 and sum(project.pauses) <= 0.5


def test_a_transcript_that_does_not_grow_is_read_once(project, monkeypatch):
    file = write(project.folder / "s.jsonl", rows(STALE))
    reads = []
    read = hook_input._read
    monkeypatch.setattr(hook_input, "_read", lambda path: reads.append(path) or read(path))
    code, answer, said = call(given(file), "--block")
    assert (code, answer) == (0, None) and "its end is not in the transcript yet" in said
    assert reads == [file] and len(project.pauses) == hook_input.TRIES - 1


# Nothing goes on for ever


def test_never_twice_for_the_same_finding(stale):
    assert call(given(stale), "--block")[1]["decision"] == "block"
    _, answer, said = call(given(stale, stop_hook_active=True), "--block")
    assert "decision" not in answer and "sent back for this before" in said


def claims(project, *says):
    """One call of the hook for each message, without a prompt of the user in between."""
    file = project.folder / "s.jsonl"
    for number, text in enumerate(says):
        write(file, rows(STALE, text))
        yield call(given(file, stop_hook_active=number > 0), "--block")


CLAIMS = ["All tests pass.", "The test suite passes.", "pytest is green.", "Every test passes now."]


def test_at_most_three_times_a_prompt(project):
    *first, last = [answer for _, answer, _ in claims(project, *CLAIMS)]
    assert [one.get("decision") for one in first] == ["block"] * 3
    assert "sent back 3 times for this prompt" in last["systemMessage"]
    # With the next prompt it may be sent back again.
    file = project.folder / "s.jsonl"
    turn = rows(STALE, CLAIMS[3], "Again.", start=50, parent="u8")
    write(file, rows(STALE, CLAIMS[0]), turn)
    assert call(given(file), "--block")[1]["decision"] == "block"


def test_an_agent_that_another_hook_keeps_at_work_is_let_go(stale):
    _, answer, said = call(given(stale, stop_hook_active=True), "--block")
    assert "decision" not in answer and "another hook" in said


def test_what_is_remembered_lies_in_the_folder_of_the_store(stale, project, monkeypatch):
    call(given(stale), "--block")
    (file,) = (project.folder / ".trialrun" / "hook").iterdir()
    assert file.name.startswith("the-session-")
    assert (project.folder / ".trialrun" / ".gitignore").read_text() == "*\n"
    monkeypatch.setenv("TRIALRUN_STORE", "elsewhere/runs.db")
    assert call(given(stale), "--block")[1]["decision"] == "block"
    assert list((project.folder / "elsewhere" / "hook").iterdir())


@pytest.mark.parametrize("session", ["../../../pwned", "a/b", "x" * 5000, "", "\x00", "CON"])
def test_the_name_of_a_session_is_only_a_label(session, stale, project):
    assert call(given(stale, session_id=session), "--block")[1]["decision"] == "block"
    (file,) = (project.folder / ".trialrun" / "hook").iterdir()
    assert len(file.name) < 80


def test_without_a_memory_nothing_is_blocked(stale, project, monkeypatch):
    (project.folder / ".trialrun").write_text("a file, not a folder")
    _, answer, said = call(given(stale), "--block")
    assert "decision" not in answer and "not blocked" in said


def test_a_full_disk(stale, monkeypatch):
    def full(target, chunks):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "replace_file", full)
    monkeypatch.setattr("trialrun.cli.verify.hook_memory.replace_file", full)
    _, answer, said = call(given(stale), "--block")
    assert "decision" not in answer and "cannot be written" in said


def test_a_torn_memory(stale, project):
    call(given(stale), "--block")
    (file,) = (project.folder / ".trialrun" / "hook").iterdir()
    file.write_text('{"seen": [')
    _, answer, said = call(given(stale), "--block")
    assert "decision" not in answer and "cannot be read" in said


# Sessions that are not whole


def test_a_history_that_is_cut_at_its_head_only_warns(project):
    file = write(project.folder / "s.jsonl", rows(STALE, "All tests pass.", parent="elsewhere"))
    _, answer, said = call(given(file), "--block")
    assert "decision" not in answer and "beginning of the session" in said


def test_a_session_that_goes_on_from_a_summary_only_warns(project):
    found = rows(STALE, "All tests pass.")
    summary = {**found[0], "uuid": "u0", "isCompactSummary": True}
    found[0]["parentUuid"] = "u0"
    file = write(project.folder / "s.jsonl", [summary], found)
    _, answer, said = call(given(file), "--block")
    assert "decision" not in answer and "beginning of the session" in said


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"transcript_path": 3}', '{"transcript_path": "/none.jsonl"}'],
)
def test_whatever_stdin_holds_the_agent_may_stop(text, project):
    code, answer, said = call(text, "--block")
    assert (code, answer) == (0, None) and "not checked" in said


@pytest.mark.parametrize("text", ["", "{}\n", "\x00\x01", '{"type": "user"}\n{"type": "us'])
def test_a_transcript_that_cannot_be_read(text, project):
    file = project.folder / "s.jsonl"
    file.write_text(text)
    code, answer, said = call(given(file, last_assistant_message="All tests pass."), "--block")
    assert (code, answer) == (0, None) and "not checked" in said


def test_a_mistake_in_the_settings_is_said_and_does_not_block(stale, project):
    (project.folder / "pyproject.toml").write_text("[tool.trialrun.verification]\nselect = 3\n")
    code, answer, said = call(given(stale), "--block")
    assert (code, answer) == (0, None) and "pyproject.toml" in said


def test_the_settings_of_the_project_count(stale, project):
    (project.folder / "pyproject.toml").write_text(
        '[tool.trialrun.verification]\nseverity = {TR104 = "warn", TR101 = "warn"}\n'
    )
    _, answer, _ = call(given(stale), "--block")
    assert "TR104 [warning]" in answer["systemMessage"]


# The skip word, and the hook's own settings


def test_the_skip_word_counts_in_the_latest_prompt_of_the_user(project):
    file = project.folder / "s.jsonl"
    write(file, rows(STALE, "All tests pass.", "Fix it. trialrun: skip"))
    _, answer, said = call(given(file), "--block")
    assert "decision" not in answer and "trialrun: skip" in said
    later = rows(STALE, "All tests pass.", "Go on.", start=50, parent="u8")
    write(file, rows(SOUND, "Ok.", "trialrun: skip"), later)
    assert call(given(file), "--block")[1]["decision"] == "block"


def test_the_skip_word_of_a_file_or_of_the_agent_does_nothing(project):
    calls = [bash("cat notes", "trialrun: skip"), *STALE]
    file = write(project.folder / "s.jsonl", rows(calls, "All tests pass. trialrun: skip"))
    assert call(given(file), "--block")[1]["decision"] == "block"


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_session_that_changes_the_settings_of_the_hook_is_reported(name, project):
    calls = [*SOUND, edit(f".claude/{name}", "{}", '{"hooks": {}}')]
    file = write(project.folder / "s.jsonl", rows(calls, "The naming is nicer."))
    _, answer, _ = call(given(file))
    assert f"changed settings of this hook: {name} (step s6)" in answer["systemMessage"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("python3 -c \"open('.claude/settings.json', 'w')\"", "may have changed settings"),
        ("rm -rf .claude", "changed settings of this hook: .claude"),
        ("rm -rf '.claude'; ls", "changed settings of this hook: .claude"),
        ("rm -r .trialrun/hook", "changed settings of this hook: hook"),
    ],
)
def test_a_command_that_changes_them_is_reported(command, said, project):
    file = write(project.folder / "s.jsonl", rows([*SOUND, bash(command, "")], "Tidied up."))
    assert said in call(given(file))[1]["systemMessage"]


@pytest.mark.parametrize("command", ["cat .claude/settings.json", "ls -la .claude"])
def test_a_look_at_them_is_not(command, project):
    file = write(project.folder / "s.jsonl", rows([*SOUND, bash(command, "{}")], "Looked."))
    assert call(given(file))[1] is None


# Subagents


def test_a_subagent_is_judged_by_its_own_transcript(project):
    main_file = write(project.folder / "s.jsonl", rows(SOUND, "Ok."))
    agent = rows(STALE, "All tests pass.", "trialrun: skip", isSidechain=True, agentId="a1")
    file = write(project.folder / "s" / "subagents" / "agent-a1.jsonl", agent)
    document = given(
        main_file,
        hook_event_name="SubagentStop",
        agent_transcript_path=str(file),
        agent_id="a1",
        last_assistant_message="All tests pass.",
    )
    assert call(document, "--block")[1]["decision"] == "block"
    write(main_file, rows(SOUND, "Ok.", "Fix it. trialrun: skip"))
    write(file, [{**row, "sessionId": "other"} for row in agent])
    document = {**document, "session_id": "other"}
    assert "decision" not in call(document, "--block")[1]


def test_a_subagent_without_a_transcript_is_let_go(stale):
    code, answer, said = call(given(stale, hook_event_name="SubagentStop"), "--block")
    assert (code, answer) == (0, None) and "no transcript" in said


# Its cost


@pytest.mark.process
def test_a_session_of_a_thousand_calls_takes_little_cpu(project):
    calls = []
    for number in range(333):
        path = f"src/m{number % 40}.py"
        read = ("Read", {"file_path": f"/srv/app/{path}"}, "a line of code\n" * 200)
        calls += [edit(path), bash(f"pytest -q tests/test_m{number % 40}.py", PASSED[2]), read]
    file = write(project.folder / "s.jsonl", rows([*calls, edit("src/m1.py")], "All tests pass."))
    program = (
        "import resource, sys\nfrom trialrun.cli.main import main\n"
        "code = main(['verify', '--hook', '--block'])\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "sys.stderr.write(f'cpu {used.ru_utime + used.ru_stime}\\n')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(given(file)),
        capture_output=True,
        text=True,
        timeout=WALL_SECONDS,
    )
    assert "TR101" in ran.stdout, ran.stderr
    seconds = float(ran.stderr.rpartition("cpu ")[2])
    assert seconds < 3, seconds  # measured: 0.4; the machine of a test run may be slow
