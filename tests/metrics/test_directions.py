"""`higher_is_better` of every built-in metric; a new metric must state it and be added here."""

from __future__ import annotations

import pytest

from trialrun import registry
from trialrun.metrics.base import BaseMetric, BuiltInMetric

DIRECTIONS = {
    "avg_step_duration": False,
    "duration": False,
    "error_rate": False,
    "llm_call_count": False,
    "loop_count": False,
    "reasoning_depth": None,
    "retry_rate": False,
    "sequence_edit": True,
    "sequence_lcs": True,
    "step_count": False,
    "step_efficiency": True,
    "token_cost": False,
    "token_usage": False,
    "tool_call_count": False,
    "tool_diversity": None,
    "tool_f1": True,
    "tool_precision": True,
    "tool_recall": True,
    "verification_compliance": True,
    "strict_verification_compliance": True,
}


def test_no_built_in_metric_is_forgotten():
    assert set(DIRECTIONS) == set(registry.our_names(registry.METRICS))


@pytest.mark.parametrize("name", DIRECTIONS)
def test_every_metric_states_its_direction(name):
    metric = registry.find_metric(name)
    assert metric.higher_is_better is DIRECTIONS[name]
    # Stated by the class or a shared base, not by default: None could have been forgotten.
    above = BuiltInMetric.__mro__
    stated = [kind for kind in metric.__mro__ if kind not in above]
    assert any("higher_is_better" in vars(kind) for kind in stated)


def test_a_metric_has_no_direction_by_default():
    assert BaseMetric.higher_is_better is None
