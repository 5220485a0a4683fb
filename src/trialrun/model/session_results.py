"""Verified sessions as the results of a run: each a case, with what its ledger says as checks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, repeat

from msgspec.structs import replace

from trialrun.model.attempts import Recorded
from trialrun.model.exchanges import text_to_show
from trialrun.model.ledger import Finding
from trialrun.model.results import (
    LAYERS,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    LayerStatus,
    RunResult,
    Severity,
)
from trialrun.model.statuses import fold_checks, fold_layers
from trialrun.model.trace import Trace
from trialrun.model.verified import Session, Verification


def run_of(found: Verification) -> RunResult:
    """All sessions as a run, with their traces where these were kept."""
    return RunResult(
        results=_Sessions(found),
        planned=len(found.sessions),
        unreadable=len(found.problems),
        warnings=list(found.problems),
        masked=found.masked,
        withheld=found.withheld,
        sessions=True,
    )


class _Sessions(Collection[EvaluationResult]):
    """The results of sessions, made at each iteration: their traces are not held."""

    def __init__(self, found: Verification) -> None:
        self._found = found

    def __len__(self) -> int:
        return len(self._found.sessions)

    def __contains__(self, result: object) -> bool:
        return any(result == other for other in self)

    def __iter__(self) -> Iterator[EvaluationResult]:
        return (result for result, _, _ in self.attempts())

    def attempts(self) -> Iterator[Recorded]:
        """Each session with its trace, without what a baseline knows."""
        traces = chain(self._found.traces, repeat(None))
        for session, trace in zip(self._found.sessions, traces, strict=False):
            result = result_of(session, trace, session.file)
            new = [one for one in session.ledger.findings if not session.is_known(one)]
            yield replace(result, ledger=replace(session.ledger, findings=new)), trace, None


def result_of(session: Session, trace: Trace | None, suite: str) -> EvaluationResult:
    """The session as the result of a case: what its ledger says, as checks of one layer."""
    ledger = session.ledger
    checks = list(_checks(session))
    layers = dict.fromkeys(LAYERS, LayerResult(LayerStatus.SKIP))
    layers["verification"] = LayerResult(fold_checks(checks), checks)
    result = EvaluationResult(
        case_name=session.name,
        status=fold_layers([layer.status for layer in layers.values()]),
        layers=layers,
        metrics=[],
        error=ledger.no_verdict or None,
        suite_name=suite,
        ledger=ledger,
    )
    if trace is None:
        return result
    return replace(
        result,
        agent=trace.agent_name,
        trace_id=trace.id,
        duration_ms=trace.total_duration_ms,
        total_tokens=trace.total_tokens,
        cost_usd=trace.total_cost_usd,
        question=text_to_show(trace.input),
        answer=text_to_show(trace.answer_text),
    )


def _checks(session: Session) -> Iterator[CheckResult]:
    """One check for each finding of a stable rule, else one that says what was found."""
    ledger = session.ledger
    if ledger.no_verdict:
        yield CheckResult("ledger", CheckStatus.UNKNOWN, Severity.FAIL, ledger.no_verdict)
        return
    stable = [one for one in session.findings if one.stable]
    yield from map(_check, stable)
    if not stable:
        status = CheckStatus.PASS if ledger.checked else CheckStatus.UNKNOWN
        if session.harmful:
            status = CheckStatus.FAIL
        yield CheckResult("ledger", status, Severity.WARN, ledger.reason)


def _check(finding: Finding) -> CheckResult:
    severity = Severity.FAIL if finding.is_red else Severity.WARN
    name = f"{finding.code} {finding.name}"
    data = {"steps": list(finding.steps)}
    return CheckResult(name, CheckStatus.FAIL, severity, finding.message, data=data)
