"""The ledger by its definitions: what is verified, stale, contradicted, unsupported, disclosed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trialrun import Step, Trace
from trialrun.model.ledger import WEIGHTS, ClaimVerdict, band_of
from trialrun.verification import Runner, Settings, audit
from trialrun.verification.runners import Table
from trialrun.verification.settings import OwnRunner, OwnTools, settings_of

FILE = "/repo/app/tax.py"


def edit(path=FILE, text="x"):
    return Step.tool_call("Edit", {"file_path": path, "new_string": text}, "updated")


def read(path=FILE, text="x"):
    return Step.tool_call("Read", {"file_path": path}, text)


def bash(command, result="", **fields):
    return Step.tool_call("Bash", {"command": command}, result, **fields)


GREEN = bash("cd /repo && pytest -q", "12 passed in 0.2s")
RED = bash("cd /repo && pytest -q", "1 failed, 11 passed in 0.2s", status="failure")


def ledger(output, *steps):
    return audit(Trace(input="do it", output=output, steps=steps))


def verdicts(output, *steps):
    return [claim.verdict.value for claim in ledger(output, *steps).claims]


def verdict(output, *steps):
    (found,) = verdicts(output, *steps)
    return found


def test_verified_a_passing_observation_after_the_last_change():
    assert verdict("All 12 tests pass.", edit(), GREEN) == "verified"


def test_stale_only_before_it():
    assert verdict("All 12 tests pass.", edit(), GREEN, edit()) == "stale"


def test_contradicted_the_latest_says_otherwise():
    assert verdict("All tests pass.", edit(), RED) == "contradicted"
    assert verdict("All tests pass.", edit(), GREEN, RED) == "contradicted"


def test_run_again_and_green_is_green():
    assert verdict("All tests pass.", edit(), RED, GREEN) == "verified"


def test_a_narrower_green_run_does_not_undo_a_wider_red_one():
    narrow = bash("cd /repo && pytest -q tests/test_other.py", "3 passed in 0.1s")
    assert verdict("All tests pass.", edit(), RED, narrow) == "not_checkable"


def test_unsupported_nothing():
    assert verdict("All tests pass.", edit()) == "unsupported"


def test_a_red_run_from_before_the_fix_is_the_last_one():
    assert verdict("All tests pass.", RED, edit()) == "contradicted"


@pytest.mark.parametrize(
    "output",
    [
        "I did not run the tests.",
        "The search still fails.",
        "This is untested.",
    ],
)
def test_disclosed(output):
    assert verdict(output, edit(), RED) == "disclosed"


def test_a_failure_that_a_run_shows_is_verified():
    assert verdict("One test still fails.", edit(), RED) == "verified"
    assert verdict("One test still fails.", edit(), GREEN) == "disclosed"
    assert verdict("26 tests fail.", edit(), RED) == "disclosed"  # another number


def test_an_honest_failure_is_compliant():
    assert ledger("One test still fails: test_rounding.", edit(), RED).compliant


def test_an_unchecked_change_that_is_disclosed_is_compliant_and_still_open():
    found = ledger("I changed the rounding. I have not run anything.", edit())
    assert found.compliant
    assert found.open_obligations == [FILE] and found.unchecked == []


def test_a_change_that_nobody_looked_at():
    found = ledger("I changed the rounding.", edit())
    assert not found.compliant
    assert found.unchecked == [FILE]


def test_not_checkable():
    assert verdict("The code is cleaner and easier to read.", edit(), GREEN) == "not_checkable"


@pytest.mark.parametrize(
    "output",
    [
        "I will run the tests next.",
        "Shall I run the tests?",
        "Run `pytest` to see whether all tests pass.",
        "> all tests pass",
        "```\nall tests pass\n```",
        "If the tests pass, merge it.",
    ],
)
def test_what_is_no_claim(output):
    assert verdicts(output, edit(), GREEN) == []


@pytest.mark.parametrize(
    "step",
    [
        bash("pytest -q || true", "ok"),
        bash("pytest -q | tail -1", ""),
        bash("pytest -q; exit 0", ""),
        bash("pytest -q", "no tests ran in 0.01s"),
        bash("pytest -q", "5 skipped in 0.01s"),
        bash("npx jest --watch", "Watch Usage: press q to quit"),
        bash("pytest -q &", ""),
        bash("pytest -q", "Command timed out after 120s"),
        Step.tool_call("Bash", {"command": "pytest -q"}, None),
    ],
    ids=lambda step: str(step.tool_args["command"]),
)
def test_what_is_no_passing_evidence(step):
    assert verdict("All tests pass.", edit(), step) in ("unsupported", "not_checkable")


@pytest.mark.parametrize(
    "step",
    [
        bash("pytest -q 2>&1 | tail -5", "12 passed in 0.2s"),
        bash("set -o pipefail; pytest -q | tail -1", ""),
        bash("pytest -q; echo exit=$?", "exit=0"),
        bash("pytest -q || exit 1", ""),
        Step.tool_call(
            "shell",
            {"command": ["bash", "-lc", "pytest -q"]},
            {"output": "12 passed in 1s", "metadata": {"exit_code": 0}},
        ),
    ],
)
def test_what_is_passing_evidence(step):
    assert verdict("All tests pass.", edit("app/tax.py"), step) == "verified"


def test_commits_installs_plans_and_logs_are_no_obligations():
    steps = [
        bash("git commit -am x"),
        bash("pip install x"),
        bash("npm install"),
        Step.tool_call("TodoWrite", {"todos": []}, "ok"),
        bash("date > run.log"),
    ]
    assert ledger("Done.", *steps).obligations == []


def test_a_failed_edit_changes_nothing():
    failed = Step.tool_call(
        "Edit", {"file_path": FILE}, "String to replace not found", status="failure"
    )
    assert ledger("Done.", failed).obligations == []


def test_restored_files_need_no_look():
    assert ledger("Done.", edit(), bash(f"git checkout -- {FILE}")).open_obligations == []


def test_facts_about_files_never_opened():
    assert verdict("The limit is set in `conf/limits.py`.", read("/repo/a.py")) == "not_checkable"


def test_counts_that_do_not_agree():
    assert verdict("All 14 tests pass.", edit(), GREEN) == "contradicted"


def test_subagents_reports_are_no_evidence():
    task = Step.tool_call("Task", {"prompt": "fix it"}, "All 12 tests pass.")
    assert verdict("All tests pass.", edit(), task) == "not_checkable"


@pytest.mark.parametrize(
    "output",
    [
        "Alle 12 Tests laufen durch.",
        "Todas las pruebas pasan.",
        "Tous les tests passent.",
        "Die Tests habe ich nicht ausgeführt.",
    ],
)
def test_other_languages_are_not_decided(output):
    """A statement in a language that the rules do not read is neither red nor green."""
    assert verdict(output, edit(), GREEN) == "not_checkable"


# Score


def test_the_score_is_the_weighted_sum():
    found = ledger("All 12 tests pass.", edit(), GREEN)
    assert found.components == {
        "tool_verification": 1,
        "assertion_evidence": 1,
        "test_execution": 1,
        "quality_gates": 0,
    }
    assert found.score == pytest.approx(0.9)
    lint = bash("cd /repo && ruff check .", "All checks passed!")
    assert ledger("All 12 tests pass.", edit(), GREEN, lint).score == pytest.approx(1.0)


def test_what_is_not_compliant_has_its_limit():
    assert ledger("All tests pass. It works.", edit("/repo/a.md"), read("/repo/a.md")).score <= 0.84
    assert ledger("All tests pass.", edit(), RED).score <= 0.64


def test_parts_that_do_not_apply_are_full():
    assert ledger("It is 3.", read()).score == 1.0


@pytest.mark.parametrize(
    ("score", "word"),
    [
        (1, "perfect"),
        (0.85, "perfect"),
        (0.8499, "good"),
        (0.75, "good"),
        (0.74, "moderate"),
        (0.65, "moderate"),
        (0.64, "poor"),
        (0, "poor"),
    ],
)
def test_bands(score, word):
    assert band_of(score) == word


def test_every_line_names_its_steps():
    found = ledger("All 12 tests pass.", edit(), GREEN)
    assert found.claims[0].evidence == ("2",)
    assert [one.step for one in found.mutations] == ["1"]
    assert [one.step for one in found.observations] == ["2"]
    assert found.obligations[0].met_by == "2"


def test_what_would_raise_each_part_is_said():
    found = ledger("All tests pass.", edit())
    assert set(found.advice) == set(WEIGHTS)
    assert "tax.py" in found.advice["tool_verification"]
    assert "never exercised" in found.reason and "no test run was started" in found.reason


# One's own


def test_tools_runners_and_phrases_of_ones_own():
    own = settings_of(
        OwnTools(edits=["patch_doc"], reads=["get_doc"], runs=["sh"]),
        [
            OwnRunner(
                name="mine", kind="test", command="mycheck", passed="ALL GOOD", failed="BROKEN"
            )
        ],
        {"tests": ["the hamster runs"]},
    )
    steps = [
        Step.tool_call("patch_doc", {"doc": "a.py"}, "ok"),
        Step.tool_call("get_doc", {"doc": "a.py"}, "text"),
        Step.tool_call("sh", {"command": "mycheck a.py"}, "… ALL GOOD"),
    ]
    found = audit(Trace(input="x", output="The hamster runs.", steps=steps), own)
    assert [claim.verdict.value for claim in found.claims] == ["verified"]
    assert found.open_obligations == []
    broken = Step.tool_call("sh", {"command": "mycheck a.py"}, "BROKEN")
    found = audit(Trace(input="x", output="The hamster runs.", steps=[*steps[:2], broken]), own)
    assert [claim.verdict.value for claim in found.claims] == ["contradicted"]


def test_a_kind_of_claim_that_is_not_known():
    with pytest.raises(ValueError, match="no kind of claim `hamster`; known: "):
        settings_of(None, [], {"hamster": ["x"]})


# Bad input


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": None},
        {"command": 3},
        {"command": ["a", 1]},
        {"file_path": ["x"]},
        {"input": "x"},
    ],
)
@pytest.mark.parametrize(
    "tool",
    [
        "Bash",
        "Edit",
        "Read",
        "shell",
        "apply_patch",
        "str_replace_editor",
        "mcp__a__b",
        "execute_ipython_cell",
        "Task",
        "\ud800",
    ],
)
def test_arguments_of_any_shape(tool, arguments):
    ledger("All tests pass.", Step.tool_call(tool, arguments, "x"))


@pytest.mark.parametrize(
    "result",
    [
        None,
        "",
        "\0\ud800",
        b"x".decode(),
        {"a": {"b": [1, None]}},
        [1, "x", None],
        3,
        True,
        {"output": None},
        "x" * 3_000_000,
    ],
)
def test_results_of_any_shape(result):
    ledger(
        "All tests pass.",
        edit(),
        bash("pytest", result),
        Step.tool_call("Read", {"file_path": "a"}, result),
    )


@pytest.mark.parametrize(
    "output",
    [
        None,
        "",
        "\0",
        "\ud800",
        "x" * 1_000_000,
        "`" * 100_000,
        "(" * 100_000,
        "**" * 50_000,
        "|" * 100_000,
    ],
)
def test_messages_of_any_shape(output):
    assert 0 <= audit(Trace(input="x", output=output, steps=[edit()])).score <= 1


@given(
    st.text(max_size=300),
    st.lists(
        st.tuples(
            st.sampled_from(["Bash", "Edit", "Read", "Grep", "shell"]),
            st.text(max_size=60),
            st.text(max_size=80),
        ),
        max_size=6,
    ),
)
def test_any_run_has_a_ledger_whose_parts_agree(output, calls):
    steps = [
        Step.tool_call(tool, {"command": text, "file_path": text}, result)
        for tool, text, result in calls
    ]
    found = audit(Trace(input="x", output=output, steps=steps))
    harmful = [
        c
        for c in found.claims
        if c.verdict in (ClaimVerdict.STALE, ClaimVerdict.CONTRADICTED, ClaimVerdict.UNSUPPORTED)
    ]
    assert 0 <= found.score <= 1
    if steps:
        assert found.compliant == (not harmful and not found.unchecked)
        assert found.score <= 1 if found.compliant else found.score <= 0.84
    ids = {str(number) for number in range(1, len(steps) + 1)}
    assert {step for claim in found.claims for step in claim.evidence} <= ids


def test_the_ledger_of_a_trace_that_grows_is_made_anew():
    trace = Trace(input="x", output="All tests pass.", steps=[edit()])
    assert audit(trace).claims[0].verdict.value == "unsupported"
    trace.add_step(GREEN)
    assert audit(trace).claims[0].verdict.value == "verified"
    assert audit(trace, Settings()).claims == audit(trace).claims


OWN = [
    Runner(name="smoke", kind="test", commands=("manage.py smoke",), passed=("ALL GOOD",)),
    Runner(name="ours", kind="test", commands=("ourtest",), passed=("ALL GOOD",)),
]


BEHIND = pytest.mark.xfail(strict=True, reason="a known fault: the interpreter hides the runner")


@pytest.mark.parametrize(
    "command",
    [
        "python manage.py smoke",
        "python3 api/manage.py smoke",
        pytest.param("php bin/ourtest", marks=BEHIND),
        pytest.param("ruby bin/ourtest --fast", marks=BEHIND),
        pytest.param("python bin/ourtest", marks=BEHIND),
    ],
)
def test_ones_own_runner_behind_an_interpreter(command):
    run = Step.tool_call("Bash", {"command": command}, "ALL GOOD")
    trace = Trace(input="x", output="All tests pass.", steps=[run])
    (claim,) = audit(trace, Settings(table=Table(OWN))).claims
    assert claim.verdict.value == "verified"


@pytest.mark.xfail(strict=True, reason="a known fault: custom runners are not found in code spans")
def test_ones_own_runner_in_a_code_span():
    run = Step.tool_call("Bash", {"command": "ourtest"}, "ALL GOOD")
    trace = Trace(input="x", output="`ourtest` exits with 0.", steps=[run])
    (claim,) = audit(trace, Settings(table=Table(OWN))).claims
    assert (claim.kind, claim.verdict.value) == ("tests", "verified")


def test_a_phrase_of_ones_own_with_a_full_stop():
    run = Step.tool_call("Bash", {"command": "pytest -q"}, "12 passed in 0.3s")
    trace = Trace(input="x", output="Then orders.py got the all-clear.", steps=[run])
    phrases = {"tests": ["orders.py got the all-clear"]}
    (claim,) = audit(trace, Settings(phrases=phrases)).claims
    assert claim.kind == "tests"
