"""Whatever writes a file changes it, by whichever program it is done."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, is_open, verdict

# Programs that write files.


# Programs that put code in order.

CHANGED = [
    ("black .", "reformatted src/app.py\n\n1 file reformatted."),
    ("ruff format .", "3 files reformatted, 1 file left unchanged"),
    ("ruff check --fix .", "Found 2 errors (2 fixed, 0 remaining)."),
    ("ruff --fix src", "Found 2 errors (2 fixed)."),
    ("isort .", "Fixing src/app.py"),
    ("npx prettier --write src", "src/app.ts 34ms\nsrc/b.ts 12ms (unchanged)"),
    ("npm run format", "> format\n> prettier --write .\n\nsrc/app.ts 34ms"),
    ("make format", "1 file reformatted, 3 files left unchanged."),
    ("bundle exec rubocop -A", "app/a.rb:1:1: C: [Corrected] x\n2 offenses corrected"),
    ("cargo fix --allow-dirty", "       Fixed src/main.rs (1 fix)"),
    ("cargo clippy --fix", "       Fixed src/main.rs (2 fixes)"),
    (
        "pre-commit run --all-files",
        "trailing-whitespace....Failed\n- files were modified by this hook",
    ),
]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("black .", "All done!\n1 file left unchanged."),
        ("ruff format .", "4 files left unchanged"),
        ("ruff check --fix .", "All checks passed!"),
        ("npx prettier --write src", "src/app.ts 34ms (unchanged)"),
        ("gofmt -w .", ""),
        ("cargo fmt", ""),
        ("npx eslint --fix src", ""),
        ("rubocop -a", "4 files inspected, no offenses detected"),
        ("isort .", "Skipped 1 files"),
    ],
)
def test_a_fixer_that_changed_nothing(command, output):
    tests = bash("make test", GREEN)
    assert (
        verdict("All tests pass.", edit("src/app.py"), tests, bash(command, output)) == "verified"
    )
    assert is_open(bash(command, output)) == []


# Programs that make files.


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("python manage.py makemigrations", "No changes detected"),
        ("npx prisma generate", "✔ Generated Prisma Client to ./node_modules/@prisma/client"),
        ("protoc --python_out=gen a.proto", ""),
    ],
)
def test_a_generator_that_made_nothing_to_look_at(command, output):
    assert is_open(bash(command, output)) == []
