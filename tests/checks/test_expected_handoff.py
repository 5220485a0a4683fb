from __future__ import annotations

from tests.helpers import FAIL, PASS, first, refusal, run
from trialrun import Step


def found(agent, *steps):
    return first("path", {"expected_handoff": agent}, run(*steps))


def test_a_handoff_to_that_agent_must_have_happened():
    assert found("billing", Step.handoff("billing")).status is PASS
    assert found("billing", Step.handoff("sales"), Step.handoff("billing")).status is PASS
    assert found("billing", Step.handoff("sales")).status is FAIL
    assert found("billing").status is FAIL


def test_names_are_exact():
    assert found("billing", Step.handoff("Billing")).status is FAIL
    assert found("bill", Step.handoff("billing")).status is FAIL


def test_a_tool_with_that_name_is_not_a_handoff():
    assert found("billing", "billing").status is FAIL


def test_the_message_names_the_agent():
    assert "billing" in found("billing").message


def test_an_empty_name_is_a_spec_error():
    assert "expected_handoff" in refusal("path", {"expected_handoff": ""})
