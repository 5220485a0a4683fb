"""The alignment of two lists of calls, against every possible pairing on small inputs."""

from __future__ import annotations

from itertools import islice, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from tests.watchdog import watchdog
from trialrun.measures import alignment
from trialrun.measures.alignment import MOST_EXACT, align, assignment


def aligned(before, after, places=None):
    """Calls are (name, argument, argument …)."""
    return align(
        [call[0] for call in before],
        [call[0] for call in after],
        lambda old, new: changes(before[old], after[new]),
        places,
        (before, after),
    )


def changes(old, new):
    return sum(one != other for one, other in zip(old[1:], new[1:], strict=True))


def measured(before, after, pairs, places):
    """Missing and extra, changed arguments, moved: by the definition."""
    left_over = len(before) + len(after) - 2 * len(pairs)
    changed = sum(changes(before[old], after[new]) for old, new in pairs)
    return left_over, changed, len(pairs) - longest_in_order(pairs, places)


def longest_in_order(pairs, places):
    """The size of the largest set of pairs of which no two change places."""
    old, new = places

    def fit(one, other):
        return not (
            (old[one[0]] < old[other[0]] and new[one[1]] > new[other[1]])
            or (old[one[0]] > old[other[0]] and new[one[1]] < new[other[1]])
        )

    best = 0
    for mask in range(1 << len(pairs)):
        chosen = [pair for index, pair in enumerate(pairs) if mask >> index & 1]
        if len(chosen) > best and all(fit(a, b) for a in chosen for b in chosen):
            best = len(chosen)
    return best


def every_pairing(before, after):
    """Every way to pair some calls of equal names."""

    def pairings(index, taken):
        if index == len(before):
            yield []
            return
        yield from pairings(index + 1, taken)
        for new, call in enumerate(after):
            if new not in taken and call[0] == before[index][0]:
                for rest in pairings(index + 1, taken | {new}):
                    yield [(index, new), *rest]

    return pairings(0, frozenset())


CALLS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 1)), max_size=5)


def in_places(size):
    """Places that never go back: several calls may have the same."""
    return st.lists(st.integers(0, 1), min_size=size, max_size=size).map(
        lambda steps: [sum(steps[: index + 1]) for index in range(size)]
    )


@property_test
@given(CALLS, CALLS, st.data())
def test_no_pairing_is_better(before, after, data):
    places = data.draw(in_places(len(before))), data.draw(in_places(len(after)))
    found = aligned(before, after, places)
    assert len(found.missing) + len(found.extra) + 2 * len(found.pairs) == len(before) + len(after)
    ours = measured(before, after, found.pairs, places)
    assert ours[2] == len(found.moved)
    assert ours == min(measured(before, after, one, places) for one in every_pairing(before, after))


@property_test
@given(CALLS)
def test_a_run_is_the_same_as_itself(calls):
    found = aligned(calls, calls)
    assert (found.missing, found.extra, found.moved) == ((), (), frozenset())
    assert all(calls[old] == calls[new] for old, new in found.pairs)


def test_a_swapped_pair_is_one_move_and_not_two_changes():
    found = aligned([("mail", 1), ("refund", 20)], [("refund", 20), ("mail", 1)])
    assert (found.missing, found.extra, len(found.moved)) == ((), (), 1)


def test_calls_of_one_reply_have_no_order():
    before, after = [("a", 1), ("b", 1), ("c", 1)], [("b", 1), ("a", 1), ("c", 1)]
    assert len(aligned(before, after).moved) == 1
    assert not aligned(before, after, ([0, 0, 1], [0, 0, 1])).moved
    assert not aligned(before, after, ([0, 0, 1], [0, 1, 2])).moved


def test_the_crossed_pairing_of_equal_calls_may_move_less():
    before, after = [("p",), ("a",), ("r",), ("a",)], [("a",), ("p",), ("a",), ("r",)]
    assert len(aligned(before, after).moved) == 1


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (3, 5), (4, 4)])
def test_the_cheapest_assignment_is_found(shape):
    from random import Random

    rows, columns = shape
    random = Random(7)
    for _ in range(50):
        costs = [[random.randrange(9) for _ in range(columns)] for _ in range(rows)]
        total, chosen = assignment(costs)
        every = permutations(range(columns), rows)
        assert total == min(sum(costs[r][c] for r, c in enumerate(one)) for one in every)
        assert sum(costs[row][column] for row, column in enumerate(chosen)) == total
        assert len(set(chosen)) == rows


def test_many_calls_of_one_name_are_paired_with_work_in_proportion():
    counted = {}
    for size in (1000, 2000):
        before = [("search", index) for index in range(size)]
        after = [("search", index if index % 10 else -index) for index in range(size)]
        asked = []

        def cost(old, new, before=before, after=after, asked=asked):
            asked.append(1)
            return changes(before[old], after[new])

        names = ["search"] * size
        found = align(names, names, cost, None, (before, after))
        assert len(found.pairs) == size
        assert sum(before[old] != after[new] for old, new in found.pairs) == size // 10 - 1
        counted[size] = len(asked)
    assert size > MOST_EXACT
    assert counted[2000] <= 2.2 * counted[1000]


def test_two_dozen_calls_that_differ_in_everything_are_aligned_in_time():
    """The search for other pairings of the same cost once tried them all, and never ended."""
    from random import Random

    for seed in range(5):
        random, size = Random(seed), 24
        near, far = (0, 1, 1, 2, 3), (2, 3)
        costs = [
            [random.choice(near if column >= size // 2 else far) for column in range(size)]
            for _ in range(size)
        ]
        before, after = ["moved"] + ["a"] * size, ["a"] * size + ["moved"]

        def cost(old, new, before=before, costs=costs):
            return 0 if before[old] == "moved" else costs[old - 1][new]

        with watchdog():
            found = align(before, after, cost)
        total = sum(cost(old, new) for old, new in found.pairs)
        assert (len(found.pairs), total) == (size + 1, assignment(costs)[0])


def test_the_cheapest_call_is_not_given_up_for_the_order():
    """One cheap call among many equal ones: almost every other pairing costs more."""
    rows, columns = 12, 24
    before, after = ["moved"] + ["a"] * rows, ["a"] * columns + ["moved"]

    def cost(old, new):
        return int(before[old] == "a" and new < columns - 1)

    with watchdog():
        found = align(before, after, cost)
    assert sum(cost(old, new) for old, new in found.pairs) == rows - 1


@property_test
@given(st.data())
def test_every_pairing_of_the_least_cost_is_tried(data):
    """Equal costs everywhere, so that only the order decides: the best order is found."""
    before = data.draw(st.lists(st.sampled_from("ab"), max_size=5))
    after = data.draw(st.permutations(before))
    found = align(before, after, lambda old, new: 1)
    pairings = every_pairing([(name,) for name in before], [(name,) for name in after])
    places = range(len(before)), range(len(after))
    fewest = min(
        len(pairs) - longest_in_order(pairs, places)
        for pairs in pairings
        if len(pairs) == len(before)
    )
    assert len(found.moved) == fewest


@pytest.mark.slow
def test_many_groups_share_the_pairings_that_are_compared(monkeypatch):
    """6,000 calls of 200 tools in reverse: each tool once listed 500 pairings of its own."""
    made, compared = [], []
    cheapest, moved = alignment._cheapest, alignment._moved

    def listed(*given):
        for pairs in cheapest(*given):
            made.append(len(pairs))
            yield pairs

    def counted(pairs, *places):
        compared.append(len(pairs))
        return moved(pairs, *places)

    monkeypatch.setattr(alignment, "_cheapest", listed)
    monkeypatch.setattr(alignment, "_moved", counted)
    names = list(range(200)) * 30
    found = align(names, names[::-1], lambda old, new: 0)
    assert len(found.pairs) == 6000
    assert len(made) <= 200 + 500
    assert len(compared) > 1 and sum(compared) <= 500_000


def test_a_few_groups_are_combined_in_every_way():
    sizes = 3, 1, 2
    every = list(product(*(range(size) for size in sizes)))
    for most in (1, 2, 3, 5, 6, 500):
        found = list(islice(alignment._combined([iter(range(size)) for size in sizes], most), most))
        assert found == every[:most]
