"""`tests_after_last_edit`: tests ran after the last change of code."""

from __future__ import annotations

from typing import ClassVar

from trialrun.checks._ledgers import BROKEN, EDIT, TESTED, LedgerCheck
from trialrun.checks.base import ANSWER, check, fails, passes
from trialrun.model.ledger import Ledger
from trialrun.model.results import CheckResult
from trialrun.model.trace import TOOL_CALLS, Step


@check(layer="verification", needs={ANSWER, TOOL_CALLS})
class TestsAfterLastEdit(LedgerCheck):
    """Fails when code was changed and no test run of that code with a result came after it.

    A failed test run counts as a run: other checks compare it with what the agent says. Passes if
    no code was changed.
    """

    __test__: ClassVar = False  # pytest must not collect this class

    wanted: bool

    is_flag: ClassVar = True
    shareable: ClassVar = True
    formula: ClassVar = "last test of the changed code > last change of code"
    when_passed: ClassVar = "tests ran after the last change of code, or none was changed"
    examples: ClassVar = (
        passes(True, steps=[EDIT, TESTED], answer="Done."),
        passes(True, steps=[EDIT, BROKEN], answer="One test still fails."),
        passes(True, steps=[Step.tool_call("Read", {"file_path": "a.py"}, "x")], answer="It is x."),
        fails(True, steps=[EDIT, TESTED, EDIT], answer="Done.", because="before the last"),
        fails(True, steps=[EDIT], answer="Done.", because="no test"),
    )

    def decide(self, ledger: Ledger) -> CheckResult:
        tested = ledger.components["test_execution"]
        if tested >= 1 or ledger.source == "text":
            return self.pass_result
        if tested > 0:
            return self.failed("tests ran before the last change of code, but not after it")
        return self.failed("code was changed, but no test of it ran with a result")
