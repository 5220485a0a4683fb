"""Facts of an answer: dates, amounts, numbers, names, each a part of the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.spec.facts import MOST_FACTS, facts_in


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ("", []),
        ("I cannot help with that.", []),
        ("You have 30 days.", ["30 days"]),
        ("Order 12 and order 12, then 7.", ["12", "7"]),
        ("It costs $84.50, or € 5, or 1,290 EUR.", ["$84.50", "€ 5", "1,290 EUR"]),
        ("12.5 % off until 2026-11-04.", ["12.5 %", "2026-11-04"]),
        ("Meet at 12:30 on 4.11.2026.", ["12:30", "4.11.2026"]),
        ("On Nov 4, 2026.", ["Nov 4, 2026"]),
        ('The "blue jacket", “red hat” and `pip install`.', ["blue jacket", "red hat"]),
        ("See https://x.example/o/12, or ann@example.org.", ["https://x.example/o/12"]),
        ("Ticket ORD-12.", ["ORD-12"]),
    ],
)
def test_what_is_found(answer, facts):
    assert facts_in(answer)[: len(facts)] == facts


def test_not_more_than_can_be_read():
    assert len(facts_in(" ".join(map(str, range(100))))) == MOST_FACTS


@property_test
@given(st.text() | st.from_regex(r'(["`]?[$€]?[0-9]{1,4}[.,:% -]{0,2}[a-zA-Z]{0,4}["`]?){1,6}'))
def test_every_fact_is_a_part_of_the_answer(answer):
    for fact in facts_in(answer):
        assert fact and fact in answer
