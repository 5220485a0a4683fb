from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, first, said


def found(text, answer):
    return first("correctness", {"exact_match": text}, said(answer)).status


def test_the_whole_answer_must_be_the_text():
    assert found("42", "42") is PASS
    assert found("42", "42.") is FAIL
    assert found("42", "It is 42") is FAIL


def test_surrounding_white_space_is_ignored():
    assert found("42", " \n42\t ") is PASS
    assert found(" \n42\t ", "42") is PASS
    assert found("42", "\u00a042") is PASS  # Python's strip removes every kind of space


def test_inner_white_space_counts():
    assert found("4 2", "42") is FAIL
    assert found("4 2", "4  2") is FAIL


def test_case_matters():
    assert found("Paris", "paris") is FAIL


def test_unicode_forms_of_the_same_characters_differ():
    assert found("caf\u00e9", "cafe\u0301") is FAIL


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_requires_an_empty_answer(text):
    assert found(text, "") is PASS
    assert found(text, " ") is PASS
    assert found(text, "x") is FAIL
