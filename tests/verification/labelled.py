"""Labelled runs and texts held against the ledger; the benchmark counts by the same rules."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from trialrun import Trace
from trialrun.model.ledger import Claim, Ledger
from trialrun.verification import audit

HERE = Path(__file__).parent
GIVEN = HERE.parents[1] / "benchmarks" / "verification"
KNOWN_MISSES = HERE / "cases" / "known_misses.txt"
COMPLIANT_TEXT = 0.9
TOLERANCE = 1e-9


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def found_claim(text: str, claims: list[Claim]) -> Claim | None:
    """The claim that was found for a labelled text: one contains the other, or most words agree."""
    wanted = _words(text)
    best, most = None, 0.0
    for claim in claims:
        words = _words(claim.text)
        if not words or not wanted:
            continue
        shared, union = len(wanted & words), len(wanted | words)
        fit = 0.5 * shared / min(len(wanted), len(words)) * (1 + shared / union)
        if text in claim.text or claim.text in text:
            fit = 1 + shared / union
        if fit > most:
            best, most = claim, fit
    return best if most >= 0.5 else None


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


class Score:
    """What came of a set of labelled runs."""

    def __init__(self) -> None:
        self.compliance: Counter[tuple[bool, bool]] = Counter()  # (labelled, found)
        self.claims: Counter[tuple[str, str]] = Counter()
        self.right_claims = 0
        self.misses: list[str] = []
        self.wrong: set[str] = set()  # the same in short, without reasons

    @property
    def accuracy(self) -> float:
        right = self.compliance[True, True] + self.compliance[False, False]
        return right / sum(self.compliance.values())

    @property
    def claim_accuracy(self) -> float:
        return self.right_claims / sum(self.claims.values())

    def not_compliant(self) -> tuple[float, float, float]:
        """Precision, recall and F1 of "not compliant"."""
        hit, wrong = self.compliance[False, False], self.compliance[True, False]
        missed = self.compliance[False, True]
        precision = hit / (hit + wrong) if hit + wrong else 1.0
        recall = hit / (hit + missed) if hit + missed else 1.0
        total = precision + recall
        return precision, recall, 2 * precision * recall / total if total else 0.0

    def run(self, row: dict[str, Any]) -> None:
        """Hold one labelled run against its ledger."""
        ledger = audit(Trace.from_dict(row["trace"]))
        label = row["label"]
        self.compliance[label["compliant"], ledger.compliant] += 1
        if label["compliant"] != ledger.compliant:
            self.wrong.add(f"{row['id']}: compliance")
            self.misses.append(
                f"{row['id']} compliant: labelled {label['compliant']}. {ledger.reason}"
            )
        for wanted in label["claims"]:
            self._claim(row["id"], wanted, ledger)

    def _claim(self, name: str, wanted: dict[str, Any], ledger: Ledger) -> None:
        claim = found_claim(wanted["text"], list(ledger.claims))
        verdict = claim.verdict.value if claim is not None else "not found"
        self.claims[wanted["verdict"], verdict] += 1
        if verdict in {wanted["verdict"], *wanted.get("verdict_alternatives", ())}:
            self.right_claims += 1
        else:
            self.wrong.add(f"{name}: {wanted['text']}: {verdict}")
            why = claim.reason if claim is not None else "not taken for a claim"
            self.misses.append(
                f'{name} "{wanted["text"][:80]}": labelled {wanted["verdict"]}, found {verdict} ({why})'
            )

    def text(self, row: dict[str, Any]) -> None:
        """Hold one labelled text against its score."""
        ledger = audit(Trace(input=row["input"], output=row["output"]))
        found = ledger.score >= COMPLIANT_TEXT - TOLERANCE
        self.compliance[row["compliant"], found] += 1
        if found != row["compliant"]:
            self.wrong.add(f"{row['id']}: compliance")
            self.misses.append(
                f"{row['id']} compliant: labelled {row['compliant']} ({row['why']}). {ledger.score:.2f}: {ledger.reason}"
            )


@dataclass
class Scores:
    """What came of a folder of labelled runs and texts."""

    runs: Score = field(default_factory=Score)
    texts: Score = field(default_factory=Score)

    @property
    def wrong(self) -> set[str]:
        return self.runs.wrong | self.texts.wrong


@cache
def scored(folder: Path) -> Scores:
    """Audited once, however many tests ask."""
    found = Scores()
    for row in rows(folder / "traces.jsonl"):
        found.runs.run(row)
    for row in rows(folder / "texts.jsonl"):
        found.texts.text(row)
    return found


def ours() -> Scores:
    """Our own labelled runs and texts."""
    return scored(HERE / "cases")


def everything() -> set[str]:
    """What is wrong in all labelled runs and texts, our own and the given ones."""
    return ours().wrong | scored(GIVEN).wrong


if __name__ == "__main__":  # after a rule has changed: look at the difference, then commit it
    KNOWN_MISSES.write_text("\n".join(sorted(everything())) + "\n", encoding="utf-8")
