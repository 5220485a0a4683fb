"""What a run counted is in its store, written by this run; otherwise it has not passed."""

from __future__ import annotations

import sqlite3
import xml.etree.ElementTree as ElementTree
from contextlib import closing

import pytest

from tests.engine.conftest import says

STORE = ".trialrun/runs.db"

# The agent reaches the store of its own run, and does something to it after its first answers.
HARMFUL = """
import shutil, sqlite3

STORE = HERE / ".trialrun" / "runs.db"

def sql(*statements):
    with sqlite3.connect(STORE, timeout=20) as raw:
        for statement in statements:
            raw.execute(statement)

def run(question):
    note(question)
    if question == "c3":
        time.sleep(0.3)   # the attempts before this one are on disk by now
        harm()
    return question
"""

HARMS = {
    "delete": "STORE.unlink()",
    "delete_folder": "shutil.rmtree(STORE.parent)",
    "truncate": "STORE.write_bytes(b'')",
    "overwrite": "STORE.write_bytes(b'nonsense' * 5000)",
    "rename": "STORE.rename(STORE.with_name('else.db'))",
    "replace": "shutil.copy(STORE, HERE / 'copy'); (HERE / 'copy').replace(STORE)",
    "delete_attempts": "sql('DELETE FROM trialrun_attempts WHERE position = 0')",
    "delete_run": "sql('DELETE FROM trialrun_runs')",
    "delete_plan": "sql('DELETE FROM trialrun_planned WHERE position = 0')",
}


CUT = {
    "to nothing": "file.truncate(0)",
    "to its header": "file.truncate(100)",
    "at its beginning": "file.write(b'nonsense' * 1000)",
}


@pytest.mark.parametrize("harm", CUT)
def test_a_store_that_is_cut_while_its_log_is_whole_does_not_pass(project, harm):
    """SQLite reads what it wrote last from its log: the damage shows when the log is written back.

    Cases after the harm write to the log again.
    """
    project.spec(*(says(f"c{number}") for number in range(12)))
    harmful = f"with open(STORE, 'r+b') as file:\n        {CUT[harm]}"
    project.agent(f"{HARMFUL}\ndef harm():\n    {harmful}\n")
    ended = project.run("-j", 1)
    shown = project.command("show", "latest")
    # Either the damage is reported, or the store was made whole again from the log.
    assert ended.code == 3 or (ended.code, shown.code) == (0, 0), ended.out + ended.err


@pytest.mark.parametrize("harm", HARMS)
def test_a_run_whose_store_is_harmed_does_not_pass(project, harm):
    project.spec(*map(says, ["c1", "c2", "c3", "c4", "c5"]))
    project.agent(f"{HARMFUL}\ndef harm():\n    {HARMS[harm]}\n")
    ended = project.run("-j", 1)
    assert ended.code == 3, ended.out + ended.err
    assert "5 passed" not in ended.err


COPY = """
def harm():
    sql("INSERT INTO trialrun_attempts SELECT run_id, 2, 1, fingerprint, status, error,"
        " duration_ms, total_tokens, cost_usd, recorded_at, result, trace"
        " FROM trialrun_attempts WHERE position = 0")
"""


def test_an_agent_that_writes_its_own_verdict_does_not_pass(project):
    """Its row takes the place of the real attempt: the run stops, and the row does not count."""
    project.spec(says("c1"), says("c2"), says("c3", "never said"))
    project.agent(HARMFUL + COPY)
    ended = project.run("-j", 1)
    assert ended.code == 3, ended.out
    assert ended.by_case["c3"] == "error"
    assert any("1 attempt not written by this run" in one for one in ended.report["warnings"])
    shown = project.command("show", "latest", "--format", "json")
    assert (shown.code, shown.by_case["c3"]) == (3, "error")
    project.agent("")  # an honest agent: the attempt is made again
    resumed = project.run("--resume")
    assert (resumed.code, resumed.by_case["c3"]) == (1, "fail")


FORGE = """
def harm():
    sql("UPDATE trialrun_attempts SET status = 'pass', result = (SELECT result FROM"
        " trialrun_attempts WHERE position = 0 LIMIT 1) WHERE position = 1")
"""


@pytest.mark.parametrize("gate", [["--min-pass-rate", "0.9"], []])
def test_gates_and_reports_do_not_read_forged_rows(project, gate):
    project.spec(says("c1"), says("c2", "never said"), says("c3"))
    project.agent(HARMFUL + FORGE)
    ended = project.run("-j", 1, "--repeat", 2, *gate)
    assert ended.code == 3, ended.out
    assert ended.report["summary"]["error"] >= 1
    assert ended.report["summary"]["exit_code"] == 3
    assert any("changed by another program" in one for one in ended.report["warnings"])
    assert project.command("show", "latest", "--format", "json").code == 3


def test_junit_and_exit_code_agree_on_a_forged_row(project):
    project.spec(says("c1"), says("c2", "never said"), says("c3"))
    project.agent(HARMFUL + FORGE)
    ended = project.command("run", "spec.yaml", "-j", "1", "-o", "report.xml")
    suite = ElementTree.parse(project.folder / "report.xml").getroot()
    assert (ended.code, suite.get("errors"), suite.get("failures")) == (3, "1", "0")


def test_a_stopped_run_has_not_passed_even_if_all_its_attempts_have(project):
    project.spec(says("a"), says("b"))
    assert project.run().code == 0
    with closing(sqlite3.connect(project.folder / STORE)) as raw, raw:
        raw.execute("UPDATE trialrun_runs SET state = 'stopped'")
    assert project.command("show", "latest").code == 3
