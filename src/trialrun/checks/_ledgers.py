"""The base of the verification checks: the evidence ledger, and a spec's additions to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec
from msgspec.structs import replace

from trialrun.checks.base import JudgedCheck
from trialrun.model.case import Rubric
from trialrun.model.judging import Inquiry, JudgeRequest, Material
from trialrun.model.ledger import Ledger
from trialrun.model.results import CheckResult, Verdict
from trialrun.model.trace import TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS, Step, Trace
from trialrun.redaction import is_masked
from trialrun.util.texts import excerpt
from trialrun.verification.kinds import kinds_known
from trialrun.verification.settings import OwnRunner, OwnTools, Settings, settings_of

NEEDED_OF_A_CALL = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
"""What must be recorded of each call for the ledger to judge it."""


CLAIM = Rubric(
    rule=(
        "The statement asserts as a fact how the work, the code, the data or the running system is "
        "now, or what a check of it showed. It does not if it is a plan, an offer, a question, an "
        "instruction, a condition, a quotation, a heading, or a mere report of something done."
    ),
    threshold=0.8,
)
"""The rubric for a statement of the final message, with `claims: judge`."""


class LedgerCheck(JudgedCheck):
    """A check of the run's evidence ledger."""

    judged: ClassVar = False  # the instance overrides it with `claims: judge`
    audited: ClassVar = False
    about_settings: ClassVar = {
        "tools": """\
What custom tools do, by their names: `edits` change files, `reads` show them, `runs` take a shell
command. A tool that is not listed is classified by its name and arguments, as far as possible.

Example:
  verification:
    min_compliance: 0.9
    tools: {edits: [patch_doc], reads: [get_doc], runs: [exec]}""",
        "runners": """\
Custom test runners, linters and similar programs, in addition to the built-in ones: how each is
called, and how its output is read. `kind` is test, lint, types, build, format, config or probe;
`passed`, `failed` and `nothing` are regular expressions for its output, and its exit status counts
if none of them matches. With `languages` its results count only for files of these languages.

Example:
  verification:
    min_compliance: 0.9
    runners:
      - {name: hamster, kind: test, command: hamster run, passed: "ALL GOOD", failed: "BROKEN"}""",
        "phrases": f"""\
Further phrases that make a statement a claim, by the kind of claim. The kinds are
{", ".join(kinds_known())}.

Example:
  verification: {{min_compliance: 0.9, phrases: {{tests: ["the hamster runs"]}}}}""",
        "claims": """\
How claims are found: by phrases (`phrases`, the default), or with a judge for the statements that
no phrase decides (`judge`). With a judge the check costs money, and is unknown if the judge gives
no verdict.

Example:
  verification: {min_compliance: 0.9, claims: judge}""",
    }

    wanted: bool | float
    tools: OwnTools | None = None
    runners: list[OwnRunner] = msgspec.field(default_factory=list)
    phrases: dict[str, list[str]] | None = None
    claims: Literal["phrases", "judge"] = "phrases"

    def __post_init__(self) -> None:
        self.__dict__["settings"] = None
        # With a judge the check costs money, and runs after the free checks.
        self.__dict__["judged"] = self.claims == "judge"
        super().__post_init__()

    def validate(self) -> None:
        self.__dict__["settings"] = settings_of(self.tools, self.runners, self.phrases)

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        reason = self.why_unknown(trace)
        return self.concluded(trace) if reason is None else reason

    def concluded(self, trace: Trace, claimed: frozenset[str] | None = None) -> CheckResult:
        """The result by the ledger; `claimed` are statements that the judge found to be claims."""
        from trialrun.verification import audit

        settings: Settings | None = self.__dict__["settings"]
        ledger = audit(trace, settings, claimed)
        if ledger.empty:  # an agent that does nothing and says nothing has proven nothing
            return self.unknown("no call is recorded, and the answer claims and shows nothing")
        return self.decide(ledger)

    def rubrics_asked(self) -> Sequence[Rubric]:
        return (CLAIM,)

    def inquiry(self, run: Trace, turn: int | None) -> Inquiry | CheckResult:
        """One request for each statement that no phrase decides; then the ledger decides."""
        from trialrun.verification.claims import doubtful

        trace = run if turn is None else run.turns()[turn - 1]
        unknown = self.why_unknown(trace)
        if unknown is not None:
            return unknown
        message = trace.answer_text or ""
        whole = [Material("the whole message", message)]
        requests = [
            JudgeRequest(rubric=CLAIM, question=trace.input, answer=text, context=whole)
            for text in doubtful(message, self.phrases)
        ]
        return Inquiry(requests, lambda verdicts: self._settled(trace, requests, verdicts))

    def _settled(
        self, trace: Trace, requests: Sequence[JudgeRequest], verdicts: Sequence[Verdict]
    ) -> CheckResult:
        pairs = [(one.answer, found) for one, found in zip(requests, verdicts, strict=True)]
        undecided = [text for text, verdict in pairs if verdict.passed is None]
        if undecided:
            message = f"the judge does not say whether this is a claim: {excerpt(undecided[0])}"
            return replace(self.unknown(message), verdicts=list(verdicts))
        claimed = frozenset(text for text, verdict in pairs if verdict.passed)
        result = self.concluded(trace, claimed)
        message = f"{result.message} (claims found by phrases and by a judge)"
        return replace(result, message=message, verdicts=list(verdicts))

    def why_unknown(self, trace: Trace) -> CheckResult | None:
        """The unknown result if this run cannot be judged, else None."""
        needs = self.needs | NEEDED_OF_A_CALL if trace.tool_calls else self.needs
        if not needs <= trace.recorded:
            missing = ", ".join(sorted(needs - trace.recorded))
            return self.unknown(f"not recorded in this trace: {missing}")
        if is_masked(trace.output) or any(_is_masked(step) for step in trace.tool_calls):
            return self.redacted("the answer, of calls or of results")
        return None

    def decide(self, ledger: Ledger) -> CheckResult:
        """The result of this check for the ledger."""
        raise NotImplementedError


def _is_masked(step: Step) -> bool:
    return is_masked([step.tool_name, step.tool_args, step.tool_result])


# For the examples of the checks: an edit, and runs of its tests.
EDIT = Step.tool_call("Edit", {"file_path": "/app/tax.py", "new_string": "x"}, "updated")
TESTED = Step.tool_call("Bash", {"command": "cd /app && pytest -q"}, "12 passed in 0.2s")
BROKEN = Step.tool_call("Bash", {"command": "cd /app && pytest -q"}, "1 failed, 11 passed in 0.2s")
