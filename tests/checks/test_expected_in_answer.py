from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, said


def found(terms, answer, **beside):
    return first("correctness", {"expected_in_answer": terms, **beside}, said(answer))


def test_every_term_must_occur():
    assert found(["refund", "days"], "A refund takes 30 days.").status is PASS
    assert found(["refund", "weeks"], "A refund takes 30 days.").status is FAIL


def test_the_message_names_only_what_is_missing():
    message = found(["refund", "weeks", "months"], "A refund takes 30 days.").message
    assert '"weeks"' in message and '"months"' in message
    assert '"refund"' not in message


@pytest.mark.parametrize(
    ("term", "answer"),
    [("REFUND", "refund"), ("refund", "REFUND"), ("STRASSE", "strasse"), ("ÉTÉ", "en été")],
)
def test_terms_and_answer_are_case_insensitive(term, answer):
    assert found([term], answer).status is PASS


def test_lower_is_not_casefold():
    assert found(["strasse"], "Straße").status is FAIL


def test_a_part_of_a_word_is_enough():
    assert found(["fund"], "refunds").status is PASS


def test_white_space_in_a_term_counts():
    assert found(["30  days"], "30 days").status is FAIL
    assert found([" days"], "30days").status is FAIL


def test_one_term_of_an_inner_list_is_enough():
    assert found([["14 days", "30 days"]], "Within 30 days.").status is PASS
    assert found([["14 days", "30 days"]], "Within 60 days.").status is FAIL


def test_the_message_distinguishes_alternatives_from_single_terms():
    result = found(["refund", ["14 days", "30 days"]], "Soon.")
    assert result.message == 'not in the answer: "refund"; any of "14 days", "30 days"'


def test_every_inner_list_needs_a_match():
    terms = ["refund", ["days", "weeks"], ["card", "bank"]]
    assert found(terms, "Refund in two weeks to your bank").status is PASS
    assert found(terms, "Refund in two weeks to your wallet").status is FAIL


@pytest.mark.parametrize("terms", [[""], ["a", ""], [[""]], [["a", ""]], [], [[]], "a", [1]])
def test_invalid_terms_are_a_spec_error(terms):
    assert "expected_in_answer" in refusal("correctness", {"expected_in_answer": terms})


def test_an_empty_answer_fails():
    assert found(["a"], "").status is FAIL


@pytest.mark.parametrize(
    ("term", "answer"),
    [
        ("don't", "I don\u2019t know"),
        ("don\u2019t", "I don't know"),
        ('"yes"', "\u201cyes\u201d"),
        ("30 days", "30\u00a0days"),
        ("30 days", "30\u202fdays"),
        ("file", "\ufb01le"),
        ("x2", "x\u00b2"),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_normalizing_is_off_by_default(term, answer):
    assert found([term], answer).status is FAIL
    assert found([term], answer, normalize="unicode").status is PASS


def test_unicode_is_the_only_normalization():
    block = {"expected_in_answer": ["a"], "normalize": "ascii"}
    assert "normalize" in refusal("correctness", block)
