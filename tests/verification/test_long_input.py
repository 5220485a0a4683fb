"""Reading takes work in proportion to what is read: of four times as much, some four times."""

from __future__ import annotations

import pytest

from tests.tiers import all_but_first
from tests.verification.runs import bash, edit, ledger
from tests.watchdog import calls_of, cpu_watchdog
from trialrun import Step, Trace
from trialrun.verification import audit

COMPUTING = 5
"""Seconds of computing for what needs a third of one. A pattern that looks at every character once
for each other takes 3 to 20 of them, and each text is read twice: work within a pattern is not seen
by counting calls.
"""


def grows_with_its_length(read, times):
    """Whether four times as much takes about four times the calls, and no pattern runs away."""
    read(1)  # whatever is made once is made now
    short, long = (calls_of(lambda size=size: read(size)) for size in (times // 4, times))
    with cpu_watchdog(COMPUTING):
        read(4 * times)
    return long <= 5 * short


def told(text):
    audit(Trace(input="x", output=text))
    ledger(text, edit())


@pytest.mark.parametrize(
    ("make", "times"),
    [
        (lambda n: "a" + " " * n + "b.", 20_000),
        (lambda n: "a\n" + " " * n + "b.", 20_000),
        (lambda n: ("a" + " " * 60) * n + "b.", 350),
        (lambda n: "# a" + " " * n + "b", 20_000),
        (lambda n: "# a" + (" " * 30 + "b") * n, 600),
        (lambda n: "|" + "- " * n + "|x", 10_000),
        (lambda n: "\x0c\n" * n, 10_000),
        (lambda n: "\u00a0\n" * n, 10_000),
        (lambda n: "\r\n" * n, 10_000),
        (lambda n: "pytest -q\n" * n, 2_000),
    ],
)
def test_messages(make, times):
    assert grows_with_its_length(lambda n: told(make(n)), times)


@pytest.mark.parametrize(
    ("piece", "times"),
    [("\r\n", 12_000), ("\x1b[0m\n", 4_000), ("\n", 24_000), ("\r", 24_000), ("\x0c\n", 12_000)],
)
def test_outputs(piece, times):
    assert grows_with_its_length(
        lambda n: ledger("All tests pass.", edit(), bash("pytest", piece * n)), times
    )
    assert grows_with_its_length(
        lambda n: ledger("All tests pass.", edit(), bash("pytest", "", error=piece * n)), times
    )


def test_what_is_set_apart_by_blanks_is_told_as_it_stands():
    message = "All tests pass" + " " * 12 + "now."
    assert ledger(message, edit()).claims[0].text in message


def reads(count, text):
    return [Step.tool_call("Read", {"file_path": "src/app.py"}, text) for _ in range(count)]


NUMBERED = "\n".join(f"{number}\tvalue = other" for number in range(300))


@pytest.mark.parametrize(
    "claim",
    [
        "Part {} works in Chrome.",
        "I deployed part {}.",
        "`src/app.py:{}` now says `value = 1`.",
        "The limit of queue {} is 4711{}.",
        "The order {} has been refunded.",
        "The helper was removed in a{}bcdef1.",
        "`npm task{}` is clean.",
        "Tests pass on Python 3.10 and 3.{}.",
        "Queue {} had no restarts, and takes {}.5 seconds.",
        "Nothing of part {} gets destroyed.",
    ],
)
@pytest.mark.parametrize("times", all_but_first(pytest.mark.drill, [1, 4]))
def test_claims_times_calls(claim, times):
    def both(times):
        message = " ".join(claim.replace("{}", str(one)) for one in range(50 * times))
        ledger(message, edit(), *reads(5 * times, NUMBERED))

    both(1)
    short, long = (calls_of(lambda size=size: both(size)) for size in (times, 4 * times))
    # Four times the claims and four times the calls: sixteen times the work at most.
    assert long <= 17 * short


def red(count):
    command = "pytest tests/test_a.py"
    return [bash(command, "1 failed in 0.1s", status="failure") for _ in range(count)]


def each(count, command):
    """So many files, each changed and then treated by a command of its own."""
    edits = [edit(f"/r/a{number}.py") for number in range(count)]
    return edits + [bash(command.format(number)) for number in range(count)]


@pytest.mark.parametrize(
    ("make", "times"),
    [
        (lambda n: [edit(), *red(n), bash("pytest tests/test_a.py", "12 passed in 0.3s")], 1_000),
        (lambda n: [bash("rm a\n" * n)], 2_500),
        (lambda n: [bash("aws " + "update-" * n)], 5_000),
        (
            lambda n: [
                Step.tool_call(
                    "Write",
                    {"file_path": "/r/a.py", "content": "x = 1\n" * 5_000 + "open('b', 'w')"},
                    "ok",
                ),
                *(bash("python /r/a.py", "ok") for _ in range(n)),
            ],
            20,
        ),
        (lambda n: each(n, "git checkout -- /r/a{}.py"), 200),
        (lambda n: each(n, "mv /r/a{0}.py /r/b{0}.py"), 200),
    ],
)
def test_runs(make, times):
    assert grows_with_its_length(lambda n: ledger("All tests pass.", *make(n)), times)


def test_what_was_put_back_or_moved_one_by_one():
    back, moved = each(50, "git checkout -- /r/a{}.py"), each(50, "mv /r/a{0}.py /r/b{0}.py")
    assert ledger("Done.", *back).open_obligations == []
    assert len(ledger("Done.", *moved).open_obligations) in (50, 100)
