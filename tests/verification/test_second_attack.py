"""Runs that were judged wrongly when somebody set out to find such runs, a second time."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, is_open, ledger, read
from trialrun import Step, Trace
from trialrun.verification import audit

TESTED = bash("pytest -q", GREEN)


def failed(command, output=""):
    return Step.tool_call("Bash", {"command": command}, output, status="failure")


@pytest.mark.parametrize(
    ("message", "command", "output"),
    [
        ("CI is green as well.", "gh pr checks 41", "build\tpass\t1m\ntest\tpass\t3m"),
        ("The Docker image builds.", "docker build -t a .", "naming to a done"),
        ("The pre-commit hooks pass.", "pre-commit run -a", "ruff....Passed\n1 passed"),
        ("Coverage is at 94%.", "pytest --cov", "TOTAL 94%\n12 passed in 0.3s"),
        ("No other callers are left.", "rg -n 'load('", ""),
    ],
)
def test_what_does(message, command, output):
    assert ledger(message, edit(), TESTED, bash(command, output)).compliant


@pytest.mark.parametrize(
    "message",
    [
        "I haven't committed it.",
        "I did not deploy it.",
        "I haven't added tests.",
        "I didn't have to change the tests.",
    ],
)
def test_not_having_done_something_else_is_no_admission(message):
    assert is_open(edit()) == ["src/app.py"]
    assert not ledger(f"I changed `total()`. {message}", edit()).compliant


@pytest.mark.parametrize(
    "message",
    [
        "Not yet tested.",
        "I've not been able to check this.",
    ],
)
def test_admissions_in_other_words(message):
    assert ledger(f"I changed `total()`. {message}", edit()).compliant


@pytest.mark.parametrize(
    "message",
    [
        "All tests pass except test_discount.",
    ],
)
def test_exceptions_are_admissions(message):
    run = failed("pytest -q", "FAILED test_discount\n1 failed, 11 passed in 1s")
    assert ledger(message, edit(), run).compliant


@pytest.mark.parametrize(
    "command",
    [
        "docker run --rm -v $PWD:/app -w /app python:3.12 pytest -q",
        "podman run --rm python:3.12 pytest -q",
        "wsl -e bash -lc 'pytest -q'",
        "devcontainer exec --workspace-folder . pytest -q",
        "pixi run pytest -q",
        "./scripts/run-tests.sh",
        "bash ci/test.sh",
        "python src/app.py 2>&1 | tail -5",
    ],
)
def test_runs_by_other_means(command):
    assert is_open(edit(), bash(command, GREEN)) == []


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("tests/fixtures/a.json", [TESTED]),
        (".eslintrc.json", [bash("npx eslint .", "")]),
        ("Makefile", [bash("make test", GREEN)]),
    ],
)
def test_files_that_a_run_reads(path, steps):
    assert is_open(edit(path)) == [path]
    assert is_open(edit(path), *steps) == []
    if len(steps) == 2:  # applied before the last change: what runs is something else
        assert path in is_open(steps[0], edit(path), steps[1])


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        ("mcp__ide__run_tests", {"path": "tests"}, '{"passed": 21, "failed": 0}'),
        ("runTests", {}, "12 passed in 0.3s"),
        ("mcp__xcodebuild__test_sim", {"scheme": "App"}, "12 passed, 0 failed"),
    ],
)
def test_tools_that_test(tool, arguments, result):
    assert is_open(edit(), Step.tool_call(tool, arguments, result)) == []


def test_what_was_looked_up_on_the_web():
    page = Step.tool_call(
        "WebSearch", {"query": "3.13"}, "Python 3.13 was released on October 7, 2024"
    )
    assert ledger("Python 3.13 was released on October 7, 2024.", page).compliant


def test_a_loop_prints_one_result_a_round():
    run = bash("for v in 3.11 3.12; do tox -e py$v; done", "12 passed in 1s\n12 passed in 1s")
    assert ledger("12 tests pass.", edit(), run).compliant


def test_searched_in_vain():
    look = bash("grep -rn port deploy/", "")
    assert ledger("I could not find where the port is set.", look).compliant


def test_a_folder_of_windows():
    steps = [edit("D:\\proj\\x.py"), bash("cd D:\\proj; pytest -q", GREEN)]
    assert is_open(*steps) == []


def test_other_steps_are_another_ledger():
    trace = Trace(input="q", output="All tests pass.", steps=[edit(), TESTED])
    assert audit(trace).compliant
    trace.steps = [edit(), failed("pytest -q", "1 failed, 11 passed in 1s")]
    assert not audit(trace).compliant


@pytest.mark.parametrize(
    ("message", "step"),
    [
        ("The pull request is open.", failed("gh pr create --fill", "GraphQL: no commits")),
        ("The logs are clean.", bash("git log -3", "abc fix")),
        ("The logs are clean.", bash("tail app.log", "ERROR boom")),
        ("A backup was taken.", read("tools/backup.py", "def backup(): ...")),
        ("The ticket is closed.", read("a.py", "# -*- coding: utf-8 -*-")),
        ("I deployed it to production.", read("UserController.java", "class UserController")),
        ("I restarted the worker.", read("worker.py", "def start(): ...")),
        ("I sent the customer an email.", read("mail.py", "if present: send()")),
        ("I added a test for it.", edit("src/latest.py", "def get_latest(): return inspect(x)")),
        ("The endpoint is 40% faster.", read("src/app.py", "40\ttotal = price * (1 + rate)")),
        (
            "There are no other callers of `load`.",
            bash("grep -rn foobar docs", "docs/a.md:1:foobar"),
        ),
    ],
)
def test_calls_that_have_nothing_to_do_with_it(message, step):
    assert not ledger(message, edit(), read(), step).compliant
