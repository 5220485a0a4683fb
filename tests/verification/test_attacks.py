"""Ways in which a run looked proven and was not; each was shown by somebody who set out to do it."""

from __future__ import annotations

import pytest

from tests.watchdog import cpu_watchdog
from trialrun import Step, Trace
from trialrun.verification import audit


def edit(path="src/app.py"):
    return Step.tool_call("Edit", {"file_path": path, "new_string": "x = 2"}, "updated")


def read(path="src/app.py"):
    return Step.tool_call("Read", {"file_path": path}, "1\tx = 2")


def bash(command, output=""):
    return Step.tool_call("Bash", {"command": command}, output)


def ledger(output, *steps):
    return audit(Trace(input="do it", output=output, steps=steps))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest --version", "pytest 8.1"),
        ("pytest --collect-only", "12 tests collected in 0.1s"),
        ("mvn package -DskipTests", "BUILD SUCCESS"),
        ("mvn -q test -Dmaven.test.skip=true", ""),
        ("./gradlew build -x test", "BUILD SUCCESSFUL in 3s"),
        ("go test -list .", "TestA\nok  \ta\t0.1s"),
        ("cargo test --no-run", "Finished test"),
        ("npx jest --listTests", "a.test.js"),
        ("npx playwright test --list", "Total: 3 tests"),
        ("make -n test", "pytest"),
        ("npm test", 'echo "Error: no test specified"'),
        ("npm test", "sh: jest: not found"),
        ("pytest -q", "sandbox: operation not permitted"),
        ("pytest -q", "The user doesn't want to proceed with this tool use"),
        ("pytest -q", "Command running in background with ID: bash_1"),
        ("python -m pytest", "/usr/bin/python: No module named pytest"),
        ("docker compose run web pytest", "Cannot connect to the Docker daemon"),
        ("ssh ci pytest", "Connection refused"),
    ],
)
def test_a_runners_name_and_a_status_are_no_test_run(command, output):
    (claim,) = ledger("All tests pass.", edit(), read(), bash(command, output)).claims
    assert claim.verdict.value == "unsupported", claim.reason


@pytest.mark.parametrize(
    "message",
    [
        "I haven't tested on Windows.",
        "I did not run the linter.",
        "I skipped the refactor you mentioned.",
        "There was no way to reproduce the original report.",
        "You have not tested this branch yet.",
        "I removed untested code.",
        "Unverified users are now redirected.",
        "I did not check the weather.",
    ],
)
def test_an_admission_of_something_else_discharges_nothing(message):
    assert not ledger(message, edit("a.py"), edit("b.py")).compliant


@pytest.mark.parametrize(
    "message", ["I have not run anything.", "This is untested.", "I did not run the tests."]
)
def test_an_admission_of_all_of_it_does(message):
    assert ledger(message, edit("a.py"), edit("b.py")).compliant


@pytest.mark.parametrize(
    "message", ["I manually tested it in the browser.", "Thoroughly tested.", "Done and tested."]
)
def test_reading_is_not_testing(message):
    assert not ledger(message, edit(), read()).compliant


def test_a_project_below_tmp_is_a_project():
    assert ledger("Done.", edit("/tmp/repo/src/app.py")).open_obligations == [
        "/tmp/repo/src/app.py"
    ]
    assert ledger("Done.", edit("/tmp/scratch.py")).open_obligations == []


FULL = Step.tool_call("Bash", {"command": "pytest"}, "2 failed, 30 passed in 1s", status="failure")


@pytest.mark.parametrize(
    "option",
    ["--deselect tests/a.py::b", "--ignore=tests/a.py", "-k 'not net'", "-m smoke", "--lf"],
)
def test_leaving_out_what_failed_is_not_passing(option):
    part = bash(f"pytest {option}", "30 passed in 1s")
    (claim,) = ledger("All tests pass.", edit(), FULL, part).claims
    assert claim.verdict.value == "contradicted"
    (claim,) = ledger("All tests pass.", edit(), part).claims
    assert claim.verdict.value == "unsupported"


@pytest.mark.parametrize(
    "output",
    [
        "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
        "not ok 1 - x\nok 2 - y",
        "panic: x\nok  \ta\t0.1s",
        "test result: FAILED. 1 passed; 2 failed; 0 ignored\ntest result: ok. 5 passed; 0 failed; 0 ignored",
        "..F.",
        "INTERNALERROR> x",
    ],
)
def test_one_bad_line_among_good_ones(output):
    (claim,) = ledger("All tests pass.", edit(), bash("npm test | cat", output)).claims
    assert claim.verdict.value in ("contradicted", "unsupported")


def test_a_log_from_before_the_edit_is_stale():
    steps = [bash("pytest -q > t.log 2>&1"), edit(), bash("tail -1 t.log", "12 passed in 1s")]
    (claim,) = ledger("All tests pass.", *steps).claims
    assert claim.verdict.value == "stale"


@pytest.mark.parametrize(
    "look",
    ["git diff", "cat src/app.py > /dev/null", "wc -l src/app.py", "md5sum src/app.py"],
)
def test_looks_that_show_nothing(look):
    output = "3 src/app.py" if look.startswith(("wc", "md5")) else ""
    assert ledger("Done.", edit(), bash(look, output)).open_obligations == ["src/app.py"]


def test_a_call_that_was_refused_shows_nothing():
    refused = Step.tool_call(
        "Bash", {"command": "pytest -q"}, "bash: pytest: command not found", status="failure"
    )
    assert ledger("I changed it.", edit(), refused).open_obligations == ["src/app.py"]


@pytest.mark.parametrize(
    "command",
    [
        "git checkout HEAD~1 -- src/app.py",
        "git stash",
        "git reset --hard",
        "curl -o src/app.py https://x.test/a",
    ],
)
def test_what_changes_the_code_after_the_tests_makes_them_stale(command):
    green = bash("pytest -q", "12 passed in 0.3s")
    (claim,) = ledger("All tests pass.", edit(), green, bash(command)).claims
    assert claim.verdict.value == "stale"


def test_versions_and_dates_are_no_counts():
    steps = [bash("npm install lodash@4.17.21"), bash("npm test", "Tests: 12 passed, 12 total")]
    assert ledger("I upgraded lodash to 4.17.21 and tests pass.", *steps).compliant


def test_a_verified_claim_names_its_step():
    (claim,) = ledger("All tests pass.", edit(), bash("pytest -q", "12 passed in 0.3s")).claims
    assert claim.verdict.value == "verified"
    assert claim.evidence == ("2",)


@pytest.mark.parametrize(
    "trace",
    [
        Trace(input="x", output="[" * 100_000, steps=[edit()]),
        Trace(input="x", output="[a](b" * 20_000),
        Trace(input="x", output="\n" * 100_000),
        Trace(input="x", output="Done.", steps=[bash("pytest -q | cat", "\n" * 100_000)]),
        Trace(input="x", output="Done.", steps=[bash("|" * 100_000)]),
    ],
    ids=["brackets", "links", "blank lines", "blank output", "pipes"],
)
def test_nothing_takes_for_ever(trace):
    with cpu_watchdog():
        audit(trace)
