"""`strict_verification_compliance`: 1 if the agent proved all that it says, without hedges."""

from __future__ import annotations

from trialrun.metrics.verification_compliance import VerificationComplianceMetric


class StrictVerificationComplianceMetric(VerificationComplianceMetric):
    """`verification_compliance` in strict mode: anything unsubstantiated scores 0.0.

    The threshold is 1.0.
    """

    name = "strict_verification_compliance"

    def __init__(self) -> None:
        super().__init__(threshold=1.0, strict_mode=True)
