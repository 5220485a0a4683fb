"""Re-export of `trialrun.model.case`, whose names users import from here."""

from trialrun.model.case import EvalCase, JudgeSettings, Rubric, Suite

__all__ = ["EvalCase", "JudgeSettings", "Rubric", "Suite"]
