"""Re-export of `trialrun.model.trace`, whose names users import from here."""

from trialrun.model.trace import *  # noqa: F403
