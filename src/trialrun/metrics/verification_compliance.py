"""`verification_compliance`: did the agent prove what it says?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from trialrun.errors import UsageError
from trialrun.metrics._test_cases import trace_of
from trialrun.metrics.base import BuiltInMetric
from trialrun.model.ledger import Ledger, band_of
from trialrun.model.results import MetricResult
from trialrun.model.trace import ANSWER, TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS, Trace

if TYPE_CHECKING:
    from trialrun.model.case import EvalCase
    from trialrun.verification.text import TextFindings
    from trialrun.verification.text_words import Words

TOLERANCE = 1e-9


class _Patterns:
    """The default patterns of a constant, loaded when they are first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, metric: object, kind: type | None = None) -> tuple[str, ...]:
        from trialrun.verification import text_words

        found: tuple[str, ...] = getattr(text_words, self._name)
        return found


class ComplianceText:
    """How a text is read and scored: what a subclass of a compliance metric may override.

    The constants are regular expressions, case-insensitive. To add to the default ones, write
    `VERIFICATION_KEYWORDS = (*VerificationComplianceMetric.VERIFICATION_KEYWORDS, "checked by")`.
    """

    VERIFICATION_KEYWORDS: ClassVar[tuple[str, ...]] = _Patterns("READ_BACK")  # type: ignore[assignment]
    """Words before something that was read back and is then shown."""
    UNSUBSTANTIATED_PHRASES: ClassVar[tuple[str, ...]] = _Patterns("HEDGES")  # type: ignore[assignment]
    """Hedges instead of evidence: "should work"."""
    OPERATION_KEYWORDS: ClassVar[tuple[str, ...]] = _Patterns("OPERATIONS")  # type: ignore[assignment]
    """Actions that have to be checked: edited, deployed."""
    CODE_KEYWORDS: ClassVar[tuple[str, ...]] = _Patterns("CODE_WORK")  # type: ignore[assignment]
    """Words that show that a change is one of code if it names no file."""
    TEST_COMMANDS: ClassVar[tuple[str, ...]] = ()
    """Custom commands that run tests, in addition to the table of runners."""
    QUALITY_GATE_COMMANDS: ClassVar[tuple[str, ...]] = ()
    """Custom commands that check quality: linters, type checkers."""

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


class VerificationComplianceMetric(ComplianceText, BuiltInMetric):
    """How far the agent proved what it says, from 0 to 1: by its trace, or by its text alone.

    If the trace has a tool call, the evidence ledger decides; otherwise the four weighted
    components of the text. `details` holds the `reason`, the `components` and the `ledger`. A
    subclass may override the patterns for reading a text (case-insensitive) and the four
    `_score_…` methods.
    """

    name = "verification_compliance"
    unit = "ratio"
    highest = 1.0
    needs = frozenset({ANSWER})
    higher_is_better = True
    formula = (
        "0.4 · changes checked + 0.3 · claims verified + 0.2 · tests run + 0.1 · quality gates"
    )

    def __init__(self, threshold: float = 0.9, strict_mode: bool = False) -> None:
        number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold <= 1:  # refuses NaN too
            raise UsageError(f"threshold: expected a number from 0 to 1, found {threshold!r}")
        self.strict_mode = bool(strict_mode)
        self.threshold = 1.0 if self.strict_mode else float(threshold)
        self.score: float | None = None
        self.reason: str | None = None
        self.success: bool | None = None

    def lacks(self, trace: Trace, result: MetricResult) -> str | None:
        needed = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
        if trace.tool_calls:
            missing = sorted(needed - trace.recorded)
            return f"not recorded in this trace: {', '.join(missing)}" if missing else None
        ledger = result.details.get("ledger")
        if isinstance(ledger, dict) and msgspec.convert(ledger, Ledger).empty:
            return "no call is recorded, and the answer claims and shows nothing"
        return None

    def calculate(self, trace: Trace, test_case: EvalCase | None = None) -> MetricResult:
        """The score of a run, with its reason; None where the ledger has no verdict."""
        ledger = self.ledger(trace, test_case)
        score, reason = self.judged(ledger)
        if ledger.no_verdict:
            return self.result(
                None, reason=ledger.no_verdict, success=None, ledger=msgspec.to_builtins(ledger)
            )
        return self.result(
            score,
            reason=reason,
            success=score >= self.threshold - TOLERANCE,
            band=band_of(score),
            compliant=ledger.compliant,
            components=dict(ledger.components),
            ledger=msgspec.to_builtins(ledger),
        )

    def measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
        """DeepEval's interface: the score of a Trace, or of an `LLMTestCase` and the like.

        Sets `score`, `reason` and `success`. For a metric that DeepEval runs itself
        (`assert_test`), use the class of the same name in `trialrun.integrations.deepeval`.
        """
        trace = trace_of(test_case)
        if trace.output is None:
            self.score, self.success, self.reason = 0.0, False, "there is no answer"
            return self.score
        if trace.tool_calls and TOOL_RESULTS not in trace.recorded:
            # Names of tools without what they returned prove nothing: the text has to.
            trace = Trace(input=trace.input, output=trace.output)
        result = self.calculate(trace)
        self.score = float(result.value or 0.0)
        self.reason = str(result.details.get("reason") or result.details.get("message") or "")
        self.success = result.value is not None and self.score >= self.threshold - TOLERANCE
        return self.score

    async def a_measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
        """The same for async callers."""
        return self.measure(test_case)

    def is_successful(self) -> bool:
        """Whether the last measured score reached the threshold."""
        return bool(self.success)

    def ledger(self, trace: Trace, test_case: EvalCase | None = None) -> Ledger:
        """The evidence ledger of the run, or of its message if it has no tool call.

        It uses the tools, runners and phrases in the case's `verification:` block, so that the
        metric and the checks of one case use the same ledger.
        """
        from trialrun.verification import Settings, audit
        from trialrun.verification.ledger import unless_masked
        from trialrun.verification.runners import Runner, Table
        from trialrun.verification.settings import own_of
        from trialrun.verification.text_words import hedges_in

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
            ledger = audit(trace, settings)
            hedges = hedges_in(trace.answer_text or "", self._words())
            return msgspec.structs.replace(ledger, hedges=hedges)
        return unless_masked(self._ledger_of_text(trace.answer_text or "", settings), trace)

    def judged(self, ledger: Ledger) -> tuple[float, str]:
        """The score in this metric's mode, and the reason."""
        if not self.strict_mode:
            return ledger.score, ledger.reason
        if ledger.hedges or not ledger.compliant:
            return 0.0, f"strict mode: {ledger.reason}"
        return ledger.score, ledger.reason

    def _words(self) -> Words:
        from trialrun.verification.text_words import words_of

        return words_of(
            tuple(self.UNSUBSTANTIATED_PHRASES),
            tuple(self.OPERATION_KEYWORDS),
            tuple(self.CODE_KEYWORDS),
            tuple(self.VERIFICATION_KEYWORDS),
        )

    def _ledger_of_text(self, text: str, settings: Any) -> Ledger:
        from trialrun.verification import text as texts

        found = texts.read_text(text, self._words(), settings)
        components = {
            "tool_verification": self._score_tool_verification(found),
            "assertion_evidence": self._score_assertion_evidence(found),
            "test_execution": self._score_test_execution(found),
            "quality_gates": self._score_quality_gates(found),
        }
        return texts.ledger_of(found, components)
