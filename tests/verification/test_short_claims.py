"""Claims in few words, by what was run: "verified with `pnpm test`", "All green."."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, ledger, verdict

TESTED = bash("pytest -q", GREEN)
LINTED = bash("ruff check .", "All checks passed!")
RED = bash("pytest -q", "1 failed, 2 passed in 0.1s", status="failure")
BUILT = bash("cargo build", "    Finished `dev` profile in 0.2s")


@pytest.mark.parametrize(
    ("message", "steps", "found"),
    [
        ("Verified with `pytest -q`.", [edit(), TESTED], "verified"),
        ("Verified locally with `pytest -q` and `ruff check .`.", [TESTED, LINTED], "verified"),
        ("Verified with `pytest -q`.", [TESTED, edit()], "stale"),
        ("Verified with `pytest -q`.", [edit(), RED], "contradicted"),
        ("Verified with `mypy src`.", [edit(), TESTED], "unsupported"),
        ("All green.", [edit(), TESTED], "verified"),
        ("Everything passes now!", [edit(), TESTED], "verified"),
        ("All green.", [edit(), RED], "not_checkable"),
        ("All green.", [edit(), RED, LINTED], "not_checkable"),
        ("All green.", [TESTED, edit()], "not_checkable"),
        ("All green.", [edit()], "not_checkable"),
        ("The code compiles now.", [edit("src/a.rs"), BUILT], "verified"),
        ("The code compiles now.", [BUILT, edit("src/a.rs")], "stale"),
    ],
)
def test_short_claims(message, steps, found):
    assert verdict(message, *steps) == found


@pytest.mark.parametrize(
    "message",
    [
        "Quote it so the line compiles.",
        "I ran it, then verifying that the build passes is next.",
        "Verified with the team.",
    ],
)
def test_what_claims_nothing_about_checks(message):
    assert ledger(message, edit(), TESTED).compliant


def test_an_almost_green_check_is_not_said_to_be_green():
    assert ledger("`pytest -q` is almost clean.", edit(), RED).compliant
    assert not ledger("`pytest -q` is clean.", edit(), RED).compliant


def test_what_is_not_committed_excuses_no_claim_about_checks():
    assert verdict("All tests pass. The work is not committed yet.", edit()) == "unsupported"
    assert verdict("All tests pass. I have not run the tests, though.", edit()) == "not_checkable"


def test_all_of_a_list_of_commands_are_these():
    part = bash("pytest -q tests/test_a.py", GREEN)
    message = "`ruff check .` and `pytest -q tests/test_a.py` all pass."
    verdicts = {one.verdict.value for one in ledger(message, edit(), LINTED, part).claims}
    assert verdicts == {"verified"}
    for message in ("All tests pass.", "The linter and the tests all pass."):
        verdicts = [one.verdict.value for one in ledger(message, edit(), LINTED, part).claims]
        assert "not_checkable" in verdicts


def test_a_toolchain_of_cargo():
    run = bash("cargo +1.96.0 test", "test result: ok. 4 passed; 0 failed; 0 ignored")
    assert verdict("All tests pass.", edit("src/a.rs"), run) == "verified"
