"""Packed byte strings and texts are those that were added."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.util.packed import Packed, PackedTexts


@property_test
@given(st.lists(st.binary(max_size=5)))
def test_what_was_added_is_read(items: list[bytes]) -> None:
    packed = Packed()
    for item in items:
        packed.append(item)
    assert list(packed) == items
    assert len(packed) == len(items)
    assert [packed[index] for index in range(len(items))] == items
    for index in (-1, len(items)):
        with pytest.raises(IndexError):
            packed[index]


def test_texts_of_any_characters() -> None:
    texts = ["", "a", "é\ud800", "\U0001f600 x", ""]
    assert list(PackedTexts(texts)) == texts
    assert PackedTexts(texts)[3] == "\U0001f600 x"
