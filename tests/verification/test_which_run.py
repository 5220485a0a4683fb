"""Which run a claim speaks of, and which files a run is about beside those that it names."""

from __future__ import annotations

import pytest

from tests.verification.runs import bash, edit, is_open, ledger, read, verdict
from trialrun import Step

JAVA = edit("src/main/java/acme/InvoiceMapper.java")
ONE_TEST = bash(
    "mvn -q test -Dtest=InvoiceMapperTest",
    "[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 0",
)
VERIFY = "mvn -q verify"


def test_an_editor_is_known_by_what_it_is_told():
    call = {
        "command": "insert",
        "path": "rules/kafka.yml",
        "insert_line": 3,
        "new_str": "- alert: X",
    }
    assert is_open(Step.tool_call("text_editor", call, "Inserted 1 line.")) == ["rules/kafka.yml"]


def test_files_that_pass_linting_are_no_tests():
    lint = bash("npx ng lint", "All files pass linting.")
    assert verdict("`ng lint`: All files pass linting.", edit("src/app.ts"), lint) == "verified"


@pytest.mark.parametrize(
    "message",
    ["After that all tests must pass unchanged.", "The suite must stay green while we do it."],
)
def test_what_must_be_is_a_plan(message):
    assert ledger(message, read()).claims == []


def test_what_will_stop_working_is_no_claim():
    assert ledger("A `docker exec` in your runbooks will stop working.", read()).claims == []


def test_the_value_of_a_reporter_is_no_path():
    run = bash("dart test -r compact", "00:02 +40: All tests passed!")
    assert is_open(edit("lib/src/paging.dart"), run) == []


def test_what_was_printed_after_success_whatever_came_behind():
    run = bash(
        "npx tsc --noEmit && echo TSC_OK; npx jest",
        "TSC_OK\nFAIL src/a.test.ts\nTests:       2 failed, 39 passed, 41 total",
        status="failure",
    )
    message = "It compiles, but 2 of the 41 tests still fail."
    assert ledger(message, edit("src/a.ts"), run).compliant
