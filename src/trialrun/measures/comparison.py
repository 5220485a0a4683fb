"""Statistics for two runs of the same cases: is the difference more than chance?"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, sqrt

from msgspec import Struct

_SEED = 20_240_501


class McNemar(Struct, frozen=True):
    """P-values of a split at least this uneven if nothing has changed: two-sided and one-sided."""

    p_two_sided: float
    p_worse: float
    p_better: float


def mcnemar(broke: int, fixed: int) -> McNemar:
    """McNemar's exact test of pairs: if nothing changed, pairs that differ are fair coin tosses.

    `p_worse` is the chance of at least as many broken pairs. If no pair differs, all three are 1.
    """
    worse = _chance_of_at_least(broke, broke + fixed)
    better = _chance_of_at_least(fixed, broke + fixed)
    return McNemar(min(1.0, 2 * min(worse, better)), worse, better)


def _chance_of_at_least(heads: int, tosses: int) -> float:
    """The chance of at least that many heads, in integers up to the one division at the end."""
    tails = tosses - heads
    outcomes = 1 << tosses
    # Sum the shorter tail: adding thousands of numbers with thousands of digits is slow.
    if heads <= tails:
        return (outcomes - _ways_up_to(heads - 1, tosses)) / outcomes
    return _ways_up_to(tails, tosses) / outcomes


def _ways_up_to(most: int, tosses: int) -> int:
    """C(n, 0) + … + C(n, most), each term computed from the one before."""
    total, ways = 0, 1
    for chosen in range(most + 1):
        total += ways
        ways = ways * (tosses - chosen) // (chosen + 1)
    return total


_MOST_DRAWN = 8_000_000


def bootstrap_interval(
    differences: Sequence[float],
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = _SEED,
) -> tuple[float, float] | None:
    """The bootstrap percentile interval of the mean difference; None for fewer than two pairs.

    The seed is fixed, so the same differences give the same interval: otherwise a gate would fail
    at random.
    """
    size = len(differences)
    if size < 2:
        return None
    if len(set(differences)) == 1:  # all resamples are equal: avoid the rounding of their mean
        return differences[0], differences[0]
    # Fewer resamples for many pairs: the interval is as good, in a tenth of the time.
    resamples = max(400, min(resamples, _MOST_DRAWN // size))
    from random import Random  # imported here: comparing runs is the only command that draws

    draw = Random(seed).choices
    means = sorted(sum(draw(differences, k=size)) / size for _ in range(resamples))
    outside = (1 - confidence) / 2 * resamples
    # Rounded first: (1 − 0.95) / 2 · 2000 is 50.000000000000044.
    cut = min(floor(round(outside, 9)), (resamples - 1) // 2)
    return means[cut], means[-1 - cut]


def cases_needed(
    discordant_rate: float, difference: float = 0.05, alpha: float = 0.05, power: float = 0.8
) -> int:
    """How many pairs are needed to detect the difference with this power (Connor, for McNemar).

    (z_{α/2}·√ψ + z_β·√(ψ − d²))² / d², where ψ is the share of pairs that differ: at least d.
    """
    from statistics import NormalDist  # slow to import, and seldom needed

    normal = NormalDist()
    share = max(discordant_rate, difference)
    root = normal.inv_cdf(1 - alpha / 2) * sqrt(share) + normal.inv_cdf(power) * sqrt(
        share - difference**2
    )
    return ceil(root**2 / difference**2)


def more_runs_needed(
    broke: int, fixed: int, alpha: float = 0.05, limit: int = 20, runs: int = 1
) -> int | None:
    """How many more runs of each case would make the difference significant at the same rates.

    `runs` were made so far. 0 if it is significant already; None if no number up to the limit
    suffices.
    """
    more, fewer = max(broke, fixed), min(broke, fixed)
    for further in range(limit + 1):
        total = runs + further
        # The number of pairs is whole: round so that the difference becomes smaller.
        likely = more * total // runs
        unlikely = -(-fewer * total // runs)
        tosses = likely + unlikely
        if (likely - unlikely) ** 2 < tosses:
            continue  # within one standard deviation: never significant, and slow to sum
        if _chance_of_at_least(likely, tosses) < alpha:
            return further
    return None


def p_text(chance: float, alpha: float = 0.05) -> str:
    """`p = 0.06`, `p = 0.002`, `p < 0.0001`; never rounded to exactly alpha."""
    if chance < 0.0001:
        return "p < 0.0001"
    if chance < 0.01:
        return f"p = {chance:.1g}"
    digits = 2
    # 0.047 and 0.055 would both be shown as 0.05, though only the first is significant.
    while chance != alpha and float(f"{chance:.{digits}f}") == alpha:
        digits += 1
    return f"p = {chance:.{digits}f}"
