"""`verification_compliance`: did the agent prove what it says?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from trialrun.errors import UsageError
from trialrun.metrics.base import BuiltInMetric
from trialrun.model.ledger import Ledger, band_of
from trialrun.model.results import MetricResult
from trialrun.model.trace import TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase
    from trialrun.verification.text import TextFindings

TOLERANCE = 1e-9


class VerificationComplianceMetric(BuiltInMetric):
    """How far the agent proved what it says, from 0 to 1: by its trace, or by its text alone.

    If the trace has a tool call, the evidence ledger decides; otherwise the four weighted
    components of the text. `details` holds the `reason`, the `components` and the `ledger`. A
    subclass may override the patterns for reading a text (case-insensitive) and the four
    `_score_…` methods.
    """

    name = "verification_compliance"
    unit = "ratio"
    needs = frozenset()
    higher_is_better = True
    formula = (
        "0.4 · changes checked + 0.3 · claims verified + 0.2 · tests run + 0.1 · quality gates"
    )

    VERIFICATION_KEYWORDS: ClassVar[tuple[str, ...]]
    """Words before something that was read back and is then shown."""
    UNSUBSTANTIATED_PHRASES: ClassVar[tuple[str, ...]]
    """Hedges instead of evidence: "should work"."""
    OPERATION_KEYWORDS: ClassVar[tuple[str, ...]]
    """Actions that have to be checked: edited, deployed."""
    CODE_KEYWORDS: ClassVar[tuple[str, ...]]
    """Words that show that a change is one of code if it names no file."""
    TEST_COMMANDS: ClassVar[tuple[str, ...]] = ()
    """Custom commands that run tests, in addition to the table of runners."""
    QUALITY_GATE_COMMANDS: ClassVar[tuple[str, ...]] = ()
    """Custom commands that check quality: linters, type checkers."""

    def __init__(self, threshold: float = 0.9, strict_mode: bool = False) -> None:
        number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold <= 1:  # refuses NaN too
            raise UsageError(f"threshold: expected a number from 0 to 1, found {threshold!r}")
        self.strict_mode = bool(strict_mode)
        self.threshold = 1.0 if self.strict_mode else float(threshold)

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        """The score of a run, with its reason."""
        if trace.tool_calls and not trace.recorded >= {TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS}:
            missing = ", ".join(sorted({TOOL_ARGS, TOOL_RESULTS, TOOL_CALLS} - trace.recorded))
            return self.result(None, message=f"not recorded: {missing}")
        ledger = self.ledger(trace, test_case)
        score, reason = self.judged(ledger)
        return self.result(
            score,
            reason=reason,
            success=score >= self.threshold - TOLERANCE,
            band=band_of(score),
            compliant=ledger.compliant,
            components=dict(ledger.components),
            ledger=msgspec.to_builtins(ledger),
        )

    def ledger(self, trace: Trace, test_case: EvalCase | None = None) -> Ledger:
        """The evidence ledger of the run, or of its message if it has no tool call.

        It uses the tools, runners and phrases in the case's `verification:` block, so that the
        metric and the checks of one case use the same ledger.
        """
        from trialrun.verification import Settings, audit
        from trialrun.verification.runners import Runner, Table
        from trialrun.verification.settings import own_of

        block = getattr(test_case, "verification", None)
        tools, rows, phrases = own_of(block if isinstance(block, dict) else None)
        rows += [
            Runner(name=command, kind=kind, commands=(command,))
            for kind, commands in (
                ("test", self.TEST_COMMANDS),
                ("lint", self.QUALITY_GATE_COMMANDS),
            )
            for command in commands
        ]
        settings = Settings(tools, Table(rows) if rows else None, phrases)
        if trace.tool_calls:
            return audit(trace, settings)
        return self._ledger_of_text(trace.output or "", settings)

    def judged(self, ledger: Ledger) -> tuple[float, str]:
        """The score in this metric's mode, and the reason."""
        if not self.strict_mode:
            return ledger.score, ledger.reason
        if ledger.hedges or not ledger.compliant:
            return 0.0, f"strict mode: {ledger.reason}"
        return ledger.score, ledger.reason

    def _ledger_of_text(self, text: str, settings: Any) -> Ledger:
        from trialrun.verification import text as texts
        from trialrun.verification.shown import READ_BACK

        def patterns(name: str, ours: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(getattr(self, name, ours))

        words = texts.words_of(
            patterns("UNSUBSTANTIATED_PHRASES", texts.DEFAULT_HEDGES),
            patterns("OPERATION_KEYWORDS", texts.DEFAULT_OPERATIONS),
            patterns("CODE_KEYWORDS", texts.DEFAULT_CODE_WORK),
            patterns("VERIFICATION_KEYWORDS", (READ_BACK,)),
        )
        found = texts.read_text(text, words, settings.table, settings.phrases)
        components = {
            "tool_verification": self._score_tool_verification(found),
            "assertion_evidence": self._score_assertion_evidence(found),
            "test_execution": self._score_test_execution(found),
            "quality_gates": self._score_quality_gates(found),
        }
        return texts.ledger_of(found, components)

    def _score_tool_verification(self, found: TextFindings) -> float:
        from trialrun.verification import text as texts

        return texts.tool_verification(found)

    def _score_assertion_evidence(self, found: TextFindings) -> float:
        from trialrun.verification import text as texts

        return texts.assertion_evidence(found)

    def _score_test_execution(self, found: TextFindings) -> float:
        from trialrun.verification import text as texts

        return texts.test_execution(found)

    def _score_quality_gates(self, found: TextFindings) -> float:
        from trialrun.verification import text as texts

        return texts.quality_gates(found)


class StrictVerificationComplianceMetric(VerificationComplianceMetric):
    """The same in strict mode: the threshold is 1.0, and anything unsubstantiated scores 0.0."""

    def __init__(self) -> None:
        super().__init__(threshold=1.0, strict_mode=True)
