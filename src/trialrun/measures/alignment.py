"""Pairs the calls of one run with those of another: which are missing, extra, changed, moved.

Only calls of the same name are paired, as many as both runs have. Among all such pairings the one
with the fewest changed arguments is chosen, and among those the one with the fewest moved calls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice, product, starmap
from typing import Any

from msgspec import Struct

Pair = tuple[int, int]
"""The position of a call before, and of its counterpart after."""

Unlike = Callable[[int, int], bool]
"""Whether two calls ended differently: one was refused, the other succeeded."""

Cost = Callable[[int, int], int]
"""How many arguments differ between the call at one position before and at another after."""

MOST_EXACT = 32
"""Calls of one name up to which the cheapest pairing is searched; above, equal calls are paired
first, so that the work grows with the number of calls and not with its cube."""

_MOST_PAIRINGS = 500
"""Pairings with equally few changes among which the one with the fewest moved calls is searched."""

_MOST_COMPARED = 500_000
"""Pairs in all of these pairings together: runs of thousands of calls are compared fewer times."""

_MOST_STEPS = 20_000
"""Choices tried to find these pairings: a search without an end would hang on two dozen calls."""


class Alignment(Struct, frozen=True):
    """The pairs in the order of the earlier run; what is left over on each side; what moved.

    A pair is moved if the others are in the same order in both runs without it.
    """

    pairs: tuple[Pair, ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]
    moved: frozenset[Pair]


def align(
    before: Sequence[Hashable],
    after: Sequence[Hashable],
    cost: Cost,
    places: tuple[Sequence[int], Sequence[int]] | None = None,
    keys: tuple[Sequence[Any], Sequence[Any]] | None = None,
    unlike: Unlike = lambda old, new: False,
) -> Alignment:
    """Align two lists of names.

    `places` are the places of the calls in each run; calls of one place have no order. `keys` are
    equal for equal calls: they are used where there are too many to compare each with each, and
    they can be sorted. Aligning the lists the other way round gives the same pairs.
    """
    places = places or (range(len(before)), range(len(after)))
    keys = keys or (before, after)
    # Of several pairings that are equally good, the same one is chosen in both directions.
    if (list(keys[1]), list(places[1])) < (list(keys[0]), list(places[0])):
        flipped = _aligned(
            after,
            before,
            lambda new, old: cost(old, new),
            places[::-1],
            keys[::-1],
            lambda new, old: unlike(old, new),
        )
        return Alignment(
            tuple(sorted((old, new) for new, old in flipped.pairs)),
            flipped.extra,
            flipped.missing,
            frozenset((old, new) for new, old in flipped.moved),
        )
    return _aligned(before, after, cost, places, keys, unlike)


def _aligned(
    before: Sequence[Hashable],
    after: Sequence[Hashable],
    cost: Cost,
    places: tuple[Sequence[int], Sequence[int]],
    keys: tuple[Sequence[Any], Sequence[Any]],
    unlike: Unlike,
) -> Alignment:
    old_places, new_places = places
    groups: list[Iterator[list[Pair]]] = []
    by_name = _positions(after)
    for name, rows in _positions(before).items():
        columns = by_name.get(name, [])
        if columns and max(len(rows), len(columns)) > MOST_EXACT:
            groups.append(iter([_by_keys(rows, columns, cost, keys)]))
        elif columns:
            groups.append(_cheapest(rows, columns, cost))
    best: tuple[int, int] | None = None
    pairs: list[Pair] = []
    moved: set[Pair] = set()
    size = min(len(before), len(after))
    most = max(1, min(_MOST_PAIRINGS, _MOST_COMPARED // max(1, size)))
    for chosen in islice(_combined(groups, most), most):
        candidate = sorted(pair for group in chosen for pair in group)
        moving = _moved(candidate, old_places, new_places)
        found = len(moving), sum(starmap(unlike, candidate))
        if best is None or found < best:
            best, pairs, moved = found, candidate, moving
        if best == (0, 0):
            break
    paired_before, paired_after = {old for old, _ in pairs}, {new for _, new in pairs}
    return Alignment(
        tuple(pairs),
        tuple(index for index in range(len(before)) if index not in paired_before),
        tuple(index for index in range(len(after)) if index not in paired_after),
        frozenset(moved),
    )


def _positions(names: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for index, name in enumerate(names):
        found.setdefault(name, []).append(index)
    return found


def _combined(
    groups: Sequence[Iterator[list[Pair]]], most: int
) -> Iterator[tuple[list[Pair], ...]]:
    """Choices of one pairing from each group, at least `most` if there are as many.

    Most often the first choice moves nothing, and is the only one that is asked for. The last
    groups vary first: once they have enough choices, the others keep their first pairing.
    """
    firsts = [next(group) for group in groups]
    yield tuple(firsts)
    choices = [[first] for first in firsts]
    count = 1
    for own, group in zip(reversed(choices), reversed(groups), strict=True):
        if count >= most:
            break
        own += islice(group, most)
        count *= len(own)
    yield from islice(product(*choices), 1, None)


def _moved(pairs: Sequence[Pair], old: Sequence[int], new: Sequence[int]) -> set[Pair]:
    """The pairs outside of the longest list of pairs that are in the same order in both runs."""
    ordered = sorted(pairs, key=lambda pair: (old[pair[0]], new[pair[1]], pair))
    ends: list[int] = []  # the last pair of the best list of each length, and its place after
    last: list[int] = []
    earlier: list[int | None] = []
    for index, (_, after) in enumerate(ordered):
        length = bisect_right(ends, new[after])
        ends[length : length + 1] = [new[after]]
        last[length : length + 1] = [index]
        earlier.append(last[length - 1] if length else None)
    kept = set()
    at = last[-1] if last else None
    while at is not None:
        kept.add(ordered[at])
        at = earlier[at]
    return set(pairs) - kept


def _cheapest(rows: list[int], columns: list[int], cost: Cost) -> Iterator[list[Pair]]:
    """All pairings of as many calls as possible with the fewest changes, one after the other."""
    if len(rows) > len(columns):
        flipped = _cheapest(columns, rows, lambda new, old: cost(old, new))
        yield from ([(old, new) for new, old in pairs] for pairs in flipped)
        return
    costs = [[cost(row, column) for column in columns] for row in rows]
    given, (row_price, column_price) = _solved(costs)
    first = [(rows[index], columns[column]) for index, column in enumerate(given)]
    yield first
    # Every cheapest assignment uses only columns that cost a row exactly what both prices say.
    fitting = [
        [at for at, price in enumerate(line) if price == row_price[row] + column_price[at]]
        for row, line in enumerate(costs)
    ]
    total = _total(costs, given)
    for others in _assignments(fitting):
        pairs = [(rows[index], columns[column]) for index, column in enumerate(others)]
        if pairs != first and _total(costs, others) == total:
            yield pairs


def _assignments(fitting: list[list[int]]) -> Iterator[list[int]]:
    """A column for each row, of those that fit it, in every way that is found in time."""
    taken: list[int] = []
    left = [iter(fitting[0])]
    for _ in range(_MOST_STEPS):
        column = next((one for one in left[-1] if one not in taken), None)
        if column is None:
            left.pop()
            if not left:
                return
            taken.pop()
        elif len(taken) + 1 == len(fitting):
            yield [*taken, column]
        else:
            taken.append(column)
            left.append(iter(fitting[len(taken)]))


def _total(costs: Sequence[Sequence[int]], given: Sequence[int]) -> int:
    return sum(costs[row][column] for row, column in enumerate(given))


def assignment(costs: Sequence[Sequence[int]]) -> tuple[int, list[int]]:
    """The least total cost, and the column of each row; there are at least as many columns."""
    given, _ = _solved(costs)
    return _total(costs, given), given


def _solved(costs: Sequence[Sequence[int]]) -> tuple[list[int], tuple[list[int], list[int]]]:
    """The column of each row, and the prices of rows and columns that show it to be cheapest.

    The Hungarian method: rows are added one by one, along the cheapest path of changes.
    """
    columns = len(costs[0]) if costs else 0
    owner: list[int | None] = [None] * columns  # the row of each column
    prices = [0] * len(costs), [0] * columns
    for row in range(len(costs)):
        _add_row(row, costs, owner, prices)
    given = [0] * len(costs)
    for column, one in enumerate(owner):
        if one is not None:
            given[one] = column
    return given, prices


def _add_row(
    row: int,
    costs: Sequence[Sequence[int]],
    owner: list[int | None],
    prices: tuple[list[int], list[int]],
) -> None:
    """Give the row a column, and others another one where that is cheaper in all."""
    row_price, column_price = prices
    # The least cost to reach each column, and the column that it is reached from.
    slack = [
        costs[row][column] - row_price[row] - price for column, price in enumerate(column_price)
    ]
    came_from: list[int | None] = [None] * len(slack)
    rows, seen = [row], []
    while True:
        at = min((one for one in range(len(slack)) if one not in seen), key=slack.__getitem__)
        step = slack[at]
        for one in rows:
            row_price[one] += step
        for column in range(len(slack)):
            if column in seen:
                column_price[column] -= step
            else:
                slack[column] -= step
        seen.append(at)
        current = owner[at]
        if current is None:
            break
        rows.append(current)
        for column in range(len(slack)):
            price = costs[current][column] - row_price[current] - column_price[column]
            if column not in seen and price < slack[column]:
                slack[column], came_from[column] = price, at
    end: int | None = at
    while end is not None:
        before = came_from[end]
        owner[end] = row if before is None else owner[before]
        end = before


def _by_keys(
    rows: list[int],
    columns: list[int],
    cost: Cost,
    keys: tuple[Sequence[Any], Sequence[Any]],
) -> list[Pair]:
    """Equal calls first, in order; of the rest as many as are compared; then by position."""
    free: dict[Hashable, list[int]] = {}
    for column in reversed(columns):
        free.setdefault(keys[1][column], []).append(column)
    pairs = [(row, free[keys[0][row]].pop()) for row in rows if free.get(keys[0][row])]
    rows = sorted(set(rows) - {row for row, _ in pairs})
    columns = sorted(set(columns) - {column for _, column in pairs})
    # Blocks of equal size: a call is compared with those near its own position.
    for start in range(0, min(len(rows), len(columns)), MOST_EXACT):
        block = slice(start, start + MOST_EXACT)
        pairs += next(_cheapest(rows[block], columns[block], cost))
    return pairs
