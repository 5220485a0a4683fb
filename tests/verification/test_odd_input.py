"""Input that nobody expects: calls, results and messages of odd shape must not end a run."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verification.runs import GREEN, bash, edit, ledger
from trialrun import Step, Trace
from trialrun.verification import audit


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("command", ["python -m", "python3 -u -m", "uv run python -m"])
def test_python_with_no_module(command):
    assert audit(Trace(input="x", output=f"Run it with `{command}`.")).claims == ()
    ledger("All tests pass.", edit(), bash(command, "usage: python"))


def test_an_introduction_with_a_long_blank_tail():
    ledger("the list is as follows:" + " " * 600 + "\n\n- All tests pass.", bash("pytest", GREEN))
    audit(Trace(input="x", output="the list is as follows:" + " " * 600))


def test_a_percent_sign_without_a_number():
    steps = edit(), bash("pytest -q --cov", "12 passed in 0.2s\n%")
    assert ledger("Coverage is 90%.", *steps).claims[0].verdict.value == "not_checkable"


@pytest.mark.parametrize("value", [{(1, 2): 3}, {"data": {(1, 2): 3}}, nested(5_000)])
def test_results_of_odd_shape(value):
    ledger("All tests pass.", edit(), Step.tool_call("Bash", {"command": "pytest"}, value))


@pytest.mark.parametrize("value", [[{(1, 2): 3}], nested(5_000), {"x": nested(5_000)}])
@pytest.mark.parametrize("key", ["edits", "x", "content"])
def test_arguments_of_odd_shape(key, value):
    call = Step.tool_call("Edit", {"file_path": "a.py", key: value}, "updated")
    ledger("I deployed it. All tests pass. The browser works.", call)


def test_a_number_that_is_too_long():
    steps = edit(), bash("pytest -q | head -n " + "9" * 5_000, GREEN)
    ledger("All 12 tests pass.", *steps)
    counted = Step.tool_call(
        "Bash",
        {"command": "psql -c 'select count(*) from a where b is null'"},
        "",
        error="9" * 5_000,
    )
    changed = bash("psql -c \"update a set b = 'x'\"", "UPDATE 3")
    ledger("No row without a value is left in the table.", changed, counted)
    ledger(
        "No row without a value is left.",
        changed,
        bash("psql -c 'select count(*) from a'", "9" * 1_900),
    )


def test_a_path_of_very_many_parts():
    code = "open(" + "/".join(['"a"'] * 1_500) + ', "w")'
    ledger("It is written.", bash(f"python - <<'EOF'\n{code}\nEOF"))
    doubled = 'a = "a"\n' + "a = a / a\n" * 60 + 'open(a, "w")'
    ledger("It is written.", bash(f"python - <<'EOF'\n{doubled}\nEOF"))


@pytest.mark.parametrize("name", ["Edit", "merge_pull_request", "update_issue", "Bash"])
def test_a_number_too_large_to_be_written(name):
    keys = ("number", "issue_number", "pull_number", "exit_code")
    call = Step.tool_call(name, dict.fromkeys(keys, 10**5_000), {"exit_code": 10**5_000})
    ledger("I merged it. It works.", call)


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**4_000)
    | st.floats()
    | st.binary(max_size=8)
    | st.text(max_size=12)
    | st.sampled_from(["pytest -q", "rm a", GREEN, "a.py", "90%", "python -m", "\x1b[0m\r\n"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=4)
            | st.integers()
            | st.none()
            | st.tuples(st.integers())
            | st.sampled_from(["command", "content", "output", "exit_code", "metadata", "edits"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(
    st.text(max_size=4)
    | st.sampled_from(
        ["command", "file_path", "path", "edits", "content", "code", "pattern", "query", "url",
         "new_string", "offset", "paths", "cwd", "input", "host"]
    ),
    ODD,
    max_size=4,
)  # fmt: skip
NAMES = st.text(min_size=1, max_size=6) | st.sampled_from(
    ["Bash", "Edit", "MultiEdit", "Read", "Grep", "str_replace_editor", "apply_patch", "run_code",
     "fetch", "delete_file", "query_database", "list_files", "move_file"]
)  # fmt: skip
MESSAGE = (
    "I deployed it. All 12 tests pass, coverage is 90%. `a.py:3` now says `x = 1`. "
    "No rows without a value are left. It is 3x faster in the browser."
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(NAMES, ARGUMENTS, ODD, st.none() | st.text(max_size=8)), max_size=3))
def test_no_call_ends_the_audit(calls):
    steps = [
        Step.tool_call(name, given, result, error=error) for name, given, result, error in calls
    ]
    audit(Trace(input="x", output=MESSAGE, steps=steps))


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/test_\udc80.py",
        "cat a\udc80.txt",
        "echo x > b\udc80.txt",
        "systemctl restart \udc80",
    ],
)
def test_half_a_character_in_a_command_can_be_written_down(command):
    msgspec.json.encode(ledger("All tests pass.", bash(command, GREEN)))
