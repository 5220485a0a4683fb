"""What git brings in, puts away and puts back."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, is_open, read, verdict

TESTS = bash("pytest -q", GREEN)


MERGED = [
    ("git merge feature", "Updating 1a2b..3c4d\nFast-forward\n src/app.py | 2 +-"),
    ("git merge feature", "CONFLICT (content): x\nAutomatic merge failed; fix conflicts"),
    ("git pull", "Updating 1a2b..3c4d\nFast-forward\n src/app.py | 2 +-"),
    ("git pull --rebase origin main", "Successfully rebased and updated refs/heads/x."),
    ("git rebase main", "Successfully rebased and updated refs/heads/x."),
    ("git rebase --continue", "Successfully rebased and updated refs/heads/x."),
    ("git cherry-pick 1a2b3c", "[main 9f8e] fix\n 1 file changed"),
    ("git revert --no-edit HEAD", "[main 9f8e] Revert\n 1 file changed"),
    ("git stash pop", "On branch main\nDropped refs/stash@{0}"),
    ("git stash apply", "On branch main"),
    ("git apply fix.patch", ""),
    ("git apply < fix.patch", ""),
    ("git apply -R --index fix.patch", ""),
    ("git am fix.patch", "Applying: fix"),
    ("patch -p1 < fix.patch", "patching file src/app.py"),
]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git pull", "Already up to date."),
        ("git pull --rebase", "Current branch main is up to date."),
        ("git merge main", "Already up-to-date."),
        ("git rebase main", "Current branch x is up to date."),
        ("git checkout -b fix", "Switched to a new branch 'fix'"),
        ("git commit -am 'merge it'", "[main 1a2b] merge it"),
        ("git fetch", ""),
        ("git stash list", ""),
        ("git merge --abort", ""),
    ],
)
def test_what_git_leaves_as_it_is(command, output):
    assert verdict("All tests pass.", edit(), TESTS, bash(command, output)) == "verified"
    assert is_open(bash(command, output)) == []


def test_what_was_pulled_may_simply_be_read():
    assert is_open(bash("git pull", "Updating 1..2\nFast-forward"), read()) == []


def test_a_failed_merge_that_left_nothing_behind():
    refused = bash("git merge x", "merge: x - not something we can merge", status="failure")
    assert is_open(refused) == []


# A run while the change was put away is a run of something else.


def test_a_red_run_without_the_change_contradicts_nothing():
    steps = [
        edit(),
        bash("git stash", "Saved working directory"),
        bash("pytest -q", "1 failed, 11 passed in 0.3s"),
        bash("git stash pop", "Dropped refs/stash@{0}"),
        TESTS,
    ]
    assert verdict("All tests pass.", *steps) == "verified"


def test_nothing_was_put_away():
    assert is_open(edit(), bash("git stash", "No local changes to save")) == ["src/app.py"]


AWAY = "Saved working directory"


@pytest.mark.parametrize(
    "command",
    [
        "git restore --staged src/app.py",
        "git restore -S .",
    ],
)
def test_what_is_not_put_back(command):
    assert is_open(edit("src/app.py"), bash(command)) == ["src/app.py"]


def test_a_hook_that_once_stopped_a_commit_ran_at_the_next_one_too():
    """It prints nothing where all is well; what it printed before says that it checks something."""
    red = bash("git commit -m x", "Running dialyzer...\n1 type error", status="failure")
    green = bash("git commit -m x", "[main 1a2b3c4] x\n 1 file changed")
    said = "All tests pass."
    tested = bash("mix test", "14 doctests, 410 tests, 0 failures")
    assert verdict(said, tested, edit("lib/a.ex"), green) == "stale"
    assert verdict(said, tested, red, edit("lib/a.ex"), green) == "not_checkable"
