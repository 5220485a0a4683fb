"""The judge: from a rubric to a verdict.

`minimum_score` is the rule of the score; `Judge` asks models or a function within their limits,
from its cache where it can. Clients of models are loaded when one is asked, and not before.
"""

from __future__ import annotations

from trialrun.judge.judge import Judge, settled
from trialrun.judge.rubrics import minimum_score
from trialrun.model.judging import JudgeRequest, Material

__all__ = ["Judge", "JudgeRequest", "Material", "minimum_score", "settled"]
