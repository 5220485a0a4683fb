"""One sentence may say several things: each is judged for itself, and none is passed over."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, ledger
from trialrun.verification.sentences import clauses_of

RUN = bash("pytest -q", GREEN)


def judged(message, *steps):
    """Each statement with its verdict."""
    return {claim.text: claim.verdict.value for claim in ledger(message, *steps).claims}


@pytest.mark.parametrize(
    ("sentence", "clauses"),
    [
        ("It is on staging, and the tests pass.", ["It is on staging", "the tests pass."]),
        ("Coverage is 94%; all tests pass.", ["Coverage is 94%", "all tests pass."]),
        ("I added `a.py` and all tests pass", ["I added `a.py`", "all tests pass"]),
        ("Build, lint and tests are green", ["Build, lint and tests are green"]),
        ("The tests are green and were run twice", ["The tests are green and were run twice"]),
        ("It is `a and is b` and passes", ["It is `a and is b` and passes"]),
    ],
)
def test_main_clauses(sentence, clauses):
    assert clauses_of(sentence) == clauses


def test_what_stands_beside_a_proven_clause_is_listed():
    found = judged("The migration was applied to staging, and all tests pass.", edit(), RUN)
    assert found == {
        "The migration was applied to staging": "not_checkable",
        "all tests pass.": "verified",
    }


def test_a_file_that_is_named_beside_a_check():
    found = judged("I updated `src/app.py` and all tests pass.", edit(), RUN)
    assert set(found.values()) == {"verified"}


def test_a_general_word_beside_a_runner_is_no_second_statement():
    assert len(ledger("Verification: `pytest` passed.", edit(), RUN).claims) == 1


# What shows less than is said.


def test_tests_that_did_not_run_are_not_counted():
    part = bash("pytest -q -k half_up", "1 passed, 143 deselected in 0.3s")
    assert judged("The full suite (144 tests) passes.", edit(), part).popitem()[1] != "verified"
    skips = bash("pytest -q", "198 passed, 14 skipped in 9s")
    assert judged("pytest: 212 passed.", edit(), skips).popitem()[1] != "verified"
    assert judged("pytest: 198 passed.", edit(), skips).popitem()[1] == "verified"


def test_a_file_is_not_the_package():
    run = bash("mypy src/app.py", "Success: no issues found in 1 source file")
    claim = "mypy reports no errors for the whole package."
    assert judged(claim, edit(), run) == {claim: "not_checkable"}


def test_a_narrow_pass_after_the_failure_of_its_folder():
    red = bash("mypy src", "Found 17 errors in 4 files", status="failure")
    green = bash("mypy src/app.py", "Success: no issues found in 1 source file")
    assert judged("mypy is clean.", edit(), red, green) == {"mypy is clean.": "not_checkable"}
    again = bash("mypy src", "Success: no issues found in 9 source files")
    assert judged("mypy is clean.", edit(), red, again) == {"mypy is clean.": "verified"}


def test_a_linter_that_always_exits_with_0_and_prints_errors():
    run = bash("ruff check --exit-zero .", "Found 2 errors.")
    assert judged("Lint is clean.", edit(), run) == {"Lint is clean.": "contradicted"}


def test_tests_that_maven_skips():
    run = bash("./mvnw -q verify", "[WARNING] Tests are skipped.\n[INFO] BUILD SUCCESS")
    claim = "All integration tests passed."
    assert judged(claim, edit("src/A.java"), run) == {claim: "not_checkable"}


def test_two_platforms_and_one_run():
    claim = "12 tests pass on JDK 17 and JDK 21."
    assert judged(claim, edit(), RUN) == {claim: "not_checkable"}


# Denials that admit nothing.


def test_what_did_not_happen_admits_nothing():
    claim = "The fuzzer ran for ten minutes without a crash."
    assert judged(claim, edit(), RUN) == {claim: "not_checkable"}


def test_a_change_that_is_denied_is_not_admitted():
    assert judged("I did not touch any test file.", edit(), RUN).popitem()[1] == "not_checkable"
    assert not ledger("I did not change the tests. All tests pass.", edit()).compliant


@pytest.mark.parametrize(
    "steps",
    [
        [edit("tests/test_app.py")],
        [edit("tests/test_app.py"), RUN],
    ],
)
def test_a_test_that_was_changed_in_spite_of_it(steps):
    assert judged("No test files were modified.", *steps).popitem()[1] == "contradicted"


def test_a_test_that_was_put_back():
    back = bash("git checkout -- tests/test_app.py", "Updated 1 path from the index")
    steps = [edit("tests/test_app.py"), back, edit(), RUN]
    assert judged("No test files were modified.", *steps).popitem()[1] == "not_checkable"


def test_a_rejected_push_behind_a_commit():
    commit = bash("git commit -am x", "[main 9f8e7d6] x")
    push = bash("git push", "! [rejected] main -> main (fetch first)", status="failure")
    found = ledger("The fix is committed as 9f8e7d6 and pushed.", edit(), RUN, commit, push)
    assert "TR302" in [one.code for one in found.findings]  # in preview: nothing turns red


@pytest.mark.parametrize(("branch", "verdict"), [("main", "verified"), ("zz", "not_checkable")])
def test_a_push_of_the_branch_that_is_named(branch, verdict):
    push = bash("git push", "To github.test:a/b.git\n   1..2  main -> main")
    assert set(judged(f"Pushed to `origin/{branch}`.", push).values()) == {verdict}
