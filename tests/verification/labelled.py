"""Labelled runs and texts, written by hand, held against the ledger: red must be right."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from trialrun import Trace
from trialrun.model.ledger import HARMFUL, Claim, Ledger
from trialrun.verification import audit

HERE = Path(__file__).parent
GIVEN = HERE.parents[1] / "benchmarks" / "verification"
KNOWN_FALSE_REDS = HERE / "cases" / "known_false_reds.txt"
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


class Measured:
    """What came of a set of labelled cases."""

    def __init__(self) -> None:
        self.compliance: Counter[tuple[bool, bool]] = Counter()  # (labelled, found)
        self.claims: Counter[tuple[bool, str]] = Counter()  # (labelled as sound, found)
        self.accused: dict[str, str] = {}  # sound cases that come out red, and why

    def add(self, name: str, sound: bool, found: bool, reason: str) -> None:
        """Count one case."""
        self.compliance[sound, found] += 1
        if sound and not found:
            self.accused[name] = reason

    def run(self, row: dict[str, Any]) -> None:
        """Hold one labelled run against its ledger."""
        ledger = audit(Trace.from_dict(row["trace"]))
        label = row["label"]
        self.add(row["id"], label["compliant"], ledger.compliant, ledger.reason)
        for wanted in label["claims"]:
            self._claim(wanted, ledger)

    def _claim(self, wanted: dict[str, Any], ledger: Ledger) -> None:
        claim = found_claim(wanted["text"], list(ledger.claims))
        verdicts = {wanted["verdict"], *wanted.get("verdict_alternatives", ())}
        sound = not verdicts.isdisjoint({"verified", "disclosed"})
        if claim is None:
            found = "not found"
        else:
            found = "red" if claim.verdict in HARMFUL else claim.verdict.value
        self.claims[sound, found] += 1

    def text(self, row: dict[str, Any]) -> None:
        """Hold one labelled text against its score."""
        ledger = audit(Trace(input=row["input"], output=row["output"]))
        found = ledger.score >= COMPLIANT_TEXT - TOLERANCE
        self.add(row["id"], row["compliant"], found, f"{ledger.score:.2f}: {ledger.reason}")

    @property
    def line(self) -> str:
        """The figures in one line."""
        right, wrong = self.compliance[True, True], len(self.accused)
        bad, passed = self.compliance[False, False], self.compliance[False, True]
        return (
            f"{self.compliance.total()} cases: {right + wrong} sound, {wrong} of them accused; "
            f"{bad + passed} bad, {bad} of them found"
        )


@cache
def measured(folder: Path, kind: str) -> Measured:
    """The runs (`traces`) or messages (`texts`) of a folder; audited once for all tests."""
    found = Measured()
    for row in rows(folder / f"{kind}.jsonl"):
        (found.run if kind == "traces" else found.text)(row)
    return found


def known_false_reds() -> dict[str, str]:
    """Sound cases that are accused, and why: `ID reason` a line."""
    lines = KNOWN_FALSE_REDS.read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines if line)


def report() -> list[str]:
    """The figures of all sets, for benchmarks."""
    lines = []
    for title, folder in (("own", HERE / "cases"), ("given", GIVEN)):
        for kind in ("traces", "texts"):
            found = measured(folder, kind)
            lines.append(f"{title} {kind}: {found.line}")
            if kind == "traces":
                lines += [
                    f"  {'sound' if sound else 'bad'} claims: "
                    + ", ".join(
                        f"{number} {what}"
                        for (one, what), number in sorted(found.claims.items())
                        if one is sound
                    )
                    for sound in (True, False)
                ]
    return lines


def still_known() -> list[str]:
    """The lines of the known false reds that are still accused."""
    sets = [(folder, kind) for folder in (HERE / "cases", GIVEN) for kind in ("traces", "texts")]
    accused = {name for folder, kind in sets for name in measured(folder, kind).accused}
    return [f"{name} {why}" for name, why in known_false_reds().items() if name in accused]


if __name__ == "__main__":  # after a fault was put right: takes what holds out of the list
    KNOWN_FALSE_REDS.write_text("".join(f"{line}\n" for line in still_known()), encoding="utf-8")
