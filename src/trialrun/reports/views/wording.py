"""Words that several reports share, so that all of them say the same about a result."""

from __future__ import annotations

from collections.abc import Iterator

from trialrun.model.exchanges import exchange_lines
from trialrun.model.results import (
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerStatus,
    RunResult,
    Severity,
)
from trialrun.util.texts import counted


def exchange(result: EvaluationResult) -> Iterator[str]:
    """The question and the answer (of each turn), shown beside whatever is not green."""
    if result.status is not LayerStatus.PASS:
        yield from exchange_lines(result)


def status_word(check: CheckResult) -> str:
    """`warn` for a failed check of severity warn, else the status of the check."""
    only_warns = check.status is CheckStatus.FAIL and check.severity is Severity.WARN
    return "warn" if only_warns else check.status.value


def notes(run: RunResult, strict: bool) -> Iterator[str]:
    """What the counts of a run mean for its exit code, where the statuses alone do not say it."""
    warned = run.count(LayerStatus.WARN)
    if warned and strict:
        verb = "fails" if warned == 1 else "fail"
        yield f"{counted(warned, 'warning')} {verb} the run: --strict"
    elif warned:
        verb = "does" if warned == 1 else "do"
        yield (
            f"{counted(warned, 'warning')} {verb} not fail the run; --strict does, "
            "or `severity: fail` at the check"
        )
    failed = run.count(LayerStatus.FAIL)
    if failed and run.by_rate:
        yield f"{counted(failed, 'failed attempt')}: --min-pass-rate decides, not single failures"
