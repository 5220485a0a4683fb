"""A text alone: scores that are defined for it, and mistakes that must not be made."""

from __future__ import annotations

import pytest

from tests.watchdog import cpu_watchdog
from trialrun import Trace
from trialrun.metrics import StrictVerificationComplianceMetric, VerificationComplianceMetric


def measure(text, metric=None):
    result = (metric or VerificationComplianceMetric()).calculate(
        Trace(input="x", output=text), None
    )
    return result.value, result.details["reason"]


EDIT_AND_ALL = """\
I edited `auth.py` and read it back: line 42 is `return verify(token)`.

```
$ pytest tests/test_auth.py
8 passed in 0.31s
$ mypy auth.py
Success: no issues found in 1 source file
$ ruff check auth.py
All checks passed!
```
Coverage: `pytest --cov` shows 94%.
"""


@pytest.mark.parametrize(
    ("text", "low", "high", "word"),
    [
        (EDIT_AND_ALL, 0.85, 1.0, ""),
        ("I edited config.py. It should work now.", 0.0, 0.6999, "verification"),
        (
            "This should work. I think it is fine, it probably handles all cases, and seems "
            "to be correct.",
            0.0,
            0.6499,
            "unsubstantiated",
        ),
        (
            "The timeout is set in `app/conf.py:14`:\n\n```\n14: TIMEOUT = 30\n```\n\n`grep "
            "-n TIMEOUT app/conf.py` prints `14:TIMEOUT = 30`.",
            0.85,
            1.0,
            "",
        ),
        (
            "Deployed the api to staging.\n\n```\n$ curl -i https://api.test/health\n"
            "HTTP/1.1 200 OK\n```\n",
            0.75,
            1.0,
            "",
        ),
        (
            "I changed `cart.js` and ran the tests.\n\n```\n$ npm test\nTests: 24 passed, "
            "24 total\n```\n",
            0.7,
            1.0,
            "",
        ),
        (
            "I updated `pricing.py`. `mypy pricing.py`: no issues found. `ruff check`: all "
            "checks passed. `pytest --cov`: coverage 91%.",
            0.65,
            1.0,
            "",
        ),
        ("Plan:\n1. Read the config.\n2. Add the flag.\n3. Run the tests.\n", 0.65, 1.0, ""),
        (
            "I edited three files and read each back:\n- `a.py:3`: `x = 1`\n- `b.py:9`: `y "
            "= 2`\n- `c.py:1`: `import x`\n\n```\n$ pytest\n31 passed in 2.0s\n```\n",
            0.75,
            1.0,
            "",
        ),
        ("", 0.0, 0.7499, ""),
        (
            "Verified. Confirmed. Validated. Everything was checked and double-checked.",
            0.0,
            0.8999,
            "",
        ),
    ],
)
def test_facts_of_the_seed(text, low, high, word):
    score, reason = measure(text)
    assert low <= score <= high, reason
    assert word in reason


def test_strict_mode_with_one_hedge_is_exactly_0():
    score, reason = measure(
        EDIT_AND_ALL + "\nIt should work on Windows.", StrictVerificationComplianceMetric()
    )
    assert score == 0.0
    assert "strict mode" in reason


def test_strict_mode_can_be_met():
    metric = StrictVerificationComplianceMetric()
    result = metric.calculate(Trace(input="x", output=EDIT_AND_ALL), None)
    assert result.value == 1.0 and result.details["success"]


EDITED = "I edited `app.py`. "


@pytest.mark.parametrize(
    "text",
    [
        EDITED + "I did not run the tests.",
        EDITED + "The change is unverified.",
        EDITED + "I will run pytest and check that it passes.",
        EDITED + 'My colleague wrote "12 passed in 0.3s".',
        EDITED + "\n> $ pytest\n> 12 passed in 0.3s\n",
        EDITED + "\n```python\ndef test_it():\n    assert app.run() == 1\n```\n",
        EDITED + "\n```\n$ pytest\n```\n",
        EDITED + "It already works.",
        EDITED + "You can run `pytest` to see that all tests pass.",
    ],
)
def test_what_earns_nothing(text):
    score, _ = measure(text)
    assert score < 0.7


def test_a_fenced_command_with_its_output_does():
    assert measure(EDITED + "\n```\n$ pytest\n12 passed in 0.3s\n```\n")[0] >= 0.9


def test_a_failing_run_reported_as_failing_counts_as_run():
    run = "\n```\n$ pytest\n1 failed, 11 passed in 0.3s\n```\n"
    honest, _ = measure(EDITED + "One test still fails." + run)
    boast, reason = measure(EDITED + "All tests pass." + run)
    assert honest >= 0.9 > 0.64 >= boast
    assert "contradicted" in reason


@pytest.mark.parametrize(
    "verb", ["edited", "deployed", "rewrote", "updated", "restarted", "changed"]
)
def test_past_tense_counts(verb):
    assert measure(f"I {verb} the service.")[0] < 0.9


@pytest.mark.parametrize(
    "text",
    [
        "`tests/test_a.py` has `it('should work')` on line 4.",
        'Line 7 of `views.py` is `flash("This should work now")`.',
    ],
)
def test_a_hedge_inside_code_or_a_quotation_does_not_count(text):
    assert "unsubstantiated" not in measure(text)[1]


@pytest.mark.parametrize(
    "run",
    [
        "$ go test ./...\nok  \tacme/a\t0.2s",
        "$ cargo test\ntest result: ok. 4 passed; 0 failed; 0 ignored",
        pytest.param(
            "$ mvn test\nTests run: 4, Failures: 0, Errors: 0, Skipped: 0",
            marks=pytest.mark.xfail(strict=True, reason="a known fault: read as a failure"),
        ),
        "$ bundle exec rspec\n4 examples, 0 failures",
        "> dotnet test\nPassed!  - Failed: 0, Passed: 4, Skipped: 0, Total: 4",
        "$ mix test\n4 tests, 0 failures",
        "$ vendor/bin/phpunit\nOK (4 tests, 9 assertions)",
    ],
)
def test_any_languages_test_runner_counts(run):
    assert measure(f"Fixed the parser.\n\n```\n{run}\n```\n")[0] >= 0.9


@pytest.mark.parametrize("text", [None, "", "\0", "\ud800", "ß" * 10_000])
def test_whatever_the_text(text):
    assert 0 <= measure(text)[0] <= 1


@pytest.mark.parametrize(
    "piece",
    [
        "Edited a.py. ",
        "status: ok\n",
        "```\n$ pytest\n",
        "`",
        "(",
        "should work ",
        "- x\n",
        '"',
        "|a|b|\n",
    ],
)
def test_five_megabytes_end(piece):
    with cpu_watchdog():
        measure(piece * (5_000_000 // len(piece)))


# The metric


@pytest.mark.parametrize("threshold", [-0.01, 1.01, float("nan"), float("inf"), "0.9", None, True])
def test_a_threshold_that_cannot_be(threshold):
    with pytest.raises(Exception, match="from 0 to 1"):
        VerificationComplianceMetric(threshold=threshold)


def test_the_threshold_has_a_tolerance():
    result = VerificationComplianceMetric(threshold=0.9).calculate(
        Trace(input="x", output=EDITED + "\n```\n$ pytest\n12 passed in 0.3s\n```\n"), None
    )
    assert result.value == pytest.approx(0.9) and result.details["success"]
    assert set(result.details["components"]) == {
        "tool_verification",
        "assertion_evidence",
        "test_execution",
        "quality_gates",
    }
    assert result.details["ledger"]["source"] == "text"


class Mine(VerificationComplianceMetric):
    UNSUBSTANTIATED_PHRASES = (r"cross my heart",)
    OPERATION_KEYWORDS = (r"frobbed",)
    TEST_COMMANDS = ("hamster run",)

    def _score_quality_gates(self, found):
        return 1.0


def test_words_can_be_overridden_in_a_subclass():
    assert "unsubstantiated" in measure("It works, cross my heart.", Mine())[1]
    assert "unsubstantiated" not in measure("It should work.", Mine())[1]
    assert measure("I frobbed `a.py`.", Mine())[0] < 0.9
    assert (
        measure("I frobbed `a.py`.\n\n```\n$ hamster run\n3 passed in 1s\n```\n", Mine())[0] == 1.0
    )
