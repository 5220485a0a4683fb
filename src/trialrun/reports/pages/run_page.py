"""A run: its verdict in one line, what broke first, and figures by agent and by model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import Protocol

from msgspec import Struct

from trialrun.measures.stability import wilson_interval
from trialrun.model.attempts import Recorded, attempts_of
from trialrun.model.results import EvaluationResult, LayerStatus, RunResult, Tally
from trialrun.redaction import Redactor, redact
from trialrun.reports.pages.attempt_part import Made
from trialrun.reports.pages.case_page import CasePage, case_page
from trialrun.reports.pages.rows import Row, row_of
from trialrun.reports.pages.texts import TITLES, amount, number
from trialrun.reports.views.origin import origin_line
from trialrun.util.texts import counted


class Chip(Struct, frozen=True):
    """A count that can be a filter."""

    word: str
    count: int
    text: str


class RunHead(Struct, frozen=True, kw_only=True):
    """The first screen of a run."""

    word: str
    sentence: str
    chips: Sequence[Chip]
    figures: Sequence[tuple[str, str]]
    gates: Sequence[tuple[str, str, str]]  # word, name, message
    warnings: Sequence[str]
    origin: str
    run_id: str
    total: int
    noun: str  # of what it has rows


def cases_of(run: RunResult) -> Iterator[tuple[CasePage, Row, list[Made]]]:
    """Each case of the run with its page and its row, in the order of the plan."""
    return cases_in(attempts_of(run), run)


def cases_in(
    attempts: Iterable[Recorded], run: RunResult
) -> Iterator[tuple[CasePage, Row, list[Made]]]:
    """The same for some attempts of the run."""
    stability = {(one.suite_name, one.agent, one.case_name): one for one in run.stability}
    redactor = Redactor()
    numbers = count()

    def key_of(one: Recorded) -> _Key:
        # Sessions may have the same name: each has a page of its own.
        return *_key(one[0]), next(numbers) if run.sessions else 0

    for place, (key, group) in enumerate(groupby(attempts, key=key_of)):
        made = [Made(*one) for one in group]
        private = run.withheld is not None
        page = case_page(place, made, stability.get(key[:3]), redactor, private=private)
        yield page, row_of(page, made), made


_Key = tuple[str, str | None, str, int]


def _key(result: EvaluationResult) -> tuple[str, str | None, str]:
    return result.suite_name or "", result.agent, result.case_name


class Worded(Protocol):
    """A case with the word for all its attempts."""

    @property
    def word(self) -> str: ...


def head_of(run: RunResult, rows: Sequence[Worded], strict: bool = False) -> RunHead:
    """The first screen. With repeats, cases are counted by what became of all their attempts."""
    code = run.exit_code(strict)
    words = _SESSION_WORDS if run.sessions else _WORDS
    noun = "session" if run.sessions else "case"
    counts = {word: sum(row.word == word for row in rows) for word in words}
    tally = run.tally
    unknown = tally.unknown_checks
    chips = [Chip(word, found, text) for word, text in words.items() if (found := counts[word])]
    if unknown:
        chips.append(
            Chip("unknown", unknown, "check unknown" if unknown == 1 else "checks unknown")
        )
    return RunHead(
        word={0: "pass", 1: "fail"}.get(code, "error"),
        sentence=_sentence(run, counts, words, noun, code),
        chips=chips,
        figures=list(_figures(run, tally, rows)),
        gates=[(_GATES[gate.holds], gate.name, redact(gate.message)) for gate in run.gates],
        warnings=[redact(text) for text in run.warnings],
        origin=origin_line(run.origin) if run.origin else "",
        run_id=run.run_id or "",
        total=len(rows),
        noun=noun,
    )


_WORDS = {
    "fail": TITLES[LayerStatus.FAIL],
    "error": TITLES[LayerStatus.ERROR],
    "flaky": "flaky",
    "warn": TITLES[LayerStatus.WARN],
    "pass": TITLES[LayerStatus.PASS],
    "skip": TITLES[LayerStatus.SKIP],
}
_SESSION_WORDS = {
    "fail": "not compliant",
    "error": "without a verdict",
    "warn": "with warnings",
    "pass": "compliant",
}
_GATES = {True: "pass", False: "fail", None: "unknown"}


def _sentence(
    run: RunResult, counts: Mapping[str, int], words: Mapping[str, str], noun: str, code: int
) -> str:
    """What broke, in words: the sentence that a person reads first."""
    total = sum(counts.values())
    if run.planned == 0 and run.sessions:
        return "No session could be read"
    if run.planned == 0:
        return f"Nothing was run: no {noun} was selected"
    found = [word for word in words if counts[word]]
    parts = [f"{counts[word]:,} {words[word]}" for word in found]
    wrong = [part for part, word in zip(parts, found, strict=True) if word not in ("pass", "skip")]
    of = f"of {counted(total, noun)}"
    if not wrong:
        return f"All {counted(total, noun)} {words['pass']}" if code == 0 else f"{parts[0]} {of}"
    first, *others = wrong
    return ", ".join([f"{first.replace(' ', f' {of} ', 1)}", *others])


def _figures(run: RunResult, tally: Tally, rows: Sequence[Worded]) -> Iterator[tuple[str, str]]:
    judged = tally.statuses[LayerStatus.PASS] + tally.statuses[LayerStatus.WARN]
    attempts = judged + tally.statuses[LayerStatus.FAIL]
    interval = wilson_interval(judged, attempts)
    if interval is not None and not run.sessions:
        low, high = interval
        yield "pass rate", f"{judged / attempts:.0%} (95% interval {low:.0%} to {high:.0%})"
    if tally.attempts != len(rows) and not run.sessions:
        yield "attempts", number(tally.attempts)
    if tally.known_cost_usd is not None:
        at_least = "at least " if tally.has_unknown_cost else ""
        yield "cost", at_least + amount(tally.known_cost_usd)
    elif tally.attempts:
        yield "cost", "unknown"
    yield "tokens", "unknown" if tally.total_tokens is None else number(tally.total_tokens)
    if tally.judge is not None:
        spent = tally.judge
        cost = "cost unknown" if spent.cost_usd is None else amount(spent.cost_usd)
        yield "judge", f"{counted(spent.calls, 'call')}, {spent.cached} cached, {cost}"
    if tally.without_baseline:
        yield "without a baseline", counted(tally.without_baseline, "case")
    if tally.retried:
        yield "retried", counted(tally.retried, "attempt")
    if run.unreadable:
        yield "unreadable", counted(run.unreadable, "file" if run.sessions else "trace")
    if run.incomplete:
        yield "run", "incomplete"


BLANK = Row(
    number=0, word="skip", name="", suite="", agent="", tags=(), question="", reason="", check="",
    step=0, step_name="", attempt=1, more=0, others=(), marks=(), layers=(), unknown=0, cost=None,
    tokens=None, time=None,
)  # fmt: skip
"""The row that the script of a file copies."""
