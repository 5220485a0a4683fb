"""trialrun's metrics for DeepEval, tested without DeepEval.

A stand-in provides the two classes that they use; `make test-all` tests with the real package.
"""

from __future__ import annotations

import importlib
import sys
import types
from types import SimpleNamespace

import pytest

from trialrun.errors import UsageError

NAME = "trialrun.integrations.deepeval"


class BaseMetric:
    """Like DeepEval's: has the fields that a metric sets."""

    threshold = score = reason = success = error = None


@pytest.fixture
def integration(monkeypatch):
    """The module of trialrun, imported again with the stand-in."""
    for name, member in (
        ("metrics", {"BaseMetric": BaseMetric}),
        ("test_case", {"LLMTestCase": object}),
    ):
        module = types.ModuleType(f"deepeval.{name}")
        vars(module).update(member)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "deepeval", types.ModuleType("deepeval"))
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    yield importlib.import_module(NAME)
    sys.modules.pop(NAME, None)


def case_with(output, *calls):
    called = [
        SimpleNamespace(name=name, input_parameters=given, output=result)
        for name, given, result in calls
    ]
    return SimpleNamespace(input="Edit it", actual_output=output, tools_called=called or None)


EDIT = ("Edit", {"file_path": "a.py"}, "updated")


def test_the_called_tools_decide_the_score(integration):
    metric = integration.VerificationComplianceMetric()
    red, green = (
        ("Bash", {"command": "pytest"}, output)
        for output in ("1 failed, 3 passed", "4 passed in 1s")
    )
    assert metric.measure(case_with("All 4 tests pass.", EDIT, red)) <= 0.64
    assert (metric.success, "contradicted" in metric.reason) == (False, True)
    assert metric.measure(case_with("All 4 tests pass.", EDIT, green)) >= 0.9
    assert metric.success is True


def test_any_trialrun_metric_can_be_wrapped(integration):
    metric = integration.as_deepeval("tool_call_count", threshold=1)
    assert (metric.measure(case_with("x", EDIT, EDIT)), metric.is_successful()) == (2, False)
    assert (metric.measure(case_with("x", EDIT)), metric.is_successful()) == (1, True)


def test_a_subclass_may_add_to_the_constants_and_override_the_scores(integration):
    strict = integration.StrictVerificationComplianceMetric

    class More(strict):
        UNSUBSTANTIATED_PHRASES = (*strict.UNSUBSTANTIATED_PHRASES, r"\bfingers crossed\b")

        def _score_test_execution(self, found):
            return 1.0

    shown = "I edited a.py.\n\n```\n$ mypy a.py\nSuccess: no issues found\n```\n"
    assert More().measure(case_with(shown)) == 1.0
    assert More().measure(case_with(shown + "Fingers crossed.")) == 0.0
    assert More().measure(case_with(shown + "It should work.")) == 0.0
    assert strict().measure(case_with(shown)) == 0.8


def test_a_missing_answer_has_no_success(integration):
    metric = integration.VerificationComplianceMetric(threshold=0.0)
    assert (metric.measure(case_with(None)), metric.success) == (0.0, False)


def test_without_deepeval_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "deepeval", None)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    with pytest.raises(UsageError, match="DeepEval is not installed"):
        importlib.import_module(NAME)
