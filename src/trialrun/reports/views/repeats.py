"""Repeated cases in the terminal: a line a case, with one sign for each attempt, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from trialrun.model.results import CaseStability, EvaluationResult, LayerStatus, RunResult
from trialrun.reports.views.consoles import Line, columns, padded
from trialrun.reports.views.printable import one_line
from trialrun.reports.views.reasons import INDENT, MARKS, STYLES, reason_lines
from trialrun.util.lazy_patterns import lazy_pattern

_HISTORY = {status.value: mark for status, mark in MARKS.items()}
_MOST_ANSWERS = 3  # of a case
_STEPS = lazy_pattern(r" \(steps? [^()]*\)$")  # " (step s4)" at the end of a reason
_IS_ANSWER = lazy_pattern(r" {7}(?:turn \d+ )?answer: ")  # "       turn 2 answer: 30 days"

WORDS = ("FAIL", "FLAKY", "ERROR", "WARN", "PASS")
"""The words of cases, worst first."""

_WORD_STYLES = {
    "FAIL": STYLES[LayerStatus.FAIL],
    "FLAKY": STYLES[LayerStatus.WARN],
    "ERROR": STYLES[LayerStatus.ERROR],
    "WARN": STYLES[LayerStatus.WARN],
    "PASS": STYLES[LayerStatus.PASS],
}

Case = tuple[str, list[Line]]
"""The word of a case, and its lines."""


def cases(run: RunResult, verbose: bool, most: int | None) -> list[Case]:
    """The cases, the worst first; of each word at most so many, so that memory is bounded."""
    with_agent = len({case.agent for case in run.stability}) > 1
    with_suite = len({case.suite_name for case in run.stability}) > 1
    named = [_name(case, with_suite, with_agent) for case in run.stability]
    widest = min(40, max(map(columns, named), default=0))
    by_case = dict(
        zip(map(_key, run.stability), zip(run.stability, named, strict=True), strict=True)
    )
    found: dict[str, list[Case]] = {word: [] for word in WORDS}
    for key, results in groupby(run.results, key=_key_of_result):
        case, name = by_case.get(key, (None, ""))
        word = "ERROR" if case is None else word_of(case)
        if most is not None and len(found[word]) >= most:
            continue
        line = _not_run(key, with_agent) if case is None else _line(case, padded(name, widest))
        found[word].append((word, [line, *_shared_reasons(results, verbose)]))
    chosen = [case for word in WORDS for case in found[word]]
    return chosen if most is None else chosen[:most]


def _not_run(key: tuple[str, str | None, str], with_agent: bool) -> Line:
    _, agent, name = key
    return Line(f"ERROR {one_line(f'{agent}: {name}' if with_agent and agent else name)}")


def _shared_reasons(results: Iterable[EvaluationResult], verbose: bool) -> Iterator[Line]:
    """Each reason once, with the numbers of the attempts that share it."""
    attempts_by_reason: dict[str, tuple[Line, list[int]]] = {}
    answers: dict[str, set[str]] = {}  # by turn
    for result in results:
        for reason in reason_lines(result, verbose):
            answer = _IS_ANSWER.match(reason.plain)
            if answer:
                given = answers.setdefault(answer[0], set())
                given.add(reason.plain)
                if len(given) > _MOST_ANSWERS and reason.plain not in attempts_by_reason:
                    continue
            # Ids of steps may differ from attempt to attempt: they do not set reasons apart.
            key = _STEPS.sub("", reason.plain)
            first, attempts = attempts_by_reason.setdefault(key, (reason, []))
            attempts.append(result.attempt)
            if first.plain != reason.plain:
                attempts_by_reason[key] = (first[: len(key)], attempts)
    for reason, attempts in attempts_by_reason.values():
        yield Line(INDENT) + _numbers(attempts) + reason[len(INDENT) - 1 :]


def _numbers(attempts: Sequence[int]) -> Line:
    shown = " ".join(f"#{number}" for number in attempts[:8])
    return Line(f"{shown} …" if len(attempts) > 8 else shown, style="dim")


def _key_of_result(result: EvaluationResult) -> tuple[str, str | None, str]:
    return result.suite_name or "", result.agent, result.case_name


def _key(case: CaseStability) -> tuple[str, str | None, str]:
    return case.suite_name, case.agent, case.case_name


def _name(case: CaseStability, with_suite: bool, with_agent: bool) -> str:
    suite = f"{one_line(case.suite_name)} · " if with_suite else ""
    agent = f"{one_line(case.agent)}: " if with_agent and case.agent else ""
    return f"{suite}{agent}{one_line(case.case_name)}"


def word_of(case: CaseStability) -> str:
    """FLAKY, ERROR, FAIL, WARN or PASS."""
    found = case.stability
    if found.flips:
        return "FLAKY"
    if found.errors:
        return "ERROR"
    if found.failures:
        return "FAIL"
    return "WARN" if LayerStatus.WARN.value in found.history else "PASS"


def _line(case: CaseStability, name: str) -> Line:
    found, word = case.stability, word_of(case)
    warned = sum(status == LayerStatus.WARN.value for status in found.history)
    line = Line()
    line.append(f"{word:<6}", style=_WORD_STYLES[word])
    line.append(f"{name}  ")
    line.append("".join(_HISTORY[status] for status in found.history[-40:]) + "  ")
    judged = found.passes + found.failures
    line.append(f"{found.passes} of {judged} passed" if judged else "no verdict")
    if warned:
        line.append(f", {warned} with a warning", style=STYLES[LayerStatus.WARN])
    if found.interval is not None:
        low, high = found.interval
        line.append(f", 95% interval {low:.0%} to {high:.0%}", style="dim")
    if found.errors:
        line.append(f", {found.errors} in error", style=STYLES[LayerStatus.ERROR])
    if found.flips:
        sources = ", ".join(dict.fromkeys(flip.source for flip in found.flips))
        line.append(f" · flips: {len(found.flips)} ({sources})", style=_WORD_STYLES[word])
    return line


def pass_lines(run: RunResult) -> Iterator[str]:
    """pass@k and pass^k as means over the cases, for every k that all cases have."""
    from statistics import fmean  # slow to import, and seldom needed

    judged = [case.stability for case in run.stability if case.stability.pass_at]
    if not judged:
        return
    most = min(len(case.pass_at) for case in judged)
    chosen = [k for k in (1, 2, 3, 5, 10, 20, 50, 100) if k < most] + [most]
    at = ", ".join(f"@{k} {fmean(case.pass_at[k] for case in judged):.0%}" for k in chosen)
    hat = ", ".join(f"^{k} {fmean(case.pass_hat[k] for case in judged):.0%}" for k in chosen)
    of_cases = "" if len(judged) == run.planned else f", in {len(judged)} of {run.planned} cases"
    yield f"at least one of k attempts passes{of_cases}: pass{at}"
    yield f"all of k attempts pass{of_cases}: pass{hat}"
