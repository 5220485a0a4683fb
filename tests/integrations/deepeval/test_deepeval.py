"""trialrun's metrics in the real DeepEval: measure, assert_test, evaluate, deepeval test run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from deepeval import assert_test, evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase, ToolCall

from trialrun.errors import UsageError
from trialrun.integrations.deepeval import (
    StrictVerificationComplianceMetric,
    VerificationComplianceMetric,
    as_deepeval,
)
from trialrun.metrics import BaseMetric as TrialrunMetric
from trialrun.metrics import StepCountMetric, ToolCallCountMetric
from trialrun.model.results import MetricResult
from trialrun.testing import AgentType, BaseAgentTest

GOOD = """\
I edited `config/app.yaml`; line 4 is now `retries: 5`.

```
$ pytest tests/test_config.py -q
6 passed in 0.11s
```
"""
BAD = "I edited `app.py`. This should work now."


def case(output: str, tools: list[ToolCall] | None = None) -> LLMTestCase:
    return LLMTestCase(input="Edit config file", actual_output=output, tools_called=tools)


def test_measure_sets_score_and_success() -> None:
    metric = VerificationComplianceMetric(threshold=0.9)
    test_case = LLMTestCase(input="Edit config file", actual_output=GOOD)
    score = metric.measure(test_case)
    assert score >= 0.9
    assert (metric.score, metric.success, metric.is_successful()) == (score, True, True)
    assert isinstance(metric, BaseMetric)
    assert metric.__name__ == "Verification Compliance"


def test_strict_mode() -> None:
    metric = StrictVerificationComplianceMetric()
    assert metric.measure(case(BAD)) == 0.0
    assert metric.threshold == 1.0 and metric.strict_mode
    assert "strict mode" in metric.reason
    assert metric.is_successful() is False


class TestEngineerAgent(BaseAgentTest):
    """An agent test that measures verification compliance."""

    agent_type = AgentType.ENGINEER

    def test_code_changes_verified(self, mock_agent) -> None:
        mock_agent.reply(
            "Implement JWT validation",
            "I edited `auth/jwt.py`; line 12 is `verify_signature(token)`.\n\n"
            "```\n$ pytest tests/auth -q\n9 passed in 0.30s\n```\n",
        )
        response = self.invoke_agent(mock_agent, "Implement JWT validation")

        # Create test case
        test_case = self.create_test_case("Implement JWT validation", response.raw_output)

        # Measure verification compliance
        metric = VerificationComplianceMetric(threshold=0.85)
        score = metric.measure(test_case)

        assert score >= 0.85, f"Verification compliance: {metric.reason}"
        assert isinstance(test_case, LLMTestCase)


def test_the_called_tools_decide_the_score() -> None:
    edit = ToolCall(name="Edit", input_parameters={"file_path": "a.py"}, output="updated")
    run = ToolCall(name="Bash", input_parameters={"command": "pytest"}, output="1 failed, 3 passed")
    metric = VerificationComplianceMetric()
    assert metric.measure(case("All tests pass.", [edit, run])) <= 0.64
    assert "contradicted" in metric.reason
    ran = ToolCall(name="Bash", input_parameters={"command": "pytest"}, output="4 passed in 1s")
    assert metric.measure(case("All 4 tests pass.", [edit, ran])) >= 0.9


def test_tool_calls_without_results_prove_nothing() -> None:
    metric = VerificationComplianceMetric()
    assert metric.measure(case("All tests pass.", [ToolCall(name="pytest")])) < 0.9


@pytest.mark.parametrize("output", ["", "\0\ud800", "x" * 1_000_000])
def test_any_output_has_a_score_from_0_to_1(output: str) -> None:
    assert 0 <= VerificationComplianceMetric().measure(case(output)) <= 1


@pytest.mark.parametrize("threshold", [0.7, 0.0])
def test_a_missing_output_scores_0_and_has_no_success(threshold: float) -> None:
    for metric in (VerificationComplianceMetric(threshold), StrictVerificationComplianceMetric()):
        assert metric.measure(LLMTestCase(input="x", actual_output=None)) == 0.0
        assert (metric.score, metric.success) == (0.0, False)
        assert metric.reason == "there is no answer"


@pytest.mark.parametrize("name", ["tool_call_count", "llm_call_count", "token_usage"])
def test_a_metric_of_what_the_test_case_does_not_tell_has_no_value(name: str) -> None:
    metric = as_deepeval(name, threshold=0)
    with pytest.raises(ValueError, match="not recorded"):
        metric.measure(case("x"))
    assert metric.is_successful() is False


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), "0.9", True])
def test_an_invalid_threshold_is_refused(threshold: object) -> None:
    with pytest.raises(Exception, match="from 0 to 1"):
        VerificationComplianceMetric(threshold=threshold)


def test_assert_test() -> None:
    assert_test(case(GOOD), [VerificationComplianceMetric()], run_async=False)
    assert_test(case(GOOD), [VerificationComplianceMetric()], run_async=True)
    for run_async in (False, True):
        with pytest.raises(AssertionError, match="Verification Compliance"):
            assert_test(case(BAD), [VerificationComplianceMetric()], run_async=run_async)


@pytest.mark.parametrize("run_async", [False, True])
def test_evaluate(run_async: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = evaluate(
        test_cases=[case(GOOD), case(BAD)],
        metrics=[VerificationComplianceMetric(), StrictVerificationComplianceMetric()],
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
    )
    by_input = {one.actual_output: one for one in found.test_results}
    good = {data.name: data.success for data in by_input[GOOD].metrics_data}
    bad = {data.name: data.score for data in by_input[BAD].metrics_data}
    assert good["Verification Compliance"] is True
    assert bad["Strict Verification Compliance"] == 0.0
    assert bad["Verification Compliance"] < 0.7


def test_deepeval_can_copy_the_metrics() -> None:
    made = copy_metrics(
        [
            VerificationComplianceMetric(threshold=0.4),
            StrictVerificationComplianceMetric(),
            as_deepeval(StepCountMetric, threshold=3),
        ]
    )
    assert [one.threshold for one in made] == [0.4, 1.0, 3]
    assert made[1].strict_mode and isinstance(made[2].metric, StepCountMetric)


def test_deepeval_test_run(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text(
        "from deepeval import assert_test\n"
        "from deepeval.test_case import LLMTestCase\n"
        "from trialrun.integrations.deepeval import VerificationComplianceMetric\n"
        f"def test_good():\n    assert_test(LLMTestCase(input='x', actual_output={GOOD!r}), "
        "[VerificationComplianceMetric()])\n"
        f"def test_bad():\n    assert_test(LLMTestCase(input='x', actual_output={BAD!r}), "
        "[VerificationComplianceMetric()])\n"
    )
    deepeval = Path(sys.executable).parent / "deepeval"
    ran = subprocess.run(
        [deepeval, "test", "run", "test_agent.py"],
        cwd=tmp_path,
        env={**os.environ, "DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "CONFIDENT_OPEN_BROWSER": "NO"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "Passed: 1 | Failed: 1" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode != 0


def test_any_trialrun_metric_can_be_wrapped() -> None:
    metric = as_deepeval(ToolCallCountMetric(), threshold=1)
    calls = [ToolCall(name="search"), ToolCall(name="search")]
    assert metric.measure(case("x", calls)) == 2
    assert metric.__name__ == "Tool Call Count"
    assert metric.is_successful() is False  # fewer calls are better: the threshold is at most 1
    assert metric.measure(case("x", calls[:1])) == 1
    assert metric.is_successful() is True


class Awaited(TrialrunMetric):
    name = "awaited"

    async def calculate(self, trace, test_case):
        return MetricResult(self.name, 0.5, None, {})


class Undefined(TrialrunMetric):
    name = "undefined"

    def calculate(self, trace, test_case):
        return MetricResult(self.name, None, None, {"message": "not recorded: tokens"})


def test_an_async_trialrun_metric_can_be_wrapped() -> None:
    assert as_deepeval(Awaited).measure(case("x")) == 0.5


def test_an_undefined_value_never_passes() -> None:
    metric = as_deepeval(Undefined, threshold=0)
    with pytest.raises(ValueError, match="not recorded: tokens"):
        metric.measure(case("x"))
    assert metric.is_successful() is False


def test_a_metric_by_name_and_what_is_refused():
    assert as_deepeval("tool_call_count").__name__ == "Tool Call Count"
    with pytest.raises(UsageError, match="did you mean `tool_call_count`"):
        as_deepeval("tool_call_cout")
    with pytest.raises(UsageError, match="expected a metric, found int"):
        as_deepeval(3)


def test_a_subclass_may_override_words_and_scores() -> None:
    class Own(StrictVerificationComplianceMetric):
        UNSUBSTANTIATED_PHRASES = (
            *StrictVerificationComplianceMetric.UNSUBSTANTIATED_PHRASES,
            r"\bfingers crossed\b",
        )

    assert Own().measure(case("Fingers crossed.")) == 0.0
    assert StrictVerificationComplianceMetric().measure(case("Fingers crossed.")) > 0.0

    class Half(VerificationComplianceMetric):
        def _score_tool_verification(self, found: object) -> float:
            return super()._score_tool_verification(found) / 2

    assert Half().measure(case(GOOD)) < VerificationComplianceMetric().measure(case(GOOD))


def test_a_case_without_an_answer_does_not_succeed() -> None:
    metric = VerificationComplianceMetric(threshold=0.0)
    try:
        test_case = LLMTestCase(input="q", actual_output=None)
    except ValueError:  # newer versions of DeepEval require an answer
        return
    assert metric.measure(test_case) == 0.0
