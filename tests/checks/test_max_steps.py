from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, run
from trialrun import Step

FOUR = [Step.llm_call("m"), Step.tool_call("a"), Step.reasoning("hm"), Step.handoff("b")]


@pytest.mark.parametrize(("limit", "status"), [(3, FAIL), (4, PASS), (5, PASS)])
def test_steps_of_every_type_count_and_equal_is_within_the_limit(limit, status):
    assert first("path", {"max_steps": limit}, run(*FOUR)).status is status


def test_zero_allows_no_step():
    assert first("path", {"max_steps": 0}, run()).status is PASS
    assert first("path", {"max_steps": 0}, run("a")).status is FAIL


def test_a_negative_limit_is_a_spec_error():
    assert "max_steps" in refusal("path", {"max_steps": -1})
