"""Agreement of a judge's verdicts with known ones, and Cohen's kappa: agreement beyond chance."""

from __future__ import annotations

from msgspec import Struct

from trialrun.measures.stability import wilson_interval


class Confusion(Struct, frozen=True):
    """A judge's verdicts compared with known ones. `false_pass`: it passed a failed answer."""

    true_pass: int = 0
    false_pass: int = 0
    false_fail: int = 0
    true_fail: int = 0

    @property
    def total(self) -> int:
        """The number of verdicts."""
        return self.true_pass + self.false_pass + self.false_fail + self.true_fail

    @property
    def passed(self) -> int:
        """The number whose known verdict is a pass."""
        return self.true_pass + self.false_fail

    @property
    def agreement(self) -> float | None:
        """The share of equal verdicts; None if there are no verdicts."""
        return (self.true_pass + self.true_fail) / self.total if self.total else None

    @property
    def base_rate(self) -> float | None:
        """The share of known passes: if it is near 0 or 1, agreement alone shows little."""
        return (self.true_pass + self.false_fail) / self.total if self.total else None


class Kappa(Struct, frozen=True):
    """Cohen's κ with its 95% confidence interval."""

    value: float
    low: float
    high: float


def cohens_kappa(table: Confusion, confidence: float = 0.95) -> Kappa | None:
    """κ = (p_o − p_e) / (1 − p_e), and the same for both ends of Wilson's score interval of p_o.

    The chance agreement p_e is treated as fixed, as in Cohen's standard error (1960). That standard
    error is not used: it is 0 if all verdicts agree, so 20 labels would count as much as 2,000.

    None if κ is undefined: without verdicts, or if all verdicts of both are the same, so that
    chance alone explains full agreement.
    """
    total, agreeing = table.total, table.true_pass + table.true_fail
    interval = wilson_interval(agreeing, total, confidence)
    if interval is None:
        return None
    judge_passes = table.true_pass + table.false_pass
    passes = table.true_pass + table.false_fail
    # In integers, so that full agreement by chance compares as exactly equal.
    chance = judge_passes * passes + (total - judge_passes) * (total - passes)
    if chance == total * total:
        return None
    expected = chance / (total * total)

    def beyond_chance(observed: float) -> float:
        return (observed - expected) / (1 - expected)

    low, high = map(beyond_chance, interval)
    return Kappa(beyond_chance(agreeing / total), max(-1.0, low), min(1.0, high))
