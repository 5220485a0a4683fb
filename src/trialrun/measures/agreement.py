"""How far two who judge the same things agree, beyond what chance would bring about."""

from __future__ import annotations

from msgspec import Struct

from trialrun.measures.stability import wilson_interval


class Confusion(Struct, frozen=True):
    """A judge's verdicts against what is so. `false_pass`: the judge passed what had failed."""

    true_pass: int = 0
    false_pass: int = 0
    false_fail: int = 0
    true_fail: int = 0

    @property
    def total(self) -> int:
        """How many there are."""
        return self.true_pass + self.false_pass + self.false_fail + self.true_fail

    @property
    def passed(self) -> int:
        """How many pass in fact."""
        return self.true_pass + self.false_fail

    @property
    def agreement(self) -> float | None:
        """The share that both judge alike; None without any."""
        return (self.true_pass + self.true_fail) / self.total if self.total else None

    @property
    def base_rate(self) -> float | None:
        """The share that passes in fact: where it is near 0 or 1, agreement alone says little."""
        return (self.true_pass + self.false_fail) / self.total if self.total else None

    @property
    def false_pass_rate(self) -> float | None:
        """Of what failed in fact, the share that the judge passed; None if nothing failed."""
        failed = self.false_pass + self.true_fail
        return self.false_pass / failed if failed else None


class Kappa(Struct, frozen=True):
    """Cohen's κ with the interval in which it lies at 95 %."""

    value: float
    low: float
    high: float


def cohens_kappa(table: Confusion, confidence: float = 0.95) -> Kappa | None:
    """(p_o − p_e) / (1 − p_e), and the same of both ends of Wilson's score interval of p_o.

    The chance agreement p_e is held fixed, as in Cohen's own standard error (1960), which is 0
    where all agree: 20 labels would make a judge as certain as 2,000 (Wilson 1927 is not so sure).

    None where it is undefined: without any verdicts, or where both give one and the same to all, so
    that chance alone would agree fully.
    """
    total, agreeing = table.total, table.true_pass + table.true_fail
    interval = wilson_interval(agreeing, total, confidence)
    if interval is None:
        return None
    judge_passes = table.true_pass + table.false_pass
    passes = table.true_pass + table.false_fail
    # In whole numbers, so that full agreement by chance is seen to be that.
    chance = judge_passes * passes + (total - judge_passes) * (total - passes)
    if chance == total * total:
        return None
    expected = chance / (total * total)

    def beyond_chance(observed: float) -> float:
        return (observed - expected) / (1 - expected)

    low, high = map(beyond_chance, interval)
    return Kappa(beyond_chance(agreeing / total), max(-1.0, low), min(1.0, high))
