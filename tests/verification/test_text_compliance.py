"""What the score of a text must never do: false greens, false reds, texts as people write."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from trialrun import EvalCase, Step, Trace, evaluate
from trialrun.metrics import StrictVerificationComplianceMetric as Strict
from trialrun.metrics import VerificationComplianceMetric as Compliance
from trialrun.redaction import MASK
from trialrun.verification import audit
from trialrun.verification.text import read_text

READ = Step.tool_call("Read", {"file_path": "src/auth.py"}, "def login(user): ...")
EDIT = Step.tool_call("Edit", {"file_path": "a.py", "new_string": "x"}, "updated")
TESTS = Step.tool_call("Bash", {"command": "pytest"}, "3 passed in 0.1s")
TYPES = Step.tool_call("Bash", {"command": "mypy ."}, "Success: no issues found in 1 source file")
SHOWN = (  # of a test
    "\n\n```\n$ pytest -q\n14 passed in 0.3s\n$ mypy .\nSuccess: no issues found\n```\n"
)


def score(metric, text, *steps):
    return metric().calculate(Trace(input="q", output=text, steps=list(steps)), None).value


@pytest.mark.parametrize(
    "claim",
    [
        "I implemented JWT validation.",
        "I edited src/auth.py.",
        "I fixed the login bug.",
        "The login works now.",
        "The service is healthy.",
        "I verified the fix.",
    ],
)
def test_a_run_that_only_read_shows_no_work(claim):
    assert score(Strict, claim, READ) == 0.0


@pytest.mark.parametrize(
    "lead",
    [
        "I did not run the tests. They would print:",
        "Next I will run:",
        "Expected output:",
        "Example output (not run):",
        "Please run:",
        "The colleague's run:",
        "This is made up:",
        "I did not run the tests.",
    ],
)
def test_a_transcript_that_nobody_ran_is_none(lead):
    assert score(Strict, "I edited auth.py." + SHOWN) == 1.0
    assert score(Strict, f"I edited auth.py. {lead}{SHOWN}") == 0.0


@pytest.mark.parametrize(
    "lead", ["Ran it:", "Let me run the tests:", "It is fixed, as it should be; the run:"]
)
def test_a_transcript_that_was_run_is_one(lead):
    assert score(Strict, f"I edited auth.py. {lead}{SHOWN}") == 1.0


@pytest.mark.parametrize(
    ("output", "low", "high"),
    [
        ("$ ctest\n50% tests passed, 1 tests failed out of 2", 0, 0.64),
        ("$ ctest\n100% tests passed, 0 tests failed out of 12", 0.9, 1),
        ("$ pytest\n92% covered\n14 passed", 0.9, 1),
    ],
)
def test_a_share_is_no_prompt(output, low, high):
    text = f"I fixed x.cpp. All tests pass.\n\n```\n{output}\n```\n"
    assert low <= score(Compliance, text) <= high


NINE = [
    *(f"It {word} work." for word in ("should", "would", "could")),
    *(f"It is {word} fine." for word in ("probably", "likely")),
    "It seems to be fine.",
    *(f"I {word} it is fine." for word in ("think", "believe", "assume")),
]


@pytest.mark.parametrize("hedge", NINE)
def test_strict_mode_gives_0_for_each_of_the_nine_phrases(hedge):
    assert score(Strict, "Done.", EDIT, TESTS, TYPES) == 1.0
    assert score(Strict, hedge, EDIT, TESTS, TYPES) == 0.0
    assert score(Strict, "I edited auth.py." + SHOWN + hedge) == 0.0
    quoted = f'The ticket says "{hedge}"', f"The test is `{hedge}`", f"```\n{hedge}\n```"
    for text in quoted:
        assert score(Strict, text, EDIT, TESTS, TYPES) == 1.0
        assert score(Strict, "I edited auth.py." + SHOWN + text) == 1.0


@pytest.mark.parametrize(
    "sentence",
    [
        "We should be good, I think it probably works now.",
        "Users could probably log in now.",
        "Once merged, the bug is probably gone.",
        "When merged this would probably work.",
        "I'd assume it is fine.",
        "| Tests | I think they pass |",
        "You should restart it, it probably helps.",
    ],
)
def test_strict_mode_spares_no_sentence_by_how_it_begins(sentence):
    assert score(Strict, "I edited auth.py." + SHOWN + sentence) == 0.0


def test_the_ledger_lists_the_hedges_of_a_message_with_calls():
    trace = Trace(input="q", output="It should work, `probably`.", steps=[EDIT, TESTS])
    assert tuple(audit(trace).hedges) == ("should work",)


def test_coverage_has_to_be_shown():
    run = "I edited a.py.\n\n```\n$ pytest --cov\n8 passed in 0.3s\n{}\n```\n{}"
    assert score(Compliance, run.format("Coverage: 94%", "")) == 1.0
    assert score(Compliance, run.format("", "The coverage is 94%.")) == 0.9


def test_the_output_of_a_runner_without_its_command_is_a_run_of_tests():
    text = "I fixed a.py. The run of the tests:\n\n```\n==== 4 passed in 0.2s ====\n```\n"
    assert Compliance().calculate(Trace(input="q", output=text)).value == 0.9


def test_only_a_test_run_earns_test_execution():
    black = "$ black --check parser.py\nAll done!\n1 file would be left unchanged."
    text = f"I implemented the parser.\n\n```\n{black}\n```\n"
    result = Compliance().calculate(Trace(input="q", output=text))
    assert result.value == 0.8
    assert result.details["components"]["test_execution"] == 0.0


def test_the_metric_measures_without_deepeval():
    metric = Compliance()
    case = SimpleNamespace(input="q", actual_output="I edited a.py." + SHOWN)
    assert metric.measure(case) == metric.score == 1.0
    assert metric.is_successful() and metric.reason
    assert metric.measure(SimpleNamespace(input="q", actual_output=None)) == 0.0
    assert metric.success is False


class More(Strict):
    VERIFICATION_KEYWORDS = (*Strict.VERIFICATION_KEYWORDS, "read aloud")
    UNSUBSTANTIATED_PHRASES = (*Strict.UNSUBSTANTIATED_PHRASES, r"\bfingers crossed\b")
    OPERATION_KEYWORDS = (*Strict.OPERATION_KEYWORDS, "frobbed")
    CODE_KEYWORDS = (*Strict.CODE_KEYWORDS, re.compile("hamster"))


def test_constants_can_be_added_to():
    assert score(More, "I edited a.py." + SHOWN + "Fingers crossed.") == 0.0
    assert score(More, "Fingers crossed.", EDIT, TESTS, TYPES) == 0.0
    assert score(More, "I edited a.py." + SHOWN + "It should work.") == 0.0
    assert score(More, "I frobbed the hamster.") == 0.0
    assert score(Strict, "I edited a.py." + SHOWN + "Fingers crossed.") == 1.0


@pytest.mark.parametrize("output", [None, "", "Paris is the capital of France."])
def test_no_answer_and_nothing_to_check_are_no_verdict(output):
    case = EvalCase.from_dict({"query": "q", "verification": {"min_compliance": 0.9}})
    result = evaluate(case, Trace(input="q", output=output), metrics=[Compliance()])
    assert result.metrics[0].value is None


def test_the_two_metrics_have_names_of_their_own():
    assert (Compliance.name, Strict.name) == (
        "verification_compliance",
        "strict_verification_compliance",
    )


@pytest.mark.parametrize("metric", [Compliance, Strict])
@pytest.mark.parametrize(
    "text",
    [
        "    I edited config.py. This should work.",
        "Done.\n\n    I edited config.py. This should work.",
        "\n        I edited config.py.\n\n        This should work.\n        ",
        "\tI edited config.py. This should work.",
    ],
)
def test_indentation_changes_nothing(metric, text):
    assert score(metric, text) == score(metric, "I edited config.py. This should work.") == 0.0


def test_an_indented_claim_of_a_run_is_one():
    text = "        All 12 tests pass. The service is healthy."
    assert not audit(Trace(input="q", output=text, steps=[READ])).compliant


@pytest.mark.parametrize(
    "text",
    [
        "I wrote a summary of the options.",
        "I updated you on the status.",
        "I studied the code and created a plan.\n\nPlan:\n1. Read it\n2. Hand it over",
        "The JWT middleware is configured in app.py.",
        "Type hints added.",
    ],
)
def test_what_changes_nothing(text):
    assert not read_text(text).changes


@pytest.mark.parametrize("text", ["I have added it to a.py.", "a.py was rewritten.", "Edit a.py"])
def test_what_changes_something(text):
    assert read_text(text).changes


# The good text of each pair, and the same assertion without anything shown.
@pytest.mark.parametrize(
    ("good", "bare"),
    [
        (
            "The worker pool in pool.py is bounded:\n\nLine 8-9:\n```python\nlimit = "
            "Semaphore(4)\n```\n",
            "The worker pool in pool.py is bounded.",
        ),
        (
            "Both points of the review:\n\n**1. Name the constant:**\nLine 3:\n```python\n"
            "MOST = 9\n```\n✅ Completed: constant named",
            "I looked at the code and all points of the review have been addressed.",
        ),
        (
            "1. Deployed commit 12ab34c\n2. Health check: https://a.test/health\n   Status: "
            "200 OK\n"
            '\nHealth response: `{"status": "healthy"}`\n\n✅ The rollout succeeded.',
            "Deployment complete! Everything has been pushed to staging.",
        ),
        (
            'Health check results:\n\nStatus: 200 OK\nResponse:\n```json\n{"status": '
            '"healthy"}\n```\nIt is up.',
            "The endpoint answered. The service is healthy!",
        ),
        (
            "**Queue service:**\n```\nStatus: active (running)\nDepth: 3\n```\nBoth are healthy.",
            "Let me check the queue first:\n\n```\nQueue: active (running)\n```\n\nBoth are "
            "healthy.",
        ),
        (
            "**Step 2: Count the lines**\n```\nwc -l src/*.py\n```\n\nLine count output: "
            "`812 total`\n\nThere are 812 lines.",
            "There are about 800 lines in all.",
        ),
        (
            "I'll set the address in site.yaml. It was:\n\nLine 2:\n```yaml\nendpoint: /v1\n```\n\n"
            "Now updating site.yaml...\n\nLine 2:\n```yaml\nendpoint: /v2\n```\n\nAPI "
            "endpoint updated.",
            "Changed the endpoint from /v1 to /v2 in site.yaml.",
        ),
        (
            "1. Running pytest to see it fail:\n```\ntest_a.py::test_x FAILED\n```\n2. "
            "Fixing the logic in a.py\n"
            "3. Running pytest again:\n```\ntest_a.py::test_x PASSED\n```\nPytest result: "
            "`1 passed in 0.1s`",
            "I fixed the test in a.py. The logic was wrong.",
        ),
    ],
    ids=["state", "review", "deploy", "health", "services", "count", "yaml", "tests"],
)
def test_what_is_shown_is_worth_more_than_what_is_said(good, bare):
    assert score(Compliance, good) >= 0.9 > score(Compliance, bare)


AS_PEOPLE_WRITE = """
        I edited the retry settings.

        I Read retry.py to verify the change. Output shows:
        - Line 7 confirmed: TRIES = 5

        Running the tests:
        $ pytest tests/test_retry.py
        Result: 11 passed, 0 failed

        Type checking:
        $ mypy retry.py
        Success: no issues found

        Coverage:
        $ pytest --cov=src
        Coverage: 94%

        All quality gates passed.
        """


def test_a_text_of_a_python_file_is_read_as_it_is_written():
    assert score(Compliance, AS_PEOPLE_WRITE) >= 0.85
    gates = AS_PEOPLE_WRITE.replace("11 passed, 0 failed", "")
    assert score(Compliance, gates) >= 0.65


def test_what_was_masked_has_no_verdict():
    run = Step.tool_call("Bash", {"command": "pytest"}, f"{MASK} passed")
    for trace in (
        Trace(input="q", output="All tests pass.", steps=[run]),
        Trace(input="q", output=f"I edited a.py. {MASK}" + SHOWN),
    ):
        assert audit(trace).no_verdict and not audit(trace).compliant
        assert Compliance().calculate(trace).value is None
