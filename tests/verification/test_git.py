"""What git brings in, puts away and puts back."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, is_open, ledger, read, verdict

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


@pytest.mark.parametrize(("command", "output"), MERGED)
def test_what_git_brings_in_makes_runs_before_it_stale(command, output):
    steps = [edit(), TESTS, bash(command, output)]
    assert verdict("All tests pass.", *steps) == "stale"
    assert verdict("All tests pass.", *steps, TESTS) == "verified"


@pytest.mark.parametrize(("command", "output"), MERGED)
@pytest.mark.parametrize(
    ("look", "shown"),
    [
        ("pytest -q", GREEN),
        ("cd web && npm test", "Tests: 3 passed, 3 total"),
        ("npm run build", "built in 5s"),
        ("git diff HEAD~1", "+x"),
        ("git diff HEAD~1 -- src/app.py", "+x"),
    ],
)
def test_what_git_brings_in_is_owed_a_look(command, output, look, shown):
    merge = bash(command, output)
    assert len(is_open(merge)) == 1
    assert is_open(merge, bash(look, shown)) == []
    assert len(is_open(bash(look, shown), merge)) == 1


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git pull", "Already up to date."),
        ("git pull --rebase", "Current branch main is up to date."),
        ("git merge main", "Already up-to-date."),
        ("git rebase main", "Current branch x is up to date."),
        ("git stash pop", "No stash entries found."),
        ("git checkout -b fix", "Switched to a new branch 'fix'"),
        ("git commit -am 'merge it'", "[main 1a2b] merge it"),
        ("git fetch", ""),
        ("git stash list", ""),
        ("git merge --abort", ""),
        ("git apply --check fix.patch", ""),
        ("git apply --stat fix.patch", " src/app.py | 2 +-"),
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


@pytest.mark.parametrize("before", [(), (TESTS,)])
def test_a_run_without_the_change_is_no_evidence_for_it(before):
    away = bash("git stash && pytest -q && git stash pop", f"{GREEN}\nDropped refs/stash@{{0}}")
    held = ledger("All tests pass.", edit(), *before, away)
    assert held.claims[0].verdict.value == "stale"
    assert held.open_obligations == ["src/app.py"]
    assert verdict("All tests pass.", edit(), *before, away, TESTS) == "verified"


def test_a_red_run_without_the_change_contradicts_nothing():
    steps = [
        edit(),
        bash("git stash", "Saved working directory"),
        bash("pytest -q", "1 failed, 11 passed in 0.3s"),
        bash("git stash pop", "Dropped refs/stash@{0}"),
        TESTS,
    ]
    assert verdict("All tests pass.", *steps) == "verified"


def test_what_others_had_changed_comes_back_and_is_not_owed():
    away = [bash("git stash", "Saved working directory"), TESTS]
    back = bash("git stash pop", "Dropped refs/stash@{0}")
    assert is_open(*away, back) == []
    assert verdict("All tests pass.", *away, back) == "stale"


def test_nothing_was_put_away():
    assert is_open(edit(), bash("git stash", "No local changes to save")) == ["src/app.py"]


AWAY = "Saved working directory"


@pytest.mark.parametrize(
    "command",
    [
        "git stash push src/a.py",
        "git stash push -- src/a.py",
        "git stash -- src/a.py",
        "git stash push -m 'for later' src/a.py",
        "git stash push -u -m later -- src/a.py",
    ],
)
def test_only_the_named_files_are_put_away(command):
    steps = [edit("src/a.py"), edit("src/b.py"), bash(command, AWAY)]
    assert is_open(*steps) == ["src/b.py"]
    assert is_open(*steps, bash("git stash pop", "Dropped")) == ["src/b.py", "src/a.py"]


def test_files_that_are_put_away_one_after_the_other_come_back():
    steps = [
        edit("src/a.py"),
        edit("src/b.py"),
        bash("git stash push src/a.py", AWAY),
        bash("git stash push src/b.py", AWAY),
    ]
    assert is_open(*steps) == []
    back = bash("git stash pop && git stash pop", "Dropped")
    assert set(is_open(*steps, back)) >= {"src/a.py", "src/b.py"}


def test_the_text_of_a_saved_stash_is_no_file():
    assert is_open(edit("src/a.py"), bash("git stash save half done", AWAY)) == []


@pytest.mark.parametrize("root", ["/srv/myapp", "/srv/my.app"])
@pytest.mark.parametrize("command", ["git reset --hard", "git checkout .", "git restore ."])
def test_runs_before_the_tree_was_put_back_are_stale(root, command):
    steps = [edit(f"{root}/src/a.py"), bash(f"cd {root} && pytest -q", GREEN)]
    assert verdict("All tests pass.", *steps) == "verified"
    assert verdict("All tests pass.", *steps, bash(f"cd {root} && {command}")) == "stale"


def test_a_file_that_was_put_back_is_no_tree():
    other = [edit("src/a.py"), edit("web/b.ts"), TESTS, bash("git checkout -- web/b.ts")]
    assert verdict("All tests pass.", *other) == "verified"
    folder = [edit("src.d/a.py"), TESTS, bash("git checkout -- src.d")]
    assert verdict("All tests pass.", *folder) == "stale"


@pytest.mark.parametrize(
    "command",
    [
        "git checkout .",
        "git checkout -- .",
        "git restore .",
        "git restore src/",
        "git restore src/app.py",
        "git restore --staged --worktree src/app.py",
        "git restore -S -W src/app.py",
        "git restore -SW src/app.py",
    ],
)
@pytest.mark.parametrize("path", ["src/app.py", "/srv/my.app/src/app.py"])
def test_what_is_put_back_is_changed_no_more(command, path):
    assert is_open(edit(path), bash(command)) == []
    assert verdict("Nothing is changed.", edit(path), bash(command)) != "contradicted"


@pytest.mark.parametrize(
    "command", ["git restore --staged src/app.py", "git restore -S .", "git restore app.py"]
)
def test_what_is_not_put_back(command):
    assert is_open(edit("src/app.py"), bash(command)) == ["src/app.py"]
