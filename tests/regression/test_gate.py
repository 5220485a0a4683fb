"""Regressions of a real agent are red and named, with an ordinary spec and five repeats.

The agent uses the OpenAI client against a scripted model, as a function, as a command and behind an
address. What did not change, and what varies in every run, is not red.
"""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.regression.conftest import reasons

SEVEN = {
    "skip": ("same_calls", 'lookup_order(order_id: "1012") is missing'),
    "argument": ("same_arguments", "issue_refund: amount 20 → 200"),
    "extra": ("same_calls", "issue_refund("),
    "forbidden": ("forbidden_tools", "forbidden, but called: delete_account"),
    "order": ("same_order", "issue_refund moved"),
    "cost": ("max_cost_multiplier", "10.00 times the baseline"),
    "broken_lookup_order": ("same_errors", 'lookup_order fails now: "connection refused"'),
}
RELATIVES = {
    "currency": ("same_arguments", 'issue_refund: currency "EUR" → "USD"'),
    "letters": ("same_arguments", 'issue_refund: currency "EUR" → "eur"'),
    "negative": ("same_arguments", "issue_refund: amount 20 → -20"),
    "cents": ("same_arguments", "issue_refund: amount 20 → 20.01"),
    "as_text": ("same_arguments", 'issue_refund: amount 20 → "20"'),
    "null": ("same_arguments", "issue_refund: amount 20 → null"),
    "truth": ("same_arguments", "issue_refund: amount 20 → true"),
    "left_out": ("same_arguments", "issue_refund: amount 20 left out"),
    "added": ("same_arguments", "issue_refund: express true added"),
    "nested": ("same_arguments", 'issue_refund: customer.id "c7" → "c8"'),
    "nested_out": ("same_arguments", 'issue_refund: customer.tier "gold" left out'),
    "list_item": ("same_arguments", 'issue_refund: lines[1] "socks" → "boots"'),
    "list_longer": ("same_arguments", 'lines ["shoes","socks"] → ["shoes","socks","socks"]'),
    "list_emptied": ("same_arguments", 'issue_refund: lines ["shoes","socks"] → []'),
    "space": ("same_arguments", 'issue_refund: currency "EUR" → "EUR "'),
    "nested_null": ("same_arguments", 'issue_refund: customer.tier "gold" → null'),
    "note_type": ("same_arguments", 'note "The customer sent the shoes back." → 7'),
    "no_note": ("same_arguments", 'note "The customer sent the shoes back." left out'),
    "other_tool": ("same_calls", "is missing; issue_credit("),
    "no_refund": ("same_calls", "issue_refund("),
    "twice": ("same_calls", 'lookup_order(order_id: "1012") is extra'),
    "another_order": ("same_calls", 'lookup_order(order_id: "9") is extra'),
    "handoff": ("same_calls", "handoff to billing is missing; handoff to sales is extra"),
    "no_handoff": ("same_calls", "handoff to billing is missing"),
    "handoff_again": ("same_calls", "handoff to billing is extra"),
    "no_search": ("same_calls", 'search_policy(query: "refund policy") is missing'),
    "broken_search_policy": ("same_errors", "search_policy fails now"),
    "broken_issue_refund": ("same_errors", "issue_refund fails now"),
}
ALL = SEVEN | RELATIVES
PAIRS = ["+".join(pair) for pair in combinations(SEVEN, 2)]
HIDDEN = {  # the call that fails, or costs, is the one that the other fault leaves out
    "skip+broken_lookup_order": {"broken_lookup_order"},
}


def assert_red_and_named(outcome, names):
    assert outcome.code == 1
    found = reasons(outcome)
    for name in names:
        assert outcome.by_case[name] == "fail", name
        for fault in set(name.split("+")) - HIDDEN.get(name, set()):
            check, text = ALL[fault]
            if fault == "cost":  # a further call costs, too
                text = "times the baseline"
            named = [one for one in found[name] if one.startswith(f"{check}: ") and text in one]
            assert len(named) == 1, (name, fault, found[name])
            assert "\n" not in named[0]


def test_the_seven_regressions_are_red_and_named(support):
    support.save(*SEVEN, "nothing")
    outcome = support.change()
    assert_red_and_named(outcome, SEVEN)
    assert outcome.by_case["nothing"] == "pass"


@pytest.mark.parametrize(
    "support", ["function", pytest.param("command", marks=pytest.mark.slow)], indirect=True
)
def test_only_what_changed_is_said(support):
    support.save("argument", repeats=2)
    assert reasons(support.change()) == {
        "argument": ["same_arguments: issue_refund: amount 20 → 200"]
    }


@pytest.mark.process
@pytest.mark.parametrize("support", ["function", "command", "url"], indirect=True)
def test_regressions_in_pairs_and_their_relatives_are_red_and_named(support):
    names = [*RELATIVES, *PAIRS]
    support.save(*names, "nothing")
    outcome = support.change()
    assert_red_and_named(outcome, names)
    assert outcome.by_case["nothing"] == "pass"


@pytest.mark.process
@pytest.mark.parametrize("support", ["command", "function"], indirect=True)
def test_functions_and_commands_are_compared_alike(support):
    support.save(*SEVEN, "nothing")
    outcome = support.change()
    assert_red_and_named(outcome, SEVEN)
    assert outcome.by_case["nothing"] == "pass"


def test_another_model_or_prompt_with_the_same_behaviour_is_not_red(support):
    support.save("other_model", "other_prompt", repeats=2)
    outcome = support.change()
    assert outcome.code == 0
    assert outcome.by_case == {"other_model": "pass", "other_prompt": "pass"}


VARIETY = ("wording", "parallel", "set_order")


def test_harmless_variety_is_not_red(support):
    """Another wording, another order of parallel calls, a retried call, another id and time."""
    support.save("nothing", always=VARIETY)
    outcome = support.change("--repeat", 10, always=[*VARIETY, "retry"])
    assert outcome.code == 0, reasons(outcome)
    assert outcome.statuses == ["pass"] * 10


def test_a_regression_is_seen_beside_the_variety(support):
    support.save("argument", always=VARIETY)
    outcome = support.change(always=[*VARIETY, "retry"])
    assert reasons(outcome)["argument"] == ["same_arguments: issue_refund: amount 20 → 200"]
