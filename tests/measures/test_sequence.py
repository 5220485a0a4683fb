from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun.measures.sequence import edit_script, sequence_edit, sequence_lcs

calls = st.lists(st.sampled_from(["search", "grade", "a", "b", "é"]), max_size=9)


def longest_common_subsequence(left, right):
    @cache
    def length(i, j):
        if i == len(left) or j == len(right):
            return 0
        if left[i] == right[j]:
            return 1 + length(i + 1, j + 1)
        return max(length(i + 1, j), length(i, j + 1))

    return length(0, 0)


def levenshtein(left, right):
    @cache
    def distance(i, j):
        if i == len(left) or j == len(right):
            return len(left) - i + len(right) - j
        if left[i] == right[j]:
            return distance(i + 1, j + 1)
        return 1 + min(distance(i + 1, j), distance(i, j + 1), distance(i + 1, j + 1))

    return distance(0, 0)


def applied(script, actual):
    """The calls after the edits."""
    before, instead, extra = {}, {}, set()
    for line in script:
        number = int(re.search(r"call (\d+)", line)[1]) - 1
        name = re.findall("`(.+?)`", line)[-1]
        if line.endswith("is missing"):
            before.setdefault(number, []).append(name)
        elif line.endswith("is extra"):
            assert actual[number] == name
            extra.add(number)
        else:
            assert f"`{actual[number]}` instead of" in line
            instead[number] = name
    made = []
    for number in range(len(actual) + 1):
        made += before.get(number, [])
        if number < len(actual) and number not in extra:
            made.append(instead.get(number, actual[number]))
    return made


@property_test
@given(calls, calls)
def test_lcs_is_twice_the_common_calls_over_all_calls(predicted, reference):
    if predicted or reference:
        common = longest_common_subsequence(predicted, reference)
        wanted = 2 * common / (len(predicted) + len(reference))
    else:
        wanted = 1.0
    assert sequence_lcs(predicted, reference) == wanted


@property_test
@given(calls, calls)
def test_edit_is_1_minus_the_share_of_edits(predicted, reference):
    longest = max(len(predicted), len(reference))
    wanted = 1 - levenshtein(predicted, reference) / longest if longest else 1.0
    assert sequence_edit(predicted, reference) == pytest.approx(wanted, abs=1e-12)


@property_test
@given(calls, calls)
def test_both_are_symmetric_and_1_only_for_equal_calls(predicted, reference):
    for measure in (sequence_lcs, sequence_edit):
        found = measure(predicted, reference)
        assert found == measure(reference, predicted)
        assert 0 <= found <= 1
        assert (found == 1) is (predicted == reference)


@property_test
@given(calls, calls)
def test_the_script_is_shortest_and_gives_the_wanted_calls(actual, wanted):
    script = edit_script(actual, wanted)
    assert len(script) == levenshtein(actual, wanted)
    assert applied(script, actual) == wanted


@pytest.mark.parametrize(
    ("predicted", "reference", "lcs", "edit"),
    [
        (["search", "rerank", "generate"], ["search", "generate"], 0.8, 2 / 3),
        (["a", "b"], ["b", "a"], 0.5, 0.0),
        (["a", "b"], ["c", "d"], 0.0, 0.0),
        (["a"], [], 0.0, 0.0),
        ([], ["a"], 0.0, 0.0),
        ([], [], 1.0, 1.0),
        (["a", "a", "a"], ["a"], 0.5, 1 / 3),
        (list("vwxye"), list("abcde"), 0.2, 0.2),
    ],
)
def test_examples(predicted, reference, lcs, edit):
    assert sequence_lcs(predicted, reference) == lcs
    assert sequence_edit(predicted, reference) == pytest.approx(edit, abs=1e-12)


def test_names_are_whole_and_exact():
    assert sequence_lcs(["search"], ["Search"]) == 0.0
    assert sequence_lcs(["ab"], ["a", "b"]) == 0.0
    assert sequence_edit(["search_docs"], ["search"]) == 0.0


def test_tuples_are_accepted():
    assert sequence_lcs(("a", "b"), ["a", "b"]) == 1.0
    assert sequence_edit(("a", "b"), ["a", "b"]) == 1.0


def test_an_empty_name_equals_only_itself():
    assert sequence_lcs([""], ["\0"]) == sequence_edit([""], ["\0"]) == 0.0
    assert sequence_lcs([""], [""]) == sequence_edit([""], [""]) == 1.0
    assert sequence_lcs(["", "a"], ["a"]) == pytest.approx(2 / 3)
