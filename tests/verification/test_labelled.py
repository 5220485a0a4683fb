"""Labelled cases: the rules may not get worse on them. Where they stand is in benchmarks/VERIFICATION.md."""

from __future__ import annotations

from tests.verification.labelled import KNOWN_MISSES, everything, ours


def test_runs():
    score = ours().runs
    assert score.accuracy >= 0.95, "\n".join(score.misses)
    assert score.claim_accuracy >= 0.9, "\n".join(score.misses)


def test_texts():
    """What is refused has to be wrong; that a false text passes is the smaller harm."""
    score = ours().texts
    assert score.accuracy >= 0.9, "\n".join(score.misses)
    precision, recall, _ = score.not_compliant()
    assert precision >= 0.95, "\n".join(score.misses)
    assert recall >= 0.85, "\n".join(score.misses)


def test_what_is_missed_is_known():
    """A rule that changes any verdict on a labelled case shows here, whichever way."""
    known = set(KNOWN_MISSES.read_text(encoding="utf-8").splitlines())
    wrong = everything()
    assert sorted(wrong - known) == [], "missed now"
    assert sorted(known - wrong) == [], "right now: `python -m tests.verification.labelled`"
