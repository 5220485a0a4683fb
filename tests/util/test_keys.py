"""Keys of plain values."""

from __future__ import annotations

from trialrun.util.keys import key_of

HALF = "\ud800"  # of a surrogate pair


def test_equal_values_have_equal_keys_whatever_their_order():
    assert key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})
    assert key_of({"a": 1}) != key_of({"a": "1"})


def test_half_of_a_surrogate_pair_has_a_key():
    assert key_of([HALF, {"a": HALF, "b": 1}]) == key_of([HALF, {"b": 1, "a": HALF}])
    assert key_of(HALF) != key_of("\ud801")
    assert sorted([key_of("x"), key_of(HALF)])
