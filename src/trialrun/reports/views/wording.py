"""Words that several reports share, so that all of them say the same about a result."""

from __future__ import annotations

from collections.abc import Iterator

from trialrun.model.exchanges import exchange_lines
from trialrun.model.results import (
    CheckResult,
    CheckStatus,
    EvaluationResult,
    JudgeSpend,
    LayerStatus,
    RunResult,
    Severity,
)
from trialrun.util.money import dollars
from trialrun.util.texts import counted

_MOST_STEPS = 5


def exchange(result: EvaluationResult) -> Iterator[str]:
    """The question and the answer (of each turn), shown beside whatever is not green."""
    if result.status is not LayerStatus.PASS:
        yield from exchange_lines(result)


def case_label(result: EvaluationResult, with_suite: bool = False, with_agent: bool = True) -> str:
    """`suite · agent: case`, without the number of the attempt."""
    suite = f"{result.suite_name} · " if with_suite and result.suite_name else ""
    agent = f"{result.agent}: " if with_agent and result.agent is not None else ""
    return f"{suite}{agent}{result.case_name}"


def steps_text(check: CheckResult) -> str:
    """`step s3`, `steps s3, s5`: the steps that decided the check; "" where it names none."""
    found = check.data.get("steps", [check.data.get("step")])
    named = [str(step) for step in found if step] if isinstance(found, list) else []
    if not named:
        return ""
    more = " …" if len(named) > _MOST_STEPS else ""
    return f"step{'s' * (len(named) > 1)} {', '.join(named[:_MOST_STEPS])}{more}"


def summary_text(run: RunResult) -> str:
    """`5 cases: 2 passed, 1 failed · 1 check unknown · $0.0114`."""
    return "".join(text for text, _ in summary_parts(run))


def summary_parts(run: RunResult) -> Iterator[tuple[str, LayerStatus | None]]:
    """The summary in pieces, each with the status that it counts, if it counts one."""
    tally = run.tally
    total = counted(run.planned, "case")
    if tally.attempts != run.planned:
        total += f", {counted(tally.attempts, 'attempt')}"
    yield f"{total}: ", None
    found = [(status, word) for status, word in _COUNTED if tally.statuses[status]]
    for position, (status, word) in enumerate(found):
        yield ", " if position else "", None
        yield f"{tally.statuses[status]:,} {word}", status
    for gap, status in _gaps(run):
        yield f" · {gap}", status
    if tally.known_cost_usd is not None:
        at_least = "at least " if tally.has_unknown_cost else ""
        yield f" · {at_least}{dollars(tally.known_cost_usd)}", None
    if tally.judge is not None:
        yield f" · {_judge_spend(tally.judge)}", None


_COUNTED = (
    (LayerStatus.PASS, "passed"),
    (LayerStatus.WARN, "warned"),
    (LayerStatus.FAIL, "failed"),
    (LayerStatus.ERROR, "in error"),
)


def _gaps(run: RunResult) -> Iterator[tuple[str, LayerStatus]]:
    """What the verdicts do not rest on."""
    tally = run.tally
    if tally.unknown_checks:
        yield f"{counted(tally.unknown_checks, 'check')} unknown", LayerStatus.ERROR
    if tally.without_baseline:
        yield f"{counted(tally.without_baseline, 'case')} without a baseline", LayerStatus.WARN
    if tally.retried:
        yield f"{counted(tally.retried, 'attempt')} retried", LayerStatus.WARN
    if run.incomplete:
        yield "incomplete", LayerStatus.ERROR
    if run.unreadable:
        yield f"{counted(run.unreadable, 'trace')} unreadable", LayerStatus.ERROR


def _judge_spend(spend: JudgeSpend) -> str:
    """`judge: 12 calls, 3 from the cache, $0.0021`: the cost of judges, apart from the agent's."""
    parts = [counted(spend.calls, "call")]
    if spend.cached:
        parts.append(f"{spend.cached} from the cache")
    if spend.calls:
        parts.append("cost unknown" if spend.cost_usd is None else dollars(spend.cost_usd))
    return f"judge: {', '.join(parts)}"


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
