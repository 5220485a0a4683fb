from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, refusal, said


def found(terms, answer, **beside):
    return first("correctness", {"any_expected_in_answer": terms, **beside}, said(answer))


def test_one_term_is_enough():
    assert found(["a month", "30 days"], "Within 30 days.").status is PASS


def test_without_any_term_it_fails_and_names_them_all():
    result = found(["a month", "30 days"], "Soon.")
    assert result.status is FAIL
    assert '"a month"' in result.message and '"30 days"' in result.message


def test_terms_are_case_insensitive():
    assert found(["A MONTH"], "a Month").status is PASS


def test_normalizing_is_off_by_default():
    assert found(["30 days"], "30\u00a0days").status is FAIL
    assert found(["30 days"], "30\u00a0days", normalize="unicode").status is PASS


@pytest.mark.parametrize("terms", [[], [""], ["a", ""], [["a"]]])
def test_an_empty_term_or_list_is_a_spec_error(terms):
    assert "any_expected_in_answer" in refusal("correctness", {"any_expected_in_answer": terms})


def test_an_empty_answer_contains_none():
    assert found(["a"], "").status is FAIL
