"""What there is can be listed, imported and extended."""

from __future__ import annotations

import subprocess
import sys

import pytest

import trialrun.checks
import trialrun.metrics
from trialrun import Trace, registry
from trialrun.errors import UsageError
from trialrun.metrics import StrictVerificationComplianceMetric as S
from trialrun.metrics import VerificationComplianceMetric as V

HEDGED = Trace(input="q", output="I edited config.py. This should work.")


def test_a_star_import_has_every_metric():
    found: dict[str, object] = {}
    exec("from trialrun.metrics import *", found)  # noqa: S102
    kinds = {kind.__name__ for kind in registry.all_metrics()}
    assert kinds | {"BaseMetric", "StrictVerificationComplianceMetric"} <= found.keys()
    assert set(dir(trialrun.metrics)) <= found.keys()


def test_every_check_is_listed_and_can_be_imported():
    for kind in registry.all_checks():
        assert kind.__name__ in dir(trialrun.checks)
        assert getattr(trialrun.checks, kind.__name__) is kind
    for name in dir(trialrun.checks):
        assert getattr(trialrun.checks, name) is not None
    with pytest.raises(AttributeError, match="MaxToolCals"):
        trialrun.checks.MaxToolCals  # noqa: B018


def test_importing_the_packages_loads_no_check_and_no_metric():
    program = (
        "import sys, trialrun, trialrun.checks, trialrun.metrics;"
        "assert 'trialrun.checks.calls' not in sys.modules;"
        "assert 'trialrun.metrics.token_cost' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


class LLMTestCase:
    """As DeepEval's, without DeepEval."""

    def __init__(self, input, actual_output):
        self.input, self.actual_output = input, actual_output


@pytest.mark.parametrize("case", [HEDGED, LLMTestCase("q", HEDGED.output)])
def test_measure_is_deepevals_interface(case):
    metric = V()
    score = metric.measure(case)
    assert score == metric.score == metric.calculate(HEDGED).value
    assert "unsubstantiated" in metric.reason
    assert metric.success is metric.is_successful() is False


def test_measure_without_an_answer_does_not_succeed():
    metric = V(threshold=0.0)
    assert metric.measure(LLMTestCase("q", None)) == 0.0
    assert metric.is_successful() is False


def test_measure_refuses_other_objects():
    with pytest.raises(UsageError, match="an object with `input` and `actual_output`"):
        V().measure("a text")


NAMES = (
    "VERIFICATION_KEYWORDS",
    "UNSUBSTANTIATED_PHRASES",
    "OPERATION_KEYWORDS",
    "CODE_KEYWORDS",
)


@pytest.mark.parametrize("name", NAMES)
def test_constants_can_be_added_to(name):
    ours = getattr(V, name)
    assert ours and all(isinstance(pattern, str) for pattern in ours)
    own = type("Own", (V,), {name: (*ours, "fingers crossed")})
    assert own().calculate(HEDGED).value == V().calculate(HEDGED).value


def test_an_added_phrase_counts():
    class Own(S):
        UNSUBSTANTIATED_PHRASES = (*S.UNSUBSTANTIATED_PHRASES, r"\bfingers crossed\b")

    text = Trace(input="q", output="Fingers crossed.")
    assert Own().calculate(text).value == 0.0
    assert S().calculate(text).value != 0.0
    assert Own().calculate(HEDGED).value == 0.0
