"""Did the agent prove what it says? The evidence ledger of a run, and of a text alone."""

from __future__ import annotations

from trialrun.verification.ledger import audit
from trialrun.verification.runners import Runner
from trialrun.verification.settings import Settings

__all__ = ["Runner", "Settings", "audit"]
