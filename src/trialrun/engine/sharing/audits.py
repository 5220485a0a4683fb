"""An audit of a judge as it may be shared: its measurements, and which answers it got wrong."""

from __future__ import annotations

from msgspec.structs import replace

from trialrun.model.audit import Audit, Disagreement, Opinion
from trialrun.model.withheld import LEFT_OUT, Withheld
from trialrun.redaction import masks_in


def shared_audit(audit: Audit) -> Audit:
    """The audit without rubrics, and without the reasons of the judge and of the checks."""
    withheld = Withheld()
    return replace(
        audit,
        disagreements=[_disagreement(one, withheld) for one in audit.disagreements],
        opinions=[_opinion(one, withheld) for one in audit.opinions],
        masked=masks_in(audit.texts),
        withheld=withheld,
    )


def _opinion(one: Opinion, withheld: Withheld) -> Opinion:
    withheld.add("rubric")
    return replace(one, rule=LEFT_OUT)


def _disagreement(one: Disagreement, withheld: Withheld) -> Disagreement:
    withheld.add("rubric")
    withheld.add("reason", 1 + bool(one.rationale))
    # The name of the check comes first: `not_in_answer: in the answer, but must not be: …`.
    name, colon, _ = one.against.partition(": ")
    return replace(one, rule=LEFT_OUT, against=f"{name}{colon}{LEFT_OUT}", rationale="")
