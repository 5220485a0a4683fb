"""The base of the verification checks: the evidence ledger, and a spec's additions to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import msgspec
from msgspec.structs import replace

from trialrun.checks.base import JudgedCheck
from trialrun.model.case import Rubric
from trialrun.model.judging import Inquiry, JudgeRequest, Material
from trialrun.model.ledger import ClaimVerdict, Ledger
from trialrun.model.results import CheckResult, Verdict
from trialrun.model.trace import TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS, Step, Trace
from trialrun.redaction import is_masked
from trialrun.util.texts import excerpt
from trialrun.verification.settings import (
    CLAIM_KINDS,
    OwnRunner,
    OwnTools,
    RuleSeverity,
    Settings,
    settings_of,
)

Decided = Mapping[str, ClaimVerdict]

NEEDED_OF_A_CALL = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
"""What must be recorded of each call for the ledger to judge it."""


SHOWN = Rubric(
    rule=(
        "The steps of the run show that the statement is true. A statement that the steps "
        "contradict, or that nothing in them bears on, is not shown. An opinion, a plan or advice "
        "counts as shown."
    ),
    threshold=0.8,
)
"""The rubric for a statement that no rule decides, with `claims: judge`."""

MOST_ASKED = 20
"""Statements of one message that are put to the judge."""

MOST_STEPS = 12
"""Calls of the run that the judge gets with each statement: those that bear on it."""

LONGEST_STEP = 2_000
"""Characters of each of them: its beginning and its end."""

_COMMON = 0.3  # a word in more of the calls than this says nothing about any of them
_WORD = re.compile(r"[a-z_][a-z0-9_]{2,}|\d+")


class LedgerCheck(JudgedCheck):
    """A check of the run's evidence ledger."""

    judged: ClassVar = False  # the instance overrides it with `claims: judge`
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
{", ".join(CLAIM_KINDS)}.

Example:
  verification: {{min_compliance: 0.9, phrases: {{tests: ["the hamster runs"]}}}}""",
        "claims": """\
Who decides: rules alone (`phrases`, the default), or a judge for the statements of the last
message that no rule decides (`judge`), at most 20 of them, each with the 12 calls of the run that
bear on it most. With a judge the check costs money, and is unknown if the judge gives no verdict.

Example:
  verification: {min_compliance: 0.9, claims: judge}""",
        "select": """\
The rules that are on, by code, by the beginning of codes, or by name; default: all of them.
`trialrun explain` lists them.

Example:
  verification: {no_unsupported_claims: true, select: [TR1, not-committed]}""",
        "ignore": """\
The rules that are off, by code, by the beginning of codes, or by name.

Example:
  verification: {no_unsupported_claims: true, ignore: [TR105]}""",
        "severity": """\
The severity of the findings of a rule: `fail` or `warn`. That of the checks themselves is given by
`min_compliance: {value: 0.9, severity: fail}`.

Example:
  verification: {no_unsupported_claims: true, severity: {TR104: warn}}""",
    }
    spec_keys: ClassVar = {"rule_severity": "severity"}

    wanted: bool | float
    tools: OwnTools | None = None
    runners: list[OwnRunner] = msgspec.field(default_factory=list)
    phrases: dict[str, list[str]] | None = None
    claims: Literal["phrases", "judge"] = "phrases"
    select: list[str] = msgspec.field(default_factory=list)
    ignore: list[str] = msgspec.field(default_factory=list)
    rule_severity: dict[str, RuleSeverity] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        self.__dict__["settings"] = None
        # With a judge the check costs money, and runs after the free checks.
        self.__dict__["judged"] = self.claims == "judge"
        super().__post_init__()

    def validate(self) -> None:
        self.__dict__["settings"] = settings_of(
            self.tools, self.runners, self.phrases, self.select, self.ignore, self.rule_severity
        )

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        reason = self.why_unknown(trace)
        return self.concluded(trace) if reason is None else reason

    def concluded(self, trace: Trace, decided: Decided | None = None) -> CheckResult:
        """The result by the ledger; `decided` are the judge's verdicts on undecided statements."""
        ledger = self._ledger(trace, decided)
        if ledger.no_verdict:
            return self.unknown(ledger.no_verdict)
        if ledger.empty:  # an agent that does nothing and says nothing has proven nothing
            return self.unknown("no call is recorded, and the answer claims and shows nothing")
        return self.decide(ledger)

    def _ledger(self, trace: Trace, decided: Decided | None = None) -> Ledger:
        from trialrun.verification import audit

        settings: Settings | None = self.__dict__["settings"]
        return audit(trace, settings, decided)

    def rubrics_asked(self) -> Sequence[Rubric]:
        return (SHOWN,)

    def inquiry(self, run: Trace, turn: int | None) -> Inquiry | CheckResult:
        """One request for each statement that no rule decides; then the ledger decides."""
        trace = run if turn is None else run.turns()[turn - 1]
        unknown = self.why_unknown(trace)
        if unknown is not None:
            return unknown
        ledger = self._ledger(trace)
        undecided = [one for one in ledger.claims if one.verdict is ClaimVerdict.NOT_CHECKABLE]
        texts = list(dict.fromkeys(claim.text for claim in undecided))[:MOST_ASKED]
        bearing = _Bearing(trace) if texts else None
        requests = [
            JudgeRequest(
                rubric=SHOWN,
                question=trace.input,
                answer=text,
                context=[Material("steps of the run, the last ones last", bearing.on(text))],
            )
            for text in texts
            if bearing is not None
        ]
        return Inquiry(requests, lambda verdicts: self._settled(trace, requests, verdicts))

    def _settled(
        self, trace: Trace, requests: Sequence[JudgeRequest], verdicts: Sequence[Verdict]
    ) -> CheckResult:
        pairs = [(one.answer, found) for one, found in zip(requests, verdicts, strict=True)]
        undecided = [text for text, verdict in pairs if verdict.passed is None]
        if undecided:
            message = f"the judge does not say whether the run shows this: {excerpt(undecided[0])}"
            return replace(self.unknown(message), verdicts=list(verdicts))
        decided = {
            str(text): ClaimVerdict.VERIFIED if verdict.passed else ClaimVerdict.UNSUPPORTED
            for text, verdict in pairs
        }
        result = self.concluded(trace, decided)
        message = f"{result.message} (undecided statements by a judge)"
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


class _Bearing:
    """Finds the calls of a run that bear on a statement: those that share rare words with it."""

    def __init__(self, trace: Trace) -> None:
        self.texts = [_step_text(step) for step in trace.tool_calls]
        self.words: dict[str, list[int]] = {}
        for index, text in enumerate(self.texts):
            for word in set(_WORD.findall(text.lower())):
                self.words.setdefault(word, []).append(index)

    def on(self, statement: str) -> str:
        """The calls for the judge, in their order; without a shared word, the last ones."""
        weights: Counter[int] = Counter()
        most = max(3, int(len(self.texts) * _COMMON))
        for word in set(_WORD.findall(statement.lower())):
            places = self.words.get(word, [])
            if len(places) <= most:
                for index in places:
                    weights[index] += 1
        # Of equally many shared words, the later call counts: it is closer to what was said.
        chosen = sorted(weights, key=lambda index: (-weights[index], -index))[: MOST_STEPS - 2]
        last = range(max(0, len(self.texts) - (2 if chosen else MOST_STEPS)), len(self.texts))
        return "\n\n".join(self.texts[index] for index in sorted({*chosen, *last}))


def _step_text(step: Step) -> str:
    head = f"[{step.id}] {step.tool_name} {step.tool_args} ({step.status.value})"
    text = f"{head}\n{step.tool_result}"
    if len(text) <= LONGEST_STEP:
        return text
    return f"{text[: LONGEST_STEP // 2]}\n…\n{text[-LONGEST_STEP // 2 :]}"


def _is_masked(step: Step) -> bool:
    return is_masked([step.tool_name, step.tool_args, step.tool_result])


# For the examples of the checks: an edit, and runs of its tests.
EDIT = Step.tool_call("Edit", {"file_path": "/app/tax.py", "new_string": "x"}, "updated")
TESTED = Step.tool_call("Bash", {"command": "cd /app && pytest -q"}, "12 passed in 0.2s")
BROKEN = Step.tool_call("Bash", {"command": "cd /app && pytest -q"}, "1 failed, 11 passed in 0.2s")
