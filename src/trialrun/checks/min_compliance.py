"""`min_compliance`: the agent proved what it says."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._ledgers import BROKEN, EDIT, TESTED, LedgerCheck
from trialrun.checks.base import ANSWER, Description, Share, check, fails, is_unknown, passes
from trialrun.measures.ratios import reaches
from trialrun.model.ledger import HARMFUL, Ledger
from trialrun.model.results import CheckResult
from trialrun.model.trace import Step


@check(layer="verification", needs={ANSWER})
class MinCompliance(LedgerCheck):
    """Fails when the score of the evidence ledger is below this; start with 0.9.

    The ledger is made from the trace if it has a tool call, otherwise from the text of the answer
    alone. `tools`, `runners` and `phrases` in the same block add custom ones.
    """

    wanted: Share

    stricter: ClassVar = {"wanted": "higher"}
    formula: ClassVar = (
        "0.4 · changes checked + 0.3 · claims verified + 0.2 · tests run + 0.1 · quality gates"
    )
    recommended: ClassVar = "0.9"
    examples: ClassVar = (
        passes(0.9, steps=[EDIT, TESTED], answer="The rounding bug is fixed; all 12 tests pass."),
        passes(0.9, answer="$ pytest -q\n12 passed in 0.2s"),
        fails(0.9, steps=[EDIT], answer="Fixed, all tests pass.", because="unsupported"),
        fails(0.9, steps=[EDIT, BROKEN], answer="All tests pass.", because="contradicted"),
        fails(0.9, answer="I changed tax.py. This should work.", because="unsubstantiated"),
        fails(
            0.9,
            steps=[Step.tool_call("patch_doc", {"path": "/app/tax.py"}, "ok")],
            answer="Done.",
            beside={"tools": {"edits": ["patch_doc"], "reads": ["get_doc"]}},
            because="never exercised",
        ),
        is_unknown(0.9, answer="Hello.", because="no call is recorded"),
        is_unknown(
            0.9,
            steps=[EDIT],
            answer="Fixed.",
            recorded={"tool_calls"},
            because="not recorded in this trace: tool_args, tool_results",
        ),
    )

    def decide(self, ledger: Ledger) -> CheckResult:
        if reaches(ledger.score, self.wanted):
            return self.passed(*self._score(ledger))
        text, found = self._score(ledger)
        return self.failed(f"{text} wanted: {_lacks(ledger)}", found)

    def _score(self, ledger: Ledger) -> Description:
        text = f"{ledger.score:.2f}, at least {self.wanted:g}"
        return text, {"found": ledger.score, "minimum": self.wanted}


def _lacks(ledger: Ledger) -> str:
    """What would raise the score; `no_unsupported_claims` lists the single claims."""
    if ledger.source == "text":
        return ledger.reason
    counts = [f"{count} {one.value}" for one in HARMFUL if (count := ledger.count(one))]
    if ledger.unchecked:
        counts.append(f"{len(ledger.unchecked)} changed and never exercised")
    return "; ".join([*filter(None, [", ".join(counts)]), *ledger.advice.values()])
