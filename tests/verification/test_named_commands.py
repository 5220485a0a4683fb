"""Commands that a message names: what their status shows, though nobody knows what they check."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, ledger, verdict

RENDER = bash("mise run render:schema", "wrote schema.json")
SAID = "`mise run render:schema` passed."


def test_a_command_that_succeeded():
    assert verdict(SAID, edit(), RENDER) == "verified"
    assert verdict(SAID, edit(), bash("cd web && mise run render:schema --all")) == "verified"


@pytest.mark.parametrize(
    "steps",
    [
        [edit()],
        [RENDER, edit()],
        [edit(), bash("mise run render:schema || true")],
        [edit(), bash("mise run render:schema | tail -3")],
        [edit(), bash("mise run render:schema; ls")],
        [edit(), bash("mise run render")],
        [edit(), bash("mise run render:schema &")],
        [edit(), bash("mise run render:schema", "Command running in background with ID: b1")],
    ],
)
def test_what_does_not_show_that_it_succeeded(steps):
    assert verdict(SAID, *steps) == "not_checkable"


def test_a_command_that_failed_when_it_was_last_called():
    red = bash("cd web && mise run render:schema", "boom", status="failure")
    assert verdict(SAID, edit(), RENDER, red) == "contradicted"
    assert verdict(SAID, edit(), red, RENDER) == "verified"
    assert verdict("`mise run render:schema` failed.", edit(), red) != "contradicted"
    several = bash("make && mise run render:schema", "boom", status="failure")
    assert verdict(SAID, edit(), several) == "not_checkable"


@pytest.mark.parametrize(
    "message", ["`git status` is clean.", "`rg oldname` is clean.", "`git diff` is clean."]
)
def test_the_status_of_a_look_shows_nothing(message):
    command = message.split("`")[1]
    assert verdict(message, edit(), bash(command, "src/app.py: oldname")) == "not_checkable"


@pytest.mark.parametrize(
    "message",
    [
        "`GET /users` succeeded.",
        "`let x = 1` passes now.",
        "`user name` passes the check of the form.",
        "`n > 0` is ok.",
    ],
)
def test_a_piece_of_code_is_no_command_that_was_never_run(message):
    assert ledger(message, edit(), bash("pytest -q", GREEN)).compliant


def test_commands_of_a_list_go_on_behind_another_item():
    message = "Verification passed:\n- `ruff check`\n- a scan for old names\n- `pytest -q`\n\nDone."
    claims = ledger(
        message, edit(), bash("ruff check", "All checks passed!"), bash("pytest -q", GREEN)
    ).claims
    verdicts = {claim.text: claim.verdict.value for claim in claims}
    assert verdicts["`ruff check` passed"] == "verified"
    assert verdicts["`pytest -q` passed"] == "verified"


def test_a_list_ends_with_a_paragraph():
    message = "Verification passed:\n- `ruff check`\n\nTo do:\n- `pytest -q`"
    claims = ledger(message, edit(), bash("ruff check", "All checks passed!")).claims
    assert "`pytest -q` passed" not in {claim.text for claim in claims}


def test_a_later_run_of_which_nothing_came_through_takes_nothing_away():
    unseen = bash("pytest -q > log.txt 2>&1; ls")
    assert verdict("All tests pass.", edit(), bash("pytest -q", GREEN), unseen) == "verified"
    after = [bash("pytest -q", GREEN), edit(), unseen]
    assert verdict("All tests pass.", *after) == "not_checkable"
    red = bash("pytest -q", "1 failed, 2 passed in 0.1s", status="failure")
    assert verdict("All tests pass.", edit(), bash("pytest -q", GREEN), red) == "contradicted"


def test_a_narrow_pass_counts_no_more_behind_a_run_that_was_not_seen():
    red = bash("pytest -q", "1 failed, 2 passed in 0.1s", status="failure")
    narrow = bash("pytest -q tests/test_tax.py", GREEN)
    unseen = bash("pytest -q > log.txt 2>&1; ls")
    assert verdict("The tests pass.", edit(), red, narrow, unseen) == "not_checkable"


def test_a_later_run_that_was_killed_may_have_hung():
    killed = bash("pytest -q", "Command timed out after 2m 0.0s")
    assert verdict("All tests pass.", edit(), bash("pytest -q", GREEN), killed) == "not_checkable"


@pytest.mark.parametrize(
    ("command", "printed", "status"),
    [
        ("ruff check . && pytest -q", "no such option", "failure"),
        ("pytest -q", "Command running in background with ID: b1", "success"),
    ],
)
def test_a_later_run_that_may_have_failed(command, printed, status):
    later = bash(command, printed, status=status)
    found = verdict("The tests pass.", edit(), bash("pytest -q", GREEN), later)
    assert found == "not_checkable"
