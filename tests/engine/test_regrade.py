"""Regrading: stored traces are evaluated with the current spec, and old verdicts stay."""

from __future__ import annotations

from tests.engine.conftest import says

SECRET = "sk-proj-Ab3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2dE3fG4hI5jK6"


def checks(done, number=0):
    layers = done.report["results"][number]["layers"]
    return {check["name"]: check["status"] for check in layers["correctness"]["checks"]}


def test_a_changed_spec_changes_the_verdict_without_calling_agents(project):
    project.spec(says("a"), says("b", "other"))
    first = project.run()
    assert first.by_case == {"a": "pass", "b": "fail"}
    project.forget_calls()
    project.spec(says("a", "stricter"), says("b"))
    again = project.command("regrade", "--format", "json")
    assert (again.code, again.by_case) == (1, {"a": "fail", "b": "pass"})
    assert project.calls == []
    assert again.report["run"] != first.report["run"]
    old = project.command("show", first.report["run"], "--format", "json")
    assert old.report["results"] == first.report["results"]
    with project.store() as store:
        newest, oldest = store.runs()
        assert (newest.kind, newest.source, newest.state) == ("regrade", oldest.id, "finished")


def test_the_same_spec_gives_the_same_verdicts(project):
    project.spec(says("a"), says("b", "other"), says("c"))
    first = project.run("--repeat", 2)
    again = project.command("regrade", "--format", "json")
    assert again.report["results"] == first.report["results"]


def test_an_unfinished_run_stays_incomplete_and_is_not_resumed_as_a_regrade(project):
    project.spec(says("a", "else"), says("b"))
    first = project.run("--fail-fast", "-j", 1)
    project.spec(says("a"), says("b"))
    again = project.command("regrade", "--format", "json")
    assert (again.code, again.by_case) == (3, {"a": "pass", "b": "error"})
    resumed = project.run("--resume", "--accept-changes")
    assert resumed.report["run"] == first.report["run"]


def test_removed_and_added_cases(project):
    project.spec(says("a"), says("b"))
    project.run()
    project.spec(says("b"), says("c"))
    again = project.command("regrade", "--format", "json")
    assert (again.code, again.by_case) == (3, {"a": "error", "b": "pass"})
    assert again.errors[0] == "the spec no longer has this case"


def test_masked_text_is_unknown_and_never_passes(project):
    """A live run evaluates the full answer; the stored answer is masked."""
    answer = f"the key is {SECRET}"
    case = {"name": "key", "query": answer}
    project.spec({**case, "correctness": {"not_in_answer": ["hunter2"]}})
    assert project.run().code == 0
    with project.store() as store:
        (attempt,) = store.attempts(store.find_run("latest").id)
        assert attempt.trace.output == "the key is [redacted]"
    again = project.command("regrade", "--format", "json")
    assert (again.code, checks(again)) == (3, {"not_in_answer": "unknown"})
    project.spec({**case, "correctness": {"expected_in_answer": ["the key"]}})
    again = project.command("regrade", "--format", "json")
    assert (again.code, checks(again)) == (0, {"expected_in_answer": "pass"})


def test_another_spec_can_be_given(project):
    """A suite is named after its file: the stricter file has the same name in another folder."""
    project.spec(says("a"))
    project.run()
    (project.folder / "strict").mkdir()
    project.spec(says("a", "other"), name="strict/spec.yaml")
    again = project.command("regrade", "--spec", "strict/spec.yaml", "--format", "json")
    assert (again.code, again.by_case) == (1, {"a": "fail"})


def test_a_renamed_spec_file_evaluates_the_same_cases(project):
    project.spec(says("a"))
    project.run()
    project.spec(says("a", "other"), name="stricter.yaml")
    again = project.command("regrade", "--spec", "stricter.yaml", "--format", "json")
    assert (again.code, again.by_case) == (1, {"a": "fail"})


def test_regrade_needs_a_recorded_run(project):
    missing = project.command("regrade")
    assert missing.code == 2
    assert "no runs are recorded here" in missing.err
