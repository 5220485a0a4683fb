"""Hostile stores are refused before an agent is called, or lose nothing that was recorded."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import sqlite3
import time
from pathlib import Path

import psycopg
import pytest

from tests.postgres import PASSWORD, execute, postgres_server
from tests.tiers import all_but_first
from trialrun.store import open_store
from trialrun.store.migrations import VERSION_TABLE

AGENT = """
import os, time
from pathlib import Path


def run(question):
    with open("called.txt", "a") as file:
        file.write(question + "\\n")
    for _ in range(600 if question.startswith("gated") else 0):
        if os.path.exists("go"):
            break
        time.sleep(0.1)
    if question.startswith("slow"):
        time.sleep(0.1)
    if question.startswith("large"):
        return "yes " + os.urandom(200_000).hex()
    return "yes"
"""
RUNNER = {"runner": "agent:run"}
LISTING = (("runs",), ("show",), ("export",), ("compare", "latest~1"), ("baseline", "save"))


@pytest.fixture
def recorder(bench):
    bench.write("agent.py", AGENT)
    return bench


def calls(bench):
    """The questions that the agent has received so far."""
    file = bench.folder / "called.txt"
    return file.read_text().split("\n")[:-1] if file.exists() else []


def many(word, count):
    return {f"{word} {number}": f"{word} {number}" for number in range(count)}


def recorded_run(bench, count=2, word="quick", **options):
    """Record one more run; return the file of the store."""
    names = bench.cases(RUNNER, many(word, count))
    bench.live("--store", "runs.db", **options).expect_complete(names)
    return bench.folder / "runs.db"


def apply_permissions_to_root():
    """Apply file permissions even to root, by dropping CAP_DAC_OVERRIDE."""
    drop_from_bounding_set, override = 24, 1
    ctypes.CDLL(None).prctl(drop_from_bounding_set, override, 0, 0, 0)


# Reported before an agent is called


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("a_folder", "is a folder"),
        ("text.txt", "not a database"),
        ("empty.db", "empty file"),
        ("cut.db", "runs.db|cannot be|malformed|damaged"),
        ("file.txt/runs.db", "cannot be opened"),
        ("x" * 300, "cannot be opened: File name too long"),
        ("other.db", "not a store of trialrun"),
        ("link_to_folder", "is a folder"),
        ("mysql://user:hidden-word@host/base", "a store cannot be at mysql://"),
        ("postgresql://user:hidden-word@127.0.0.1:1/base", "cannot be"),
        ("postgresql://user:hidden-word@@:x/", "cannot be read"),
    ],
)
def test_an_unusable_store_is_reported_before_an_agent_is_called(recorder, location, message):
    folder = recorder.folder
    whole = recorded_run(recorder).read_bytes()
    (folder / "called.txt").unlink()
    (folder / "a_folder").mkdir()
    (folder / "link_to_folder").symlink_to("a_folder")
    for name, content in (("text.txt", b"hello " * 900), ("empty.db", b""), ("file.txt", b"x")):
        recorder.write(name, content)
    recorder.write("cut.db", whole[: len(whole) // 3])
    with sqlite3.connect(folder / "other.db") as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    before = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    done = recorder.live("--store", location)
    assert done.code == 2, done.text
    assert any(word in done.err for word in message.split("|")), done.err
    done.expect_safe()
    assert "Traceback" not in done.err
    assert "hidden-word" not in done.text
    assert len(done.err.splitlines()) == 1
    assert calls(recorder) == []
    assert {file: file.read_bytes() for file in before} == before


def test_a_folder_without_write_permission_is_reported_before_an_agent_is_called(recorder):
    recorder.cases(RUNNER, many("quick", 2))
    closed = recorder.folder / "closed"
    closed.mkdir(0o555)
    done = recorder.live_process("--store", "closed/runs.db", preexec_fn=apply_permissions_to_root)
    done.expect(2, "closed/runs.db", "Permission denied")
    assert calls(recorder) == []
    assert list(closed.iterdir()) == []


def test_a_read_only_store_is_reported_before_an_agent_is_called(recorder):
    recorded_run(recorder)
    shelf = recorder.folder / "shelf"
    shelf.mkdir()
    shutil.copy(recorder.folder / "runs.db", shelf)
    (shelf / "runs.db").chmod(0o444)
    shelf.chmod(0o555)
    (recorder.folder / "called.txt").unlink()
    done = recorder.live_process("--store", "shelf/runs.db", preexec_fn=apply_permissions_to_root)
    assert done.code in (2, 3)
    assert "Traceback" not in done.err
    assert "shelf/runs.db" in done.err
    assert calls(recorder) == []


def test_a_store_in_a_missing_folder_is_created(recorder):
    recorder.cases(RUNNER, many("quick", 1))
    assert recorder.live("--store", "here/and/there/runs.db").code == 0
    recorder.run("show", "--store", "here/and/there/runs.db").expect(0)


def test_a_symbolic_link_to_a_store_is_followed(recorder):
    store = recorded_run(recorder)
    (recorder.folder / "link.db").symlink_to("runs.db")
    assert recorder.live("--store", "link.db").code == 0
    assert (recorder.folder / "link.db").is_symlink()
    with open_store(str(store)) as opened:
        assert len(opened.runs()) == 2


@pytest.mark.parametrize("target", ["not_mounted/runs.db", "link.db"])
def test_a_dangling_link_is_not_replaced_by_a_new_store(recorder, target):
    recorder.cases(RUNNER, many("quick", 1))
    link = recorder.folder / "link.db"
    link.symlink_to(target)
    recorder.live("--store", "link.db")
    assert link.is_symlink()


@pytest.mark.parametrize("location", [".", "~nobody-of-that-name/runs.db"])
def test_a_path_that_cannot_be_a_store_is_refused(recorder, location):
    recorder.cases(RUNNER, many("quick", 1))
    recorder.live("--store", location).expect(2)


def test_a_store_in_memory_is_refused_and_creates_no_file(recorder):
    recorder.cases(RUNNER, many("quick", 1))
    recorder.live("--store", ":memory:").expect(2, ":memory:")
    assert not (recorder.folder / ":memory:").exists()


def test_a_device_is_refused_without_advice_to_delete_it(recorder):
    recorder.cases(RUNNER, many("quick", 1))
    assert "delete it" not in recorder.live("--store", "/dev/null").expect(2).err


def test_the_environment_names_the_store_and_an_empty_value_means_the_default(recorder):
    recorder.cases(RUNNER, many("quick", 1))
    assert recorder.live(env={"TRIALRUN_STORE": ""}).code == 0
    assert (recorder.folder / ".trialrun" / "runs.db").exists()
    recorder.live(env={"TRIALRUN_STORE": "ftp://x/y"}).expect(2, "a store cannot be at ftp://")
    password = {"TRIALRUN_STORE": "postgresql://me:hidden-word@127.0.0.1:1/x"}
    assert "hidden-word" not in recorder.live(env=password).expect(2).text


def test_a_newer_store_is_refused_and_untouched(recorder):
    store = recorded_run(recorder)
    with sqlite3.connect(store) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    connection.close()
    (recorder.folder / "called.txt").unlink()
    before = store.read_bytes()
    recorder.live("--store", "runs.db").expect(2, "newer trialrun", "update trialrun")
    for command in LISTING:
        recorder.run(*command, "--store", "runs.db").expect(2, "newer trialrun")
    assert store.read_bytes() == before
    assert calls(recorder) == []


# Damage


def flipped(data, at):
    return data[:at] + bytes((data[at] ^ 0x10,)) + data[at + 1 :]


def test_a_flipped_bit_never_loses_results_silently(recorder):
    for _ in range(3):
        store = recorded_run(recorder, 4)
    with open_store(str(store)) as opened:
        ids = [run.id for run in opened.runs()]
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole = store.read_bytes()
    damaged = recorder.folder / "damaged.db"
    silent = []
    for at in [16, 18, 24, 28, 60, 96, *range(100, len(whole), len(whole) // 60)]:
        for beside in recorder.folder.glob("damaged.db*"):
            shutil.rmtree(beside) if beside.is_dir() else beside.unlink()
        damaged.write_bytes(flipped(whole, at))
        for run in ids:
            shown = recorder.run("show", run, "--format", "json", "--store", "damaged.db")
            assert "Traceback" not in shown.text, (at, shown.text[-2000:])
            if shown.code != 0:
                assert shown.code in (2, 3), (at, shown.text)
                assert "damaged.db" in shown.text or run in shown.text, (at, shown.text)
                continue
            summary = json.loads(shown.out)["summary"]
            if (summary["planned"], summary["results"], summary["pass"]) != (4, 4, 4):
                silent.append((at, run, summary))
    assert not silent


@pytest.fixture
def damaged(recorder):
    """Two runs of three cases each; of the second, one result has a flipped bit."""
    recorded_run(recorder, 3)
    store = recorded_run(recorder, 3)
    with sqlite3.connect(store) as connection:
        latest = "SELECT id FROM trialrun_runs ORDER BY created_at DESC LIMIT 1"
        which = f"WHERE run_id = ({latest}) AND position = 1"
        read = f"SELECT result FROM trialrun_attempts {which}"
        (blob,) = connection.execute(read).fetchone()
        change = f"UPDATE trialrun_attempts SET result = ? {which}"
        connection.execute(change, (flipped(blob, len(blob) // 2),))
    connection.close()
    return recorder


def test_one_damaged_attempt_is_named_and_the_others_stay_readable(damaged):
    store = ("--store", "runs.db")
    shown = damaged.run("show", "latest", "--format", "json", *store)
    shown.expect(3, "quick 1", "is damaged in runs.db")
    summary = json.loads(shown.out)["summary"]
    assert (summary["planned"], summary["pass"], summary["error"]) == (3, 2, 1)
    damaged.run("show", "latest~1", *store).expect(0, "3 passed")
    exported = damaged.run("export", *store).expect(0).out.splitlines()
    assert [json.loads(line)["status"] for line in exported] == ["pass", "error", "pass"]
    again = json.loads(damaged.run("regrade", "--format", "json", *store).expect(3).out)
    assert [row["status"] for row in again["results"]] == ["pass", "error", "pass"]


def test_a_damaged_attempt_is_shown_on_a_terminal(damaged):
    for arguments in ((), ("-v",), ("latest", "quick 1")):
        shown = damaged.run("show", *arguments, "--store", "runs.db")
        assert "Traceback" not in shown.err
        assert "is damaged" in shown.text, arguments
        assert shown.code == 3, arguments


@pytest.mark.parametrize("share", all_but_first(pytest.mark.process, [0.6, 0.02, 0.3, 0.95]))
def test_a_truncated_store_is_reported_by_every_command(recorder, share):
    store = recorded_run(recorder, 4)
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole = store.read_bytes()
    store.write_bytes(whole[: int(len(whole) * share)])
    for command in LISTING[:3]:
        done = recorder.run(*command, "--store", "runs.db")
        assert "Traceback" not in done.text
        assert done.code in (2, 3), (command, done.text)
        assert "runs.db" in done.text


@pytest.mark.process
def test_a_full_disk_is_reported_and_recorded_attempts_are_kept(recorder):
    names = recorder.cases(RUNNER, many("large", 40))

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))

    done = recorder.live_process("--store", "runs.db", "-j", "2", preexec_fn=small_files)
    assert done.code == 3, done.text
    assert "Traceback" not in done.err
    assert "runs.db cannot be written" in done.err
    assert not recorder.left_running()
    exported = recorder.run("export", "--store", "runs.db").expect(0).out.splitlines()
    made = [row for row in map(json.loads, exported) if row["status"] == "pass"]
    assert len(exported) == 40
    assert 0 < len(made) < 40
    again = recorder.live("--store", "runs.db", "--resume").expect_complete(names)
    assert again.code == 0
    asked = calls(recorder)
    assert all(asked.count(row["case"]) == 1 for row in made)


# Concurrent access


@pytest.mark.process
def test_three_runs_write_into_one_store_at_once(recorder, store_location):
    names = recorder.cases(RUNNER, many("slow", 30))
    given = ("run", "spec.yaml", "--format", "json", "--store", store_location)
    three = (recorder.start(*given) for _ in range(3))
    with next(three) as one, next(three) as two, next(three) as last:
        for process in (one, two, last):
            out, err = process.communicate()
            assert process.returncode == 0, err
            assert json.loads(out)["summary"]["pass"] == len(names)
    with open_store(store_location) as opened:
        assert [opened.tally(run.id) for run in opened.runs()] == [{"pass": 30}] * 3


@pytest.mark.slow
def test_a_run_can_be_read_while_it_is_written(recorder, store_location):
    recorder.cases(RUNNER, many("slow", 40))
    given = ("run", "spec.yaml", "-q", "-j", "2", "--store", store_location)
    seen = []
    with recorder.start(*given) as process:
        while process.poll() is None:
            listed = recorder.run("runs", "--json", "--store", store_location)
            if listed.code == 0 and json.loads(listed.out):
                row = json.loads(listed.out)[0]
                seen.append(row["attempts"].get("pass", 0))
                shown = recorder.run("show", "--format", "json", "--store", store_location)
                summary = json.loads(shown.out)["summary"]
                assert summary["planned"] == summary["results"] == 40
                assert shown.code == (0 if summary["complete"] else 3), shown.text
                exported = recorder.run("export", "--store", store_location).expect(0)
                assert len(exported.out.splitlines()) == 40
            else:
                assert listed.code in (0, 2), listed.text  # it does not exist yet
        assert process.returncode == 0, process.communicate()
    assert seen == sorted(seen)
    assert len(set(seen)) > 2


def test_a_run_that_is_being_written_is_neither_resumed_nor_pruned(recorder, store_location):
    recorder.cases(RUNNER, many("gated", 2))
    store = ("--store", store_location)
    with recorder.start("run", "spec.yaml", "-q", "-j", "1", *store) as process:
        while not calls(recorder):
            time.sleep(0.05)
        recorder.live("--resume", *store).expect(2, "is being written by another process")
        recorder.run("prune", "--keep", "0", *store).expect(0, "0 runs deleted")
        recorder.write("go", "")
        assert process.wait() == 0
    assert len(calls(recorder)) == 2


# PostgreSQL


@pytest.mark.postgres
def test_a_server_that_stops_during_a_run_is_reported(recorder):
    server = postgres_server.__wrapped__()  # a separate server, because this test kills it
    execute(server, "CREATE DATABASE mine")
    location = f"{server}/mine"
    with psycopg.connect(f"{server}/postgres") as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone()
    names = recorder.cases(RUNNER, many("slow", 200))
    with recorder.start("run", "spec.yaml", "-j", "2", "--store", location) as process:
        while len(calls(recorder)) < 10:
            time.sleep(0.05)
        master = int(Path(folder, "postmaster.pid").read_text().split("\n")[0])
        os.kill(master, signal.SIGQUIT)  # what `pg_ctl stop -m immediate` sends
        _, err = process.communicate()
    assert process.returncode == 3, err
    assert b"Traceback" not in err
    assert PASSWORD.encode() not in err
    assert b"cannot be written" in err
    assert not recorder.left_running()
    assert len(calls(recorder)) < len(names)
    assert recorder.run("show", "--store", location).expect(2).text.count(PASSWORD) == 0


@pytest.mark.slow
def test_connections_that_are_cut_during_a_run_lose_nothing(recorder, postgres_url):
    names = recorder.cases(RUNNER, many("slow", 60))
    server, _, base = postgres_url.rpartition("/")
    with recorder.start("run", "spec.yaml", "-j", "2", "--store", postgres_url) as process:
        while len(calls(recorder)) < 10:
            time.sleep(0.05)
        cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{base}'"
        execute(server, cut)
        _, err = process.communicate()
    assert b"Traceback" not in err
    assert process.returncode in (0, 3), err
    if process.returncode:
        done = recorder.live("--resume", "--store", postgres_url).expect_complete(names)
        assert done.code == 0
    asked = calls(recorder)
    assert all(asked.count(name) <= 2 for name in names)
    with open_store(postgres_url) as opened:
        assert opened.tally(opened.runs()[0].id) == {"pass": 60}


def test_a_wrong_password_is_never_printed(recorder, postgres_url):
    recorder.cases(RUNNER, many("quick", 1))
    wrong = postgres_url.replace(PASSWORD, "hidden-word")
    done = recorder.live("--store", wrong).expect(2, "password authentication failed")
    assert "hidden-word" not in done.text
    assert calls(recorder) == []


# Times and baselines


def test_a_clock_that_is_set_back_makes_no_duration_negative(recorder):
    """The wall clock of the agent and the run goes back an hour at each call."""
    recorder.write(
        "sitecustomize.py",
        "import time\nfirst = time.time\nlooks = [0]\n"
        "def back():\n    looks[0] += 1\n    return first() - 3600 * looks[0]\n"
        "time.time = back\n",
    )
    names = recorder.cases(RUNNER, many("slow", 5))
    done = recorder.live_process("--store", "runs.db", env={"PYTHONPATH": str(recorder.folder)})
    assert done.expect_complete(names).code == 0
    assert all(row["duration_ms"] >= 0 for row in done.rows.values())
    recorder.run("show", "--store", "runs.db").expect(0, "5 passed")


BASELINES = {
    "torn": (lambda data: data[: len(data) // 2], "cannot be read"),
    "empty": (lambda data: b"", "baseline"),
    "foreign": (lambda data: b'{"hello": 1}', "baseline"),
    "a list": (lambda data: b"[" + data + b"," + data + b"]", "baseline"),
    "not UTF-8": (lambda data: b"\xff" + data, "cannot be read"),
}


@pytest.mark.parametrize("damage", all_but_first(pytest.mark.process, BASELINES))
def test_a_baseline_that_cannot_be_read_is_an_error_and_never_passes(recorder, damage):
    change, message = BASELINES[damage]
    names = recorder.cases(RUNNER, many("quick", 2))
    recorder.live("--store", "runs.db").expect_complete(names)
    recorder.run("baseline", "save", "--store", "runs.db").expect(0, "2 baselines written")
    file = sorted((recorder.folder / "baselines").rglob("*.json"))[0]
    file.write_bytes(change(file.read_bytes()))
    done = recorder.live("--store", "runs.db").expect_complete(names)
    assert sorted(done.statuses.values()) == ["error", "pass"], done.text
    assert message in done.out
    for command in (("compare", "baseline"), ("baseline", "diff"), ("baseline", "list")):
        given = (*command, "--store", "runs.db") if command[1] != "list" else command
        done = recorder.run(*given)
        assert done.code in (2, 3), (command, done.text)
        assert "Traceback" not in done.text


def test_a_missing_baseline_that_a_case_names_is_an_error(recorder):
    recorder.spec(
        json.dumps(
            {
                **RUNNER,
                "queries": [
                    {
                        "name": "one",
                        "query": "q",
                        "baseline": "nowhere.json",
                        "correctness": {"expected_in_answer": ["yes"]},
                    }
                ],
            }
        )
    )
    done = recorder.live().expect_complete(["one"])
    assert done.statuses == {"one": "error"}
    assert "nowhere.json does not exist" in done.out
