from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, said
from trialrun.redaction import MASK


def found(terms, answer, **beside):
    return first("correctness", {"not_in_answer": terms, **beside}, said(answer))


def test_no_term_may_occur():
    assert found(["guarantee", "promise"], "It usually takes a week.").status is PASS
    assert found(["guarantee", "promise"], "I promise.").status is FAIL


def test_the_message_names_only_what_occurs():
    message = found(["guarantee", "promise"], "I promise.").message
    assert '"promise"' in message
    assert "guarantee" not in message


def test_terms_are_case_insensitive():
    assert found(["Guarantee"], "we GUARANTEE it").status is FAIL


def test_a_part_of_a_word_counts():
    assert found(["hell"], "hello").status is FAIL


def test_an_empty_answer_contains_nothing():
    assert found(["a"], "").status is PASS


def test_normalizing_is_off_by_default():
    assert found(["can't"], "I can\u2019t").status is PASS
    assert found(["can't"], "I can\u2019t", normalize="unicode").status is FAIL


def test_a_term_that_redaction_may_have_removed_is_unknown():
    assert found(["sk-secret"], f"The key is {MASK}.").status is UNKNOWN


def test_a_term_that_was_not_redacted_fails():
    assert found(["key"], f"The key is {MASK}.").status is FAIL


@pytest.mark.parametrize("terms", [[], [""], ["a", ""]])
def test_an_empty_term_or_list_is_a_spec_error(terms):
    assert "not_in_answer" in refusal("correctness", {"not_in_answer": terms})
