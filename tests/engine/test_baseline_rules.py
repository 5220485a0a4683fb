"""The rules that are proposed from several passing runs."""

from __future__ import annotations

import pytest

from trialrun import Step, Trace
from trialrun.engine.baseline_rules import only_reads, propose
from trialrun.redaction import MASK


def runs(*paths):
    return [Trace(input="q", output="a", steps=list(path)) for path in paths]


def refund(**arguments):
    return Step.tool_call("issue_refund", {"order": "12", "amount": 20} | arguments)


SEARCH = Step.tool_call("search_policy", {"query": "refunds"})


def test_what_never_varied_is_exact_and_free_text_is_of_the_same_type():
    rules = propose(runs([refund(note="the shoes came back", id="a")], [refund(note="", id="b")]))
    assert rules.arguments == {
        "issue_refund": {
            "amount": "exact",
            "id": "same_type",
            "note": "same_type",
            "order": "exact",
        }
    }


def test_a_tool_that_reads_may_be_called_any_number_of_times_if_the_runs_differ():
    rules = propose(runs([SEARCH, refund()], [SEARCH, SEARCH, refund()]))
    assert rules.any_number == ["search_policy"]
    assert list(rules.arguments) == ["issue_refund"]
    assert propose(runs([SEARCH], [SEARCH])).any_number == []


def test_a_tool_that_changes_something_is_compared_call_by_call_even_if_the_runs_differ():
    rules = propose(runs([SEARCH, refund()], [SEARCH, refund(), refund()]))
    assert rules.any_number == []
    assert rules.arguments["issue_refund"]["amount"] == "exact"


def test_calls_that_the_first_run_did_not_make_have_rules_too():
    summary = "The customer wants to talk to a person."
    transfer = Step.tool_call("transfer", {"summary": summary, "to": "billing"})
    rules = propose(runs([SEARCH], [SEARCH, transfer], [SEARCH, transfer]))
    assert rules.arguments["transfer"] == {"summary": "same_type", "to": "exact"}


def test_a_search_that_was_retried_with_another_id_is_one_call():
    def search(number, error=None):
        return Step.tool_call("search_policy", {"q": "refunds", "id": number}, error=error)

    rules = propose(runs([search("a")], [search("b", "timeout"), search("c")]))
    assert rules.any_number == []
    assert rules.arguments["search_policy"] == {"id": "same_type", "q": "exact"}


def test_masked_arguments_are_ignored():
    rules = propose(runs([refund(key=MASK)], [refund(key=MASK)]))
    assert rules.arguments["issue_refund"]["key"] == "ignore"


@pytest.mark.parametrize(
    ("tool", "reads"),
    [
        ("get_order", True),
        ("lookup_order", True),
        ("getUserDetails", True),
        ("web_search", True),
        ("mcp__docs__query", True),
        ("retrieval", True),
        ("think", True),
        ("issue_refund", False),
        ("get_or_create_user", False),
        ("search_replace", False),
        ("mark_as_read", False),
        ("transfer", False),
        ("handoff to billing", False),
        ("", False),
    ],
)
def test_tools_that_read_are_known_by_their_names(tool, reads):
    assert only_reads(tool) is reads
