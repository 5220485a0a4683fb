"""A pass shows less where only tests, or what says how they run, were changed since a red run."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, ledger
from trialrun import Step

RED = bash("pytest -q", "1 failed, 11 passed in 0.3s", status="failure")
TEST = "tests/test_tax.py"
PASSES = "All tests pass."


def write(path, content):
    return Step.tool_call("Write", {"file_path": path, "content": content}, "File created")


def verdict(*steps, message=PASSES):
    claim = ledger(message, *steps).claims[0]
    return claim.verdict.value, claim.reason


CLEAN = {
    "the code was changed": [RED, edit("tax.py")],
    "and a test with it": [RED, edit("tax.py"), bash(f"sed -i s/18/19/ {TEST}")],
    "and the settings": [RED, edit("tax.py"), edit("pyproject.toml", "b", "a")],
    "a test expects something else": [
        RED,
        edit(TEST, "assert vat(99) == 19", "assert vat(9) == 1"),
    ],
    "a test was made": [RED, write("tests/test_new.py", "def test_a(): assert vat(9) == 1")],
    "settings of the program": [RED, edit("config/services.yaml", "b", "a")],
    "nothing was changed": [RED],
    "something unknown ran": [RED, bash("frobnicate"), bash(f"sed -i s/18/19/ {TEST}")],
    "no red run": [edit("tax.py"), bash(f"sed -i s/18/19/ {TEST}")],
    "made executable": [RED, edit("tax.py"), bash("chmod +x tests/run_tests.py")],
}
DOUBTED = {
    "rewritten by sed": [RED, bash(f"sed -i s/18/19/ {TEST}")],
    "skipped": [RED, edit(TEST, "@pytest.mark.skip\ndef test_vat():", "def test_vat():")],
    "an assertion less": [RED, edit(TEST, "vat(99)", "assert vat(99) == 19")],
    "settings of the runner": [RED, write("pytest.ini", "[pytest]\naddopts = --ignore=tests/tax")],
    "and its own file": [RED, edit("jest/.pytest.toml", "b", "a")],
}


@pytest.mark.parametrize("name", CLEAN)
def test_a_pass_that_is_no_doubt(name):
    assert verdict(*CLEAN[name], bash("pytest -q", GREEN))[0] == "verified"


@pytest.mark.parametrize("name", DOUBTED)
def test_a_pass_that_is_doubted(name):
    found, reason = verdict(*DOUBTED[name], bash("pytest -q", GREEN))
    assert found == "not_checkable"
    assert "and no code" in reason


def test_a_doubt_stays_until_the_next_red_run():
    steps = [*DOUBTED["skipped"], bash("pytest -q", GREEN), edit("web/a.ts")]
    assert verdict(*steps, bash("pytest -q", GREEN))[0] == "not_checkable"
    again = [*steps, RED, edit("tax.py"), bash("pytest -q", GREEN)]
    assert verdict(*again)[0] == "verified"


def test_fewer_tests_of_the_same_command():
    fewer = bash("pytest -q", "11 passed in 0.2s")
    found, reason = verdict(RED, edit("tax.py"), fewer)
    assert (found, "fewer tests" in reason) == ("not_checkable", True)
    assert (
        verdict(RED, edit("tax.py"), bash("pytest -q", "11 passed, 1 skipped in 0.2s"))[0] == found
    )
    assert verdict(RED, edit("tax.py"), bash("pytest", "40 passed in 0.2s"))[0] != found


RECIPES = {
    "make test": ("Makefile", 'test:\n\t@echo "12 passed in 0.3s"\n'),
    "gmake test": ("Makefile", "test:\n\tcat result.txt\n"),
    "yarn test": ("package.json", '{"scripts": {"test": "echo 12 passed in 0.3s"}}'),
    "npm run test": ("package.json", '"test": "echo 12 passed in 0.3s",'),
    "just test": ("justfile", "test:\n  echo '12 passed in 0.3s'\n"),
}


@pytest.mark.parametrize("command", RECIPES)
def test_a_task_that_the_session_made_print_is_no_run(command):
    steps = [edit("tax.py"), write(*RECIPES[command]), bash(command, GREEN)]
    assert verdict(*steps)[0] == "not_checkable"
    assert verdict(edit("tax.py"), bash(command, GREEN))[0] == "verified"


@pytest.mark.parametrize(
    "recipe", ["test:\n\t@echo testing\n\tpytest -q\n", "lint:\n\techo ok\n", "test: lint\n"]
)
def test_a_task_that_runs_something_is_a_run(recipe):
    assert verdict(edit("tax.py"), write("Makefile", recipe), bash("make test", GREEN))[0] == (
        "verified"
    )


@pytest.mark.parametrize("options", ["-O", "-OO", "-X dev"])
def test_options_of_the_interpreter_may_switch_checks_off(options):
    run = f"python {options} -m pytest -q"
    assert verdict(edit("tax.py"), bash(run, GREEN))[0] == "not_checkable"
    failed = bash(run, "1 failed in 0.1s", status="failure")
    assert verdict(edit("tax.py"), failed)[0] == "contradicted"
    assert verdict(edit("tax.py"), bash("python -m pytest -q", GREEN))[0] == "verified"
