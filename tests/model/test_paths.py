"""The path of a run as an edit script, against a slow and obvious reference."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from trialrun.measures.alignment import align
from trialrun.measures.sequence import edit_path
from trialrun.model.paths import EXTRA, GAP, MISSING, MOVED, SAME, aligned_path, short_path

NAMES = st.lists(st.sampled_from("abcd"), max_size=12)


@given(NAMES, NAMES)
@settings(max_examples=200, deadline=None)
def test_the_script_turns_the_earlier_path_into_the_later_one(before, after):
    found = align(before, after, lambda i, j: 0)
    script = aligned_path(before, after, found)
    if any(mark == GAP for mark, _ in script):
        return
    assert [name for mark, name in script if mark != MISSING] == after
    kept = [name for mark, name in script if mark in (SAME, MISSING)]
    moved = [name for mark, name in script if mark == MOVED]
    assert sorted([*kept, *moved]) == sorted(before)
    rest = list(before)
    for name in kept:  # in their order
        rest = rest[rest.index(name) + 1 :]


@given(NAMES, NAMES)
def test_the_shortest_edits_are_those_between_the_lists(actual, wanted):
    path = edit_path(actual, wanted)
    assert [name for mark, name in path if mark in (SAME, EXTRA)] == actual
    assert [name for mark, name in path if mark in (SAME, MISSING)] == wanted


def test_long_stretches_as_expected_are_counted():
    path = [(SAME, "a")] * 10 + [(EXTRA, "b")] + [(SAME, "c")] * 3
    assert short_path(path) == [
        (GAP, "8 calls"), (SAME, "a"), (SAME, "a"), (EXTRA, "b"),
        (SAME, "c"), (SAME, "c"), (SAME, "c"),
    ]  # fmt: skip
    assert short_path([(SAME, "a")] * 3) == [(GAP, "3 calls")]


def test_a_script_is_bounded():
    short = short_path([(EXTRA, "b")] * 5000)
    assert len(short) == 41 and short[-1] == (GAP, "4960 more")
