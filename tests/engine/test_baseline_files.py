"""Baseline files for git: the same bytes each time, one file per case, no secrets."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.conftest import says
from tests.engine.refunds import begin, case, does, saved
from tests.helpers import property_test
from tests.store.samples import attempt
from tests.watchdog import WALL_SECONDS
from trialrun.engine.baseline_files import baseline_bytes
from trialrun.engine.baseline_lookup import file_key

SECRET = "sk-proj-Ab3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2dE3fG4hI5jK6"
NAMES = [
    "é",  # a composed and a decomposed character
    "e\u0301",
    "CON",
    "con",
    "Con.",
    "../../x",
    "/etc/passwd",
    "x" * 300,
    "x" * 299 + "y",
    "🙂",
    "🙃",
    "Größe",
    "a b",
    "a-b",
    "A-b",
    ".hidden",
]


def files(project):
    return {
        str(file.relative_to(project.folder)): file.read_bytes()
        for file in sorted(project.folder.rglob("baselines/**/*"))
        if file.is_file()
    }


def test_two_saves_of_two_runs_are_the_same_bytes(project):
    project.agent(
        """
        def run(question):
            print("noise", time.time())
            tool = {"type": "tool_call", "tool_name": "t", "tool_args": {"b": 1, "a": 2}}
            return {"output": question, "steps": [tool]}
        """
    )
    project.spec(says("a"), says("b"))
    project.run("-j", 1)
    assert project.command("baseline", "save").code == 0
    first = files(project)
    assert list(first) == ["baselines/spec/a.json", "baselines/spec/b.json"]
    again = project.command("baseline", "save")
    assert "0 baselines written, 2 unchanged" in again.err
    assert files(project) == first
    project.run("-j", 1)
    project.command("baseline", "save")
    second = files(project)
    assert second == first  # other durations do not change the file


@property_test
@given(st.integers(0, 5), st.dictionaries(st.text(), st.integers()))
def test_the_bytes_do_not_depend_on_times_ids_or_order(number, arguments):
    made = attempt(number)
    moved = attempt(number)
    moved.trace.id, moved.trace.started_at = "another", None
    moved.trace.metadata = dict(reversed(arguments.items()))
    made.trace.metadata = dict(arguments)
    moved.result.attempt = 7
    keep = dict
    assert baseline_bytes([made], keep) == baseline_bytes([moved], keep)


def test_any_name_has_a_separate_file_in_the_folder(project):
    project.spec(*map(says, NAMES))
    assert project.run().code == 0
    assert project.command("baseline", "save").code == 0
    saved = list((project.folder / "baselines" / "spec").iterdir())
    assert len(saved) == len(NAMES) == len(list(project.folder.rglob("*.json")))
    assert len({file.name.lower() for file in saved}) == len(NAMES)
    assert all(len(file.name.encode()) < 200 for file in saved)
    assert all(file.name.isascii() for file in saved)
    # Each is found again.
    for name in NAMES:
        shown = project.command("baseline", "show", "--folder", "baselines", "--", name)
        assert (shown.code, json.loads(shown.out)["name"]) == (0, name), shown.err
    compared = project.command("baseline", "diff", "--json", "--fail-on", "regression")
    assert compared.code == 0


@property_test
@given(st.text(), st.text())
def test_different_names_have_different_files(one, other):
    keys = file_key(one), file_key(other)
    assert (keys[0].lower() == keys[1].lower()) == (one == other)
    for key in keys:
        assert Path(key).name == key
        assert not key.startswith(".")


def test_failing_cases_are_saved_only_with_the_option(project):
    project.spec(says("a"), says("b", "other"))
    project.run()
    saved = project.command("baseline", "save")
    assert (saved.code, list(files(project))) == (0, ["baselines/spec/a.json"])
    assert "not saved, because they did not pass: b" in saved.err
    project.command("baseline", "save", "--accept-failures")
    assert len(files(project)) == 2


def test_the_saved_verdict_is_apart_from_the_baseline_before(project):
    begin(project, case(regression={"same_calls": True}))
    project.command("baseline", "save")
    does(project, skips=True)
    assert project.run().statuses == ["fail"]
    project.command("baseline", "save")
    assert saved(project)["metadata"]["baseline"]["status"] == "pass"
    project.run()
    assert project.command("compare", "baseline", "--fail-on", "regression").code == 0
    does(project, answer="no")
    project.run()
    project.command("baseline", "save", "--accept-failures")
    assert saved(project)["metadata"]["baseline"]["status"] == "fail"


def test_nothing_to_save_is_exit_5(project):
    project.spec(says("a", "other"))
    project.run()
    assert project.command("baseline", "save").code == 5


def test_an_unknown_case_is_refused(project):
    project.spec(says("a"))
    project.run()
    refused = project.command("baseline", "save", "--case", "x")
    assert refused.code == 2
    assert "has no case x" in refused.err


def test_one_of_several_agents_must_be_chosen(project):
    agent = {"runner": "an_agent:run"}
    project.spec(says("a"), agents={"one": agent, "two": agent})
    project.run()
    refused = project.command("baseline", "save")
    assert refused.code == 2
    assert "--agent: one, two" in refused.err
    assert project.command("baseline", "save", "--agent", "two").code == 0


def test_suites_with_an_agent_each_need_no_choice(project):
    (project.folder / "specs").mkdir()
    (project.folder / "specs" / "an_agent.py").write_text(
        (project.folder / "an_agent.py").read_text()
    )
    project.spec(says("a"), name="specs/one.yaml", agent="shop")
    project.spec(says("b"), name="specs/two.yaml")
    project.run(spec="specs")
    assert "2 baselines written" in project.command("baseline", "save").err


def test_a_flaky_case_is_saved_with_a_warning(project):
    project.agent(
        """
        def run(question):
            note(question)
            return question if len((HERE / "calls").read_text().splitlines()) == 2 else "no"
        """
    )
    project.spec(says("a"))
    project.run("--repeat", 3, "-j", 1)
    saved = project.command("baseline", "save")
    assert "saved though not every attempt passed: a (1 of 3 passed)" in saved.err


def test_a_second_concurrent_save_is_refused(project):
    project.spec(says("a"))
    project.run()
    folder = project.folder / "baselines" / "spec"
    folder.mkdir(parents=True)
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    refused = project.command("baseline", "save")
    os.close(handle)
    assert (refused.code, files(project)) == (2, {})
    assert "another process is saving baselines here" in refused.err
    assert project.command("baseline", "save").code == 0


@pytest.mark.process
def test_concurrent_saves_leave_complete_files(project):
    project.spec(*(says(f"case{number}") for number in range(20)))
    project.run()
    savers = [project.start("baseline", "save") for _ in range(4)]
    codes = {saver.communicate(timeout=WALL_SECONDS)[1]: saver.returncode for saver in savers}
    assert set(codes.values()) <= {0, 2}
    assert 0 in codes.values()
    saved = files(project)
    assert len(saved) == 20
    assert all(json.loads(data)["output"].startswith("case") for data in saved.values())


def test_secrets_and_custom_patterns_are_masked(project):
    project.spec(says(f"key {SECRET} of ticket-4711"), redact=["ticket-\\d+"])
    project.run()
    project.command("baseline", "save")
    (data,) = files(project).values()
    assert SECRET not in data.decode()
    assert "ticket-4711" not in data.decode()
    assert "[redacted]" in data.decode()


# Comparison of real runs


def test_two_runs_and_a_regression(project):
    project.spec(says("a"), says("b"))
    project.run()
    project.agent("def run(question):\n    return 'x' if question == 'b' else question")
    project.run()
    compared = project.command("compare", "latest~1", "latest", "--fail-on", "regression")
    assert compared.code == 1
    assert "1 of 2 cases broke" in compared.out
    assert project.command("compare", "latest~1", "latest").code == 0
    back = project.command("compare", "latest", "latest~1", "--fail-on", "regression")
    assert back.code == 0
    same = project.command("compare", "latest", "latest")
    assert same.code == 2


@pytest.mark.parametrize("given", ["baseline", "baselines"])
def test_a_baseline_and_a_run(project, given):
    project.spec(says("a"), says("b"))
    project.run()
    project.command("baseline", "save")
    assert project.command("compare", given, "--fail-on", "regression").code == 0
    project.agent("def run(question):\n    return 'x' if question == 'b' else question")
    project.run()
    assert project.command("compare", given, "--fail-on", "regression").code == 1
    assert project.command("baseline", "diff", "--fail-on", "regression").code == 1
    refused = project.command("compare", "latest", given)
    assert refused.code == 2
    assert "give the baseline first" in refused.err


def test_baselines_of_a_folder_of_specs_are_found_where_they_were_saved(project):
    (project.folder / "specs").mkdir()
    (project.folder / "an_agent.py").rename(project.folder / "specs" / "an_agent.py")
    project.spec(says("a"), name="specs/one.yaml")
    project.spec(says("b"), name="specs/two.yaml")
    assert project.run(spec="specs").code == 0
    assert project.command("baseline", "save").code == 0
    compared = project.command("compare", "baseline", "--fail-on", "regression")
    assert compared.code == 0, compared.err


def test_a_lost_verdict_does_not_pass(project):
    project.spec(says("a"), says("b"))
    project.run()
    project.agent("def run(question):\n    return 1 / 0 if question == 'b' else question")
    project.run()
    compared = project.command("compare", "latest~1", "latest", "--fail-on", "regression")
    assert compared.code == 3


def test_a_damaged_baseline_is_reported(project):
    project.spec(says("a"))
    project.run()
    project.command("baseline", "save")
    (project.folder / "baselines" / "spec" / "a.json").write_text('{"name": "a", "out')
    refused = project.command("compare", "baseline")
    assert refused.code == 3
    assert "a.json" in refused.err
    assert "Traceback" not in refused.err
