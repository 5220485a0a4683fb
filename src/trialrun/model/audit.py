"""The result of an audit of a judge: four measurements and an overall verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from trialrun.measures.agreement import Confusion, Kappa, cohens_kappa
from trialrun.model.withheld import Withheld
from trialrun.util.texts import counted

TRUSTWORTHY = "trustworthy"
NEEDS_CALIBRATION = "needs calibration"
UNRELIABLE = "unreliable"

FEWEST = 20
"""Different answers that a measurement needs before it counts in a judge's favour."""

FEWEST_OF_EACH = 5
"""Different answers that are needed with each of the two labels, pass and fail."""

LIMITS = {
    # measurement: (trustworthy up to this rate, unreliable above this rate)
    "passed what a fact failed": (0.05, 0.20),
    "flips on the same answer": (0.05, 0.20),
    "verdict moved by padding or order": (0.05, 0.20),
}
KAPPA_TRUSTWORTHY = 0.6  # compared with the lower end of the interval
KAPPA_UNRELIABLE = 0.4  # compared with κ itself


class Answers(Struct, frozen=True):
    """How many different answers the verdicts are about, by their known result.

    One answer judged by twenty rules has twenty verdicts, but is still only one sample. An answer
    that meets one rule and breaks another counts in both `passed` and `failed`.
    """

    passed: int = 0
    failed: int = 0
    total: int = 0


class Retest(Struct, frozen=True, kw_only=True):
    """The same answers judged several times: how often the judge contradicted itself."""

    verdicts: int = 0
    flipped: int = 0
    times: int = 0
    answers: int = 0


class Sensitivity(Struct, frozen=True, kw_only=True):
    """Answers changed in ways that must not matter: how often score and verdict changed."""

    name: str
    verdicts: int = 0
    score_moved: int = 0
    verdict_moved: int = 0
    mean_move: float = 0.0
    answers: int = 0


class Disagreement(Struct, frozen=True, kw_only=True):
    """An answer that the judge passed although a fact or a label says that it is wrong."""

    case: str
    attempt: int
    rule: str
    score: float | None
    against: str
    rationale: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that may quote an answer."""
        return self.rule, self.against, self.rationale


class Opinion(Struct, frozen=True, kw_only=True):
    """What the judge, the free checks and a person say of one answer by one rule; None: nothing."""

    case: str
    attempt: int
    rule: str
    score: float | None = None
    judge: bool | None = None
    fact: bool | None = None
    person: bool | None = None


class Audit(Struct, frozen=True, kw_only=True):
    """What was measured on which judge. It applies to a later judge with the same `identity`."""

    judge: str
    identity: str
    prompt_version: str
    runs: Sequence[str]
    verdicts: int  # one for each answer and each of its rules
    answers: int  # different ones
    without_verdict: int
    passes: int
    facts: Confusion
    fact_answers: Answers
    retest: Retest
    labels: Confusion
    label_answers: Answers
    sensitivity: Sequence[Sensitivity]
    disagreements: Sequence[Disagreement] = ()
    opinions: Sequence[Opinion] = ()
    calls: int = 0
    cost_usd: float | None = 0.0
    made_at: str = ""
    masked: int | None = None  # masks in its texts, once they were counted
    withheld: Withheld | None = None  # what was left out, if this is made to be shared

    @property
    def texts(self) -> Iterator[str]:
        """The texts that may quote an answer, for counting masks in them."""
        for one in self.disagreements:
            yield from one.texts

    @property
    def kappa(self) -> Kappa | None:
        """Cohen's κ of the judge's verdicts and a person's labels."""
        return cohens_kappa(self.labels)

    def findings(self) -> list[tuple[str, str, str]]:
        """Each measurement: its name, the figures, and its rating."""
        facts = self.facts
        failed = facts.false_pass + facts.true_fail
        found = [
            _rated("passed what a fact failed", facts.false_pass, failed, self.fact_answers.failed),
            _rated(
                "flips on the same answer",
                self.retest.flipped,
                self.retest.verdicts,
                self.retest.answers,
            ),
        ]
        for one in self.sensitivity:
            _, figures, rating = _rated(
                "verdict moved by padding or order", one.verdict_moved, one.verdicts, one.answers
            )
            found.append((f"verdict moved by {one.name}", figures, rating))
        found.append(self._labelled())
        return found

    def _labelled(self) -> tuple[str, str, str]:
        kappa, total = self.kappa, self.labels.total
        name = "agreement with a person"
        if not total:
            return name, "no labels", "not measured"
        shown = f"{self.labels.agreement:.0%} of {total} labels"
        shown += _on_answers(self.label_answers.total, total)
        if kappa is None:
            return name, f"{shown}, κ undefined: all have one label", "not measured"
        shown += f", κ {kappa.value:.2f} ({kappa.low:.2f} to {kappa.high:.2f})"
        about = self.label_answers
        if kappa.value < KAPPA_UNRELIABLE:
            return name, shown, UNRELIABLE if about.total >= FEWEST else NEEDS_CALIBRATION
        # If nearly all answers have the same label, agreement shows little, however high κ is.
        rarer = min(about.passed, about.failed)
        enough = about.total >= FEWEST and rarer >= FEWEST_OF_EACH
        sure = kappa.low >= KAPPA_TRUSTWORTHY
        return name, shown, TRUSTWORTHY if enough and sure else NEEDS_CALIBRATION

    @property
    def verdict(self) -> str:
        """The worst rating; never trustworthy without a comparison with known results.

        Without failed facts and without labels it is unknown whether the judge is right, however
        steady it is.
        """
        ratings = [rating for _, _, rating in self.findings()]
        if UNRELIABLE in ratings:
            return UNRELIABLE
        with_known = (ratings[0], ratings[-1])  # facts, and a person's labels
        if TRUSTWORTHY not in with_known or NEEDS_CALIBRATION in ratings:
            return NEEDS_CALIBRATION
        steady = ratings[1] == ratings[2] == TRUSTWORTHY  # same answer, and the padded one
        discerns = 0 < self.passes < self.verdicts  # not the same verdict for everything
        whole = not self.without_verdict
        return TRUSTWORTHY if steady and discerns and whole else NEEDS_CALIBRATION

    def to_json(self) -> bytes:
        """The JSON of an audit file, which `require_audit` reads."""
        plain = msgspec.to_builtins(self)
        for name in ("masked", "withheld"):  # of reports: no part of an audit that is kept
            if plain[name] is None:
                del plain[name]
        plain["verdict"] = self.verdict
        return msgspec.json.format(msgspec.json.encode(plain, order="sorted"), indent=2) + b"\n"


def _rated(name: str, bad: int, total: int, answers: int) -> tuple[str, str, str]:
    if not total:
        return name, "nothing to measure it by", "not measured"
    rate = bad / total
    good, poor = LIMITS[name]
    shown = f"{bad} of {total} ({rate:.0%}){_on_answers(answers, total)}"
    if rate > poor and bad > 1:
        return name, shown, UNRELIABLE
    if answers < FEWEST:
        return name, f"{shown}, {FEWEST} are needed", NEEDS_CALIBRATION
    return name, shown, TRUSTWORTHY if rate <= good else NEEDS_CALIBRATION


def _on_answers(answers: int, verdicts: int) -> str:
    return "" if answers == verdicts else f" on {counted(answers, 'answer')}"
