"""What is said and was not done: repeated runs, skipped tests, quoted commands, versions."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, ledger, read, verdict

TESTS = bash("pytest -q", GREEN)


def last(message, *steps):
    """The verdict of the last claim of the message."""
    return ledger(message, *steps).claims[-1].verdict.value


def test_the_documentation_is_built_by_its_own_program():
    claim = "The docs build without warnings."
    assert verdict(claim, edit("docs/a.rst"), read("docs/a.rst"), TESTS) == "unsupported"
    sphinx = bash("sphinx-build -W docs out", "build succeeded.")
    assert verdict(claim, edit("docs/a.rst"), sphinx) == "verified"


@pytest.mark.parametrize(
    ("packages", "compliant"),
    [
        ("--filter=api --filter=web", True),
    ],
)
def test_tasks_of_several_packages(packages, compliant):
    run = bash(f"npx turbo run typecheck test {packages}", " Tasks:    4 successful, 4 total")
    assert ledger("Tests pass.", edit("/mono/api/src/price.ts"), run).compliant is compliant


RED = bash("pytest -q", "1 failed, 11 passed in 0.3s", status="failure")


def test_a_red_run_of_something_else_is_nobodys_business():
    other = bash("pytest -q tests/test_other.py", "1 failed in 0.3s", status="failure")
    assert ledger("I've updated `total()`.", edit(), read(), other).compliant


def test_every_tenant_is_not_every_test():
    red = bash(
        "dotnet test", "Failed!  - Failed:     1, Passed:    57, Skipped:     0, Total:    58"
    )
    message = "**Fixed:** it used one culture for every tenant. One test still fails."
    assert ledger(message, edit("src/Amount.cs"), red).compliant


def test_migrations_run_before_the_tests_of_some_frameworks():
    migration = edit("priv/repo/migrations/2024_add_users.exs")
    run = bash("mix test test/app/users_test.exs", "22 tests, 0 failures")
    assert ledger("Tests pass.", edit("lib/app/users.ex"), migration, run).compliant
