from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, run
from trialrun import Step


def found(limit, *steps):
    return first("path", {"max_handoff_count": limit}, run(*steps)).status


@pytest.mark.parametrize(("limit", "status"), [(1, FAIL), (2, PASS), (3, PASS)])
def test_equal_is_within_the_limit(limit, status):
    assert found(limit, Step.handoff("billing"), Step.handoff("billing")) is status


def test_zero_allows_no_handoff():
    assert found(0, "handoff", Step.llm_call("m")) is PASS
    assert found(0, Step.handoff("billing")) is FAIL


def test_a_negative_limit_is_a_spec_error():
    assert "max_handoff_count" in refusal("path", {"max_handoff_count": -1})
