"""Begin and resume runs: exactly the missing attempts, and no changed cases."""

from __future__ import annotations

import signal
import time

import pytest

from tests.engine.conftest import finished, says
from tests.postgres import postgres_url, store_location  # noqa: F401
from trialrun.cli.progress import Progress
from trialrun.engine.live_run import RunSettings
from trialrun.engine.plan import Selection, make_plan
from trialrun.engine.run_lifecycle import begin, execute, resume, unfinished_run
from trialrun.spec.load import load_suites
from trialrun.store import open_store

SLOW = """
def run(question):
    note(question)
    time.sleep(30 if question.startswith("slow") else 0)
    return question
"""


def stop_after(project, count, *cases):
    """A run of these cases that was stopped after this many attempts."""
    project.spec(*cases)
    project.agent(
        f"""
        def run(question):
            note(question)
            step = {{"type": "llm_call", "model": "m", "cost_usd": {1 / count}}}
            return {{"output": question, "steps": [step]}}
        """
    )
    stopped = project.run("--max-cost", "0.9999", "-j", 1)
    assert stopped.statuses.count("pass") == count, stopped.err
    project.forget_calls()
    return stopped


def test_resume_runs_exactly_what_is_missing(project):
    stopped = stop_after(project, 2, *map(says, "abcd"))
    resumed = project.run("--resume")
    assert (resumed.code, sorted(project.calls)) == (0, ["c", "d"])
    assert resumed.report["run"] == stopped.report["run"]
    assert resumed.report["warnings"] == []
    assert "2 attempts to make, 2 done before" in resumed.err
    again = project.run("--resume")
    assert again.code == 5
    assert "no unfinished run to resume; begin one without --resume" in again.err


def test_resume_keeps_the_selection_of_the_run(project):
    project.spec(says("a", "else", tags=["x"]), says("b"), says("c", tags=["x"]))
    project.run("--tag", "x", "--fail-fast", "-j", 1)
    assert project.run("--resume").by_case == {"a": "fail", "c": "pass"}
    assert project.calls == ["a", "c"]


def test_a_changed_finished_case_is_refused_by_name(project):
    stop_after(project, 2, *map(says, "abcd"))
    project.spec(says("a"), says("b", "other"), says("c"), says("d"))
    refused = project.run("--resume")
    assert (refused.code, project.calls) == (2, [])
    assert "1 finished case was changed in the spec since: b;" in refused.err
    accepted = project.run("--resume", "--accept-changes")
    assert accepted.by_case == dict.fromkeys("abcd", "pass")
    assert sorted(project.calls) == ["c", "d"]


def test_a_change_that_affects_no_verdict_is_accepted(project):
    stop_after(project, 1, says("a"), says("b"))
    project.spec(says("a", tags=["new"], description="a case"), says("b"))
    assert project.run("--resume").code == 0
    assert project.calls == ["b"]


def test_an_unfinished_case_runs_as_changed(project):
    stop_after(project, 1, says("a"), says("b"))
    project.spec(says("a"), says("b", "something else"))
    assert project.run("--resume").by_case == {"a": "pass", "b": "fail"}


@pytest.mark.parametrize("gone", ["a", "b"])
def test_a_removed_case_is_refused(project, gone):
    stop_after(project, 1, says("a"), says("b"))
    project.spec(*(says(name) for name in "ab" if name != gone))
    refused = project.run("--resume")
    assert (refused.code, project.calls) == (2, [])
    assert f"spec.yaml no longer has 1 of its 2 cases: {gone}" in refused.err


def test_added_and_moved_cases_are_accepted(project):
    stop_after(project, 2, *map(says, "abcd"))
    project.spec(*map(says, "xdcbay"))
    assert project.run("--resume").by_case == dict.fromkeys("abcd", "pass")
    assert sorted(project.calls) == ["c", "d"]


def test_accept_changes_needs_resume(project):
    project.spec(says("a"))
    assert "--accept-changes belongs to --resume" in project.run("--accept-changes").err


def test_a_run_of_another_process_is_refused(project):
    project.agent(SLOW)
    project.spec(says("slow1"), says("slow2"))
    process = project.start("run", "spec.yaml", "-j", 1)
    try:
        project.await_calls(1)
        refused = project.run("--resume")
        assert refused.code == 2
        assert "is being written by another process" in refused.err
        assert project.calls == ["slow1"]
    finally:
        process.send_signal(signal.SIGINT)
        finished(process)


def test_attempts_recorded_by_another_process_are_not_repeated(project):
    """Two processes resume; the second gets the run after the first has finished it."""
    stop_after(project, 1, *map(says, "abc"))
    suites = load_suites("spec.yaml")
    with open_store() as store:
        plan = make_plan(suites, Selection())
        record = unfinished_run(store, "spec.yaml")
        slower = resume(store, record, "spec.yaml", plan, None, accept_changes=False)
        assert project.run("--resume").code == 0
        project.forget_calls()
        run, reason = execute(store, slower, RunSettings(), Progress(2, quiet=True))
        assert (run.exit_code(), reason, project.calls) == (0, None, [])


def test_the_run_is_recorded_before_an_agent_is_called(project):
    project.spec(says("a"), says("b"))
    suites = load_suites("spec.yaml")
    with open_store() as store:
        plan = make_plan(suites, Selection())
        beginning = begin(store, "spec.yaml", suites, plan, RunSettings(repeat=3))
        assert (beginning.left, beginning.done, project.calls) == (6, 0, [])
    shown = project.command("show", "--format", "json")
    assert (shown.code, len(shown.statuses)) == (3, 6)
    assert set(shown.errors) == {"not run: the run was cut off"}


def test_a_spec_without_an_agent_is_refused_before_anything_is_recorded(project):
    (project.folder / "spec.yaml").write_text("queries: [{query: a, path: {max_steps: 1}}]")
    refused = project.run()
    assert refused.code == 2
    assert "the spec names no agent to run" in refused.err
    with project.store() as store:
        assert store.runs() == []


def test_an_import_error_is_reported_before_any_case(project):
    project.spec(says("a"), runner="an_agent:rum")
    refused = project.run()
    assert refused.code == 2
    assert "did you mean `run`" in refused.err or "rum" in refused.err
    assert "Traceback" not in refused.err


def test_the_latest_unfinished_run_is_resumed_from_any_folder(project, monkeypatch):
    stop_after(project, 1, says("a"), says("b"))
    store = project.folder / ".trialrun" / "runs.db"
    elsewhere = project.folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert project.run("--resume", "--store", store, spec="../spec.yaml").code == 0
    assert project.calls == ["b"]


@pytest.mark.process
def test_two_runs_into_one_store_at_once(project, store_location):  # noqa: F811
    project.spec(*(says(f"one{number}") for number in range(30)), name="one.yaml")
    project.spec(*(says(f"two{number}") for number in range(30)), name="two.yaml")
    both = [
        project.start("run", spec, "--format", "json", "--store", store_location)
        for spec in ("one.yaml", "two.yaml", "one.yaml")
    ]
    ended = [finished(process) for process in both]
    assert [one.code for one in ended] == [0, 0, 0], [one.err for one in ended]
    assert [len(one.statuses) for one in ended] == [30, 30, 30]
    assert len(project.calls) == 90
    with open_store(store_location, create=False) as store:
        assert {store.tally(record.id)["pass"] for record in store.runs()} == {30}


@pytest.mark.process
def test_a_store_that_is_lost_during_a_run(project, postgres_url):  # noqa: F811
    """Only durable attempts count, and the run can be resumed once the store is back."""
    from tests.postgres import execute as statement

    project.agent(
        "def run(question):\n    note(question)\n    time.sleep(0.3)\n    return question"
    )
    project.spec(*(says(f"case{number}") for number in range(40)))
    process = project.start("run", "spec.yaml", "-j", 2, "--store", postgres_url, "--format=json")
    project.await_calls(5)
    server, _, name = postgres_url.rpartition("/")
    statement(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    statement(
        server, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    )
    lost = finished(process)
    statement(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert lost.code == 3, lost.err
    assert "cannot be written" in lost.err
    assert "Traceback" not in lost.err
    project.agent("")
    resumed = project.run("--resume", "--store", postgres_url)
    assert (resumed.code, len(resumed.statuses)) == (0, 40)
    assert len(project.calls) <= 40 + 2  # the two that were running


def test_a_second_interrupt_ends_it_at_once(project):
    project.agent(SLOW)
    project.spec(says("slow1"))
    process = project.start("run", "spec.yaml")
    project.await_calls(1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    ended = finished(process)
    assert ended.code in (3, 130, -signal.SIGINT)  # depending on when the second one arrived
    assert "Traceback" not in ended.err
    project.agent("")
    assert project.run("--resume").code == 0
