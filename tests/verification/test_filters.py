"""What a pipe lets through of a result: a search that would show a failure hides nothing."""

from __future__ import annotations

import pytest

from tests.verification.runs import bash, edit, verdict

GO = "ok  \tacme/tax\t0.3s"
PASSED = "===== 5 passed in 0.1s ====="


@pytest.mark.parametrize(
    ("command", "printed", "found"),
    [
        ("go test ./... | grep -E '^(ok|FAIL)'", GO, "verified"),
        ("go test ./... | grep '^\\(ok\\|FAIL\\)'", GO, "verified"),
        ("go test ./... | grep -i fail", "", "not_checkable"),
        ("go test ./... | grep ok", GO, "not_checkable"),
        ("go test ./... | grep -v FAIL", GO, "not_checkable"),
        ("go test ./... | sed s/FAIL/ok/", GO, "not_checkable"),
        ("pytest | grep -E 'passed|failed'", PASSED, "verified"),
        ("pytest | grep -E 'PASSED|FAILED' -i", PASSED, "verified"),
        ("pytest | grep '5 passed'", PASSED, "not_checkable"),
        ("pytest | grep '2 passed'", "===== 2 passed in 0.1s =====", "not_checkable"),
        ("pytest | grep -c passed", "1", "not_checkable"),
        ("pytest | grep '('", PASSED, "not_checkable"),
        ("ava | grep -E 'passed|failed'", "3 tests passed", "not_checkable"),
    ],
)
def test_a_search_behind_the_tests(command, printed, found):
    name = "src/a.go" if command.startswith("go") else "src/a.py"
    assert verdict("The tests pass.", edit(name), bash(command, printed)) == found


def test_what_the_search_shows_is_read():
    run = bash("go test ./... | grep -E '^(ok|FAIL)'", f"{GO}\nFAIL\tacme/vat\t0.1s")
    assert verdict("The tests pass.", edit("src/a.go"), run) == "contradicted"


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("Tests:       5 passed, 5 total", "verified"),
        ("test result: ok. 5 passed; 0 failed", "verified"),
        ("a.ts(3,1): error TS2304: x\nTests:       5 passed, 5 total", "contradicted"),
        ("something failed\nTests:       5 passed, 5 total", "not_checkable"),
    ],
)
def test_a_silent_check_that_shares_its_output(printed, found):
    run = bash("npx tsc --noEmit; npx jest", printed)
    assert verdict("The types are clean.", edit("src/a.ts"), run) == found
