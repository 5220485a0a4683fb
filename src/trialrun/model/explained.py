"""Why a result did not pass, in words: for assertions in tests, and for `repr`."""

from __future__ import annotations

from collections.abc import Iterator

from trialrun.model.exchanges import exchange_lines
from trialrun.model.results import CheckStatus, EvaluationResult, LayerStatus, RunResult, Severity
from trialrun.util.texts import counted

_LONGEST_REPR = 200
"""pytest cuts one of more than 240 characters in the middle."""

_LONGEST_NAME = 40

_LONGEST_TEXT = 500
_MOST_CASES = 20
_SHOWN = (CheckStatus.FAIL, CheckStatus.UNKNOWN)


def reasons(result: EvaluationResult) -> Iterator[str]:
    """The error of the case, then each check that failed or is unknown."""
    return (reason for _, reason in _ranked(result))


def _ranked(result: EvaluationResult) -> Iterator[tuple[int, str]]:
    """Each reason with its weight: 0 if it decides alone, 1 if it only warns."""
    if result.error is not None:
        yield 0, result.error
    for layer, check in result.checks():
        if check.status in _SHOWN:
            turn = "" if check.turn is None else f" (turn {check.turn})"
            status = check.status.value
            if check.status is CheckStatus.FAIL:
                status = check.severity.value
            rank = int(check.severity is Severity.WARN)
            yield rank, f"{layer} · {check.name}{turn} {status}: {check.message}"


def summarized(result: EvaluationResult) -> str:
    """One short line: the status, the reasons as far as they fit, and the case."""
    name = _cut(result.case_name, _LONGEST_NAME)
    space = _LONGEST_REPR - len(f"<EvaluationResult  ({name})>")
    return f"<EvaluationResult {_cut(_status_and_reasons(result), space)} ({name})>"


def summarized_run(run: RunResult) -> str:
    """One short line: how many results did not pass, and the first of them with its reason."""
    return f"<RunResult {_cut(_run_in_short(run), _LONGEST_REPR - len('<RunResult >'))}>"


def _run_in_short(run: RunResult) -> str:
    if run.planned == 0:
        return "nothing was run"
    total = counted(run.tally.attempts, "result")
    wrong = run.tally.attempts - run.count(LayerStatus.PASS) - run.count(LayerStatus.WARN)
    if wrong:
        first = next(result for result in run.results if not result.passed)
        named = f"{_cut(first.case_name, _LONGEST_NAME)}: {_status_and_reasons(first)}"
        return f"{wrong} of {total} did not pass: {named}"
    return f"{total}, passed" if run.passed else f"{total}, not passed: {_why_not(run)}"


def _why_not(run: RunResult) -> str:
    """Why a run did not pass although each of its results did."""
    found = [f"{gate.name}: {gate.message}" for gate in run.gates if gate.holds is not True]
    if run.unreadable:
        found.append(f"{counted(run.unreadable, 'trace')} could not be read")
    if run.tally.cases < run.planned:
        found.append(f"{run.tally.cases} of {run.planned} cases have a result")
    return " | ".join(found or ["the run is incomplete"])


def _status_and_reasons(result: EvaluationResult) -> str:
    """`FAIL: reason | reason`: what decided first, because the end may be cut off."""
    found = [reason for _, reason in sorted(_ranked(result), key=lambda ranked: ranked[0])]
    status = result.status.value.upper()
    return f"{status}: {' | '.join(found)}" if found else status


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def explained(result: EvaluationResult) -> str:
    """The case with its question, its answer and every reason, a line each."""
    attempt = f", attempt {result.attempt}" if result.attempt > 1 else ""
    lines = [f"{result.case_name}{attempt}: {result.status.value.upper()}"]
    for text in exchange_lines(result):
        shown = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
        lines.append(f"  {shown}")
    lines += [f"  {reason}" for reason in reasons(result)]
    lines += [f"  tool call · {call}" for call in result.failed_calls]
    return "\n".join(lines)


def explained_run(run: RunResult, strict: bool) -> str:
    """Every attempt that did not pass, and every gate that does not hold."""
    if run.planned == 0:
        return "nothing was run: no case was planned"
    passing = (LayerStatus.PASS,) if strict else (LayerStatus.PASS, LayerStatus.WARN)
    wrong = [result for result in run.results if result.status not in passing]
    total = len(run.results)
    lines = [f"{len(wrong)} of {total} {'result' if total == 1 else 'results'} did not pass"]
    lines += [explained(result) for result in wrong[:_MOST_CASES]]
    if len(wrong) > _MOST_CASES:
        lines.append(f"and {len(wrong) - _MOST_CASES} more")
    lines += [f"{gate.name}: {gate.message}" for gate in run.gates if gate.holds is not True]
    if run.unreadable:
        lines.append(f"{counted(run.unreadable, 'trace')} could not be read")
    return "\n".join(lines)
