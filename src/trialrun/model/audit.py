"""What an audit of a judge found: four measurements, and what they amount to."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from trialrun.measures.agreement import Confusion, Kappa, cohens_kappa
from trialrun.util.texts import counted

TRUSTWORTHY = "trustworthy"
NEEDS_CALIBRATION = "needs calibration"
UNRELIABLE = "unreliable"

FEWEST = 20
"""Different answers that a measurement needs before it speaks for a judge."""

FEWEST_OF_EACH = 5
"""Different answers with a label of either kind that it takes."""

LIMITS = {
    # measurement: (trustworthy up to, unreliable beyond)
    "passed what a fact failed": (0.05, 0.20),
    "flips on the same answer": (0.05, 0.20),
    "verdict moved by padding or order": (0.05, 0.20),
}
KAPPA_TRUSTWORTHY = 0.6  # the lower end of the interval
KAPPA_UNRELIABLE = 0.4  # the value


class Answers(Struct, frozen=True):
    """How many different answers the verdicts of a table are about, by what is so of them.

    One answer under twenty rules has twenty verdicts, and shows no more than one answer can. An
    answer that keeps one rule and breaks another is in both `passed` and `failed`.
    """

    passed: int = 0
    failed: int = 0
    total: int = 0


class Retest(Struct, frozen=True, kw_only=True):
    """The same answers put to the judge several times: how often it contradicted itself."""

    verdicts: int = 0
    flipped: int = 0
    times: int = 0
    answers: int = 0

    @property
    def flip_rate(self) -> float | None:
        """The share of verdicts that did not stay the same."""
        return self.flipped / self.verdicts if self.verdicts else None


class Sensitivity(Struct, frozen=True, kw_only=True):
    """Answers changed in what must not matter: how often the score, and the verdict, moved."""

    name: str
    verdicts: int = 0
    score_moved: int = 0
    verdict_moved: int = 0
    mean_move: float = 0.0
    answers: int = 0


class Disagreement(Struct, frozen=True, kw_only=True):
    """An answer that the judge passed although something known says that it is wrong."""

    case: str
    attempt: int
    rule: str
    score: float | None
    against: str
    rationale: str = ""


class Audit(Struct, frozen=True, kw_only=True):
    """What was measured on which judge; `identity` is what a later judge must equal."""

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
    calls: int = 0
    cost_usd: float | None = 0.0
    made_at: str = ""

    @property
    def kappa(self) -> Kappa | None:
        """Of the judge and a person's labels."""
        return cohens_kappa(self.labels)

    def findings(self) -> list[tuple[str, str, str]]:
        """Each measurement: its name, what was found, and what that amounts to."""
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
            _, said, word = _rated(
                "verdict moved by padding or order", one.verdict_moved, one.verdicts, one.answers
            )
            found.append((f"verdict moved by {one.name}", said, word))
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
        # Where nearly all have one label, agreement shows little, however sure it looks.
        rarer = min(about.passed, about.failed)
        enough = about.total >= FEWEST and rarer >= FEWEST_OF_EACH
        sure = kappa.low >= KAPPA_TRUSTWORTHY
        return name, shown, TRUSTWORTHY if enough and sure else NEEDS_CALIBRATION

    @property
    def verdict(self) -> str:
        """The worst of what was measured; nothing is trusted that was held against nothing.

        Without facts that failed and without labels nobody knows whether the judge is right,
        however steady it is.
        """
        words = [word for _, _, word in self.findings()]
        if UNRELIABLE in words:
            return UNRELIABLE
        against_truth = (words[0], words[-1])
        if TRUSTWORTHY not in against_truth or NEEDS_CALIBRATION in words:
            return NEEDS_CALIBRATION
        steady = words[1] == words[2] == TRUSTWORTHY  # on the same answer, and on a padded one
        discerns = 0 < self.passes < self.verdicts  # not the same verdict for everything
        whole = not self.without_verdict
        return TRUSTWORTHY if steady and discerns and whole else NEEDS_CALIBRATION

    def to_json(self) -> bytes:
        """For a file in a repository, and for `require_audit`."""
        plain = msgspec.to_builtins(self)
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
