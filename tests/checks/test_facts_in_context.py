from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import Step

REFUND = Step.tool_call("search_docs", {}, [{"source": "refund.md", "text": "Within 30 days."}])


def found(facts, answer, *steps, **fields):
    block = {"facts_in_context": facts, "tool": "search_docs"}
    return first("retrieval", block, run(*steps, answer=answer, **fields))


def test_a_fact_in_the_answer_must_be_in_a_result():
    assert found(["30 days"], "You have 30 days.", REFUND).status is PASS
    assert found(["60 days"], "You have 60 days.", REFUND).status is FAIL


def test_a_fact_that_the_answer_does_not_state_is_ignored():
    assert found(["60 days"], "You have 30 days.", REFUND).status is PASS


def test_the_message_names_only_the_facts_without_a_result():
    message = found(["30 days", "60 days"], "30 days, or 60 days.", REFUND).message
    assert '"60 days"' in message and '"30 days"' not in message


def test_the_fact_may_be_in_any_search_result():
    other = Step.tool_call("search_docs", {}, ["Or 60 days by card."])
    assert found(["30 days", "60 days"], "30 days or 60 days", REFUND, other).status is PASS


def test_the_results_of_other_tools_do_not_count():
    other = Step.tool_call("browse", {}, ["60 days"])
    assert found(["60 days"], "60 days", REFUND, other).status is FAIL


def test_a_fact_without_any_search_fails():
    assert found(["30 days"], "You have 30 days.").status is FAIL


def test_a_missing_or_unreadable_result_is_unknown():
    missing = Step.tool_call("search_docs")
    assert found(["30 days"], "30 days", missing).status is UNKNOWN
    assert found(["30 days"], "30 days", missing, REFUND).status is PASS
    assert found(["60 days"], "60 days", missing, REFUND).status is UNKNOWN


def test_results_that_were_not_recorded_are_unknown():
    assert found(["30 days"], "30 days", REFUND, without=["tool_results"]).status is UNKNOWN


@pytest.mark.parametrize("facts", [[], [""], "30 days"])
def test_a_list_without_facts_is_a_spec_error(facts):
    block = {"facts_in_context": facts, "tool": "search_docs"}
    assert "facts_in_context" in refusal("retrieval", block)


def test_a_fact_in_an_error_is_not_in_a_result():
    error = Step.tool_call("search_docs", {}, {"error": "quota of 30 days exceeded"})
    assert found(["30 days"], "You have 30 days.", error).status is UNKNOWN
    nothing = Step.tool_call("search_docs", {}, {"results": [], "query": "30 days"})
    assert found(["30 days"], "You have 30 days.", nothing).status is FAIL
