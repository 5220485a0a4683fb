"""Judges: from a rubric and an answer to a verdict.

`Judge` asks models or a function, within limits and with a cache; `minimum_score` is the score that
passes. Model clients are loaded only when a model is asked.
"""

from __future__ import annotations

from trialrun.judge.judge import Judge, settled
from trialrun.measures.scores import minimum_score
from trialrun.model.judging import JudgeRequest, Material

__all__ = ["Judge", "JudgeRequest", "Material", "minimum_score", "settled"]
