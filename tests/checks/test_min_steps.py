from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, run
from trialrun import Step

THREE = [Step.llm_call("m"), Step.tool_call("a"), Step.reasoning("hm")]


@pytest.mark.parametrize(("minimum", "status"), [(2, PASS), (3, PASS), (4, FAIL)])
def test_steps_of_every_type_count_and_equal_is_enough(minimum, status):
    assert first("path", {"min_steps": minimum}, run(*THREE)).status is status


def test_a_run_without_steps_has_too_few():
    assert first("path", {"min_steps": 1}, run()).status is FAIL


def test_a_negative_minimum_is_a_spec_error():
    assert "min_steps" in refusal("path", {"min_steps": -1})
