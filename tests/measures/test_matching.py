from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.matching import MODES, matches

calls = st.lists(st.sampled_from("abcd"), max_size=6)


def obviously_matches(predicted, reference, mode):
    nothing_missing = all(name in predicted for name in reference)
    nothing_extra = all(name in reference for name in predicted)
    return {
        "strict": predicted == reference,
        "unordered": nothing_missing and nothing_extra,
        "subset": nothing_missing,
        "superset": nothing_extra,
    }[mode]


@property_test
@given(calls, calls, st.sampled_from(MODES))
def test_each_mode_is_as_defined(predicted, reference, mode):
    assert matches(predicted, reference, mode) is obviously_matches(predicted, reference, mode)


@property_test
@given(calls, calls)
def test_the_modes_imply_each_other(predicted, reference):
    found = {mode: matches(predicted, reference, mode) for mode in MODES}
    assert not found["strict"] or found["unordered"]
    assert found["unordered"] == (found["subset"] and found["superset"])
    assert found["subset"] == matches(reference, predicted, "superset")


def test_strict_ignores_the_type_of_the_sequence():
    assert matches(("a", "b"), ["a", "b"], "strict") is True


def test_there_are_four_modes():
    assert MODES == ("strict", "unordered", "subset", "superset")


@pytest.mark.parametrize("mode", ["any", "", "STRICT"])
def test_an_unknown_mode_is_refused(mode):
    with pytest.raises(ValueError, match="strict, unordered, subset, superset"):
        matches([], [], mode)
