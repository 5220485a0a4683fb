"""One attempt: question, answer, checks, path, timeline and ledger, as its section shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trialrun.model.evidence import EVIDENCE
from trialrun.model.fidelity import IMPORTED, Fidelity
from trialrun.model.ledger import Ledger
from trialrun.model.results import CheckResult, CheckStatus, EvaluationResult, LayerStatus
from trialrun.model.trace import Trace
from trialrun.redaction import redact
from trialrun.reports.pages.answers import Span, marked, missing
from trialrun.reports.pages.ledger_part import LedgerPart, finding_word, ledger_part
from trialrun.reports.pages.path import Path, path_of
from trialrun.reports.pages.texts import (
    amount,
    bounded,
    check_word,
    duration,
    line_text,
    number,
    value_text,
)
from trialrun.reports.pages.timeline import Pin, Timeline, timeline_of
from trialrun.reports.views.deciding import deciding_steps, places_of, steps_of_findings
from trialrun.reports.views.reasons import with_unit

# What has a column, and what the answer, the path and the timeline show.
_COLUMNS = ("wanted", "unwanted", "minimum", "limit", "found")
_SHOWN_DATA = {*_COLUMNS, "missing", "step", "steps", "path", "edits", "extra", "tools"}


class Made(Struct, frozen=True):
    """One attempt as it was recorded."""

    result: EvaluationResult
    trace: Trace | None
    baseline: Trace | None = None


class Vote(Struct, frozen=True):
    """One answer of a judge about one rule."""

    rule: str
    word: str
    score: str
    model: str
    rationale: str


class CheckRow(Struct, frozen=True):
    """A check with what it wanted and found, and the numbers of the steps that decided it."""

    layer: str
    name: str
    word: str
    message: str
    wanted: str
    found: str
    turn: int
    steps: Sequence[int]
    votes: Sequence[Vote]
    other: str  # further values that it reported, as JSON


class Exchange(Struct, frozen=True):
    """A question, and the answer in parts; None: there was no answer."""

    question: str
    answer: Sequence[Span] | None


class AttemptPart(Struct, frozen=True, kw_only=True):
    """One attempt as its section of the page shows it."""

    number: int
    word: str
    error: str
    tries: str
    failed_calls: Sequence[tuple[str, Sequence[int]]]  # each with the number of its step
    gaps: Sequence[str]
    exchanges: Sequence[Exchange]
    missing: Sequence[str]
    checks: Sequence[CheckRow]
    unknown: int
    path: Path | None
    timeline: Timeline | None
    ledger: LedgerPart | None
    metrics: Sequence[tuple[str, str]]
    cost: str
    tokens: str
    time: str
    printed: str
    calls: str

    @property
    def reasons(self) -> list[CheckRow]:
        """What did not pass, worst first; not what only repeats why there is no verdict."""
        order = ("fail", "unknown", "warn")
        return sorted(
            (
                check
                for check in self.checks
                if check.word in order and (check.message != self.error or not self.error)
            ),
            key=lambda check: order.index(check.word),
        )


def attempt_part(
    one: Made,
    shown: Mapping[str, Any],
    with_ledger: bool = False,
    private: bool = False,
    around: int = 0,
) -> AttemptPart:
    """The section of an attempt; `shown` are its texts, masked (`masking.py`)."""
    result, trace = one.result, one.trace
    places = {} if trace is None else places_of(trace)
    path = (
        None
        if trace is None
        else path_of(result, trace, one.baseline, str if shown["clean"] else redact)
    )
    checks = [
        _check_row(layer, check, texts, _deciding(check, path, places))
        for (layer, check), texts in zip(result.checks(), shown["checks"], strict=True)
    ]
    ledger = result.ledger
    if ledger is None and trace is not None and not private:
        ledger = _ledger(result, trace, with_ledger)
    timeline = None
    if trace is not None:
        pins = _pins(checks, ledger, places)
        timeline = timeline_of(trace, shown["trace"]["steps"], pins, around)
    exchanges = _exchanges(shown)
    return AttemptPart(
        number=result.attempt,
        word=result.status.value,
        error=shown["error"] or "",
        tries=shown["tries"] or "",
        failed_calls=[
            (text, [places[call.step]] if call.step in places else [])
            for call, text in zip(result.failed_calls, shown["failed_calls"], strict=True)
        ],
        gaps=list(_gaps(trace, shown)),
        exchanges=exchanges,
        missing=missing(shown["checks"]),
        checks=checks,
        unknown=sum(check.word == "unknown" for check in checks),
        path=path,
        timeline=timeline,
        ledger=None if ledger is None else ledger_part(ledger, places),
        metrics=[
            (name, error or with_unit(metric))
            for metric, (name, error) in zip(result.metrics, shown["metrics"], strict=True)
        ],
        cost=amount(result.cost_usd),
        tokens=number(result.total_tokens),
        time=duration(result.duration_ms),
        printed="" if trace is None else bounded(str(shown["trace"]["printed"] or "")),
        calls="" if trace is None else f"{len(trace.tool_calls):,}",
    )


def _check_row(
    layer: str, check: CheckResult, shown: Mapping[str, Any], steps: Sequence[int]
) -> CheckRow:
    data = shown["data"]
    other = {name: item for name, item in data.items() if name not in _SHOWN_DATA}
    return CheckRow(
        layer,
        shown["name"],
        check_word(check),
        shown["message"],
        _wanted(data),
        _plain(data["found"]) if "found" in data else "",
        check.turn or 0,
        steps,
        list(_votes(shown["verdicts"])),
        value_text(other) if other and check.status is not CheckStatus.PASS else "",
    )


def _wanted(data: Mapping[str, Any]) -> str:
    parts = []
    if "wanted" in data:
        parts.append(_plain(data["wanted"]))
    if "unwanted" in data:
        parts.append(f"none of: {_plain(data['unwanted'])}")
    if "minimum" in data and "wanted" not in data:  # a share of what is wanted: the message says it
        parts.append(f"at least {_plain(data['minimum'])}")
    if "limit" in data:
        parts.append(f"at most {_plain(data['limit'])}")
    return ", ".join(parts)


def _plain(value: Any) -> str:
    """A value of a check for a cell: a list as its items."""
    if isinstance(value, (list, tuple)):  # of a group of terms, one is enough
        value = [" or ".join(one) if _is_texts(one) else one for one in value]
    plain = (str, int, float)
    if isinstance(value, list) and all(isinstance(one, plain) for one in value):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return bounded(value, 2000) if isinstance(value, str) else line_text(value, 300)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _votes(verdicts: Iterable[Mapping[str, Any]]) -> Iterable[Vote]:
    for verdict in verdicts:
        for vote in verdict["votes"]:
            score = vote.get("score")
            passed = None if score is None else score >= verdict["minimum"]
            yield Vote(
                verdict["rule"],
                {True: "pass", False: "fail", None: "unknown"}[passed],
                "no score" if score is None else f"{score} of 5, at least {verdict['minimum']}",
                vote["model"],
                vote.get("error") or vote.get("rationale") or "",
            )


def _deciding(check: CheckResult, path: Path | None, places: Mapping[str, int]) -> list[int]:
    """The numbers of the steps that decided the check.

    Those that it names; for the check that the path is held to, the calls that it did not want.
    """
    if check.status in (CheckStatus.PASS, CheckStatus.SKIPPED):
        return []
    named = [places[step] for step in deciding_steps(check) if step in places]
    if named or path is None or path.against != check.name:
        return named
    wrong = ("extra", "moved", "changed")
    return [line.step for line in path.lines if line.kind in wrong and line.step]


def _pins(
    checks: Iterable[CheckRow], ledger: Ledger | None, places: Mapping[str, int]
) -> dict[int, list[Pin]]:
    """The checks that a step decided, by its number; a pass is pinned nowhere."""
    pins: dict[int, list[Pin]] = {}
    for check in checks:
        for step in check.steps:
            pins.setdefault(step, []).append(Pin(check.word, check.name, check.message))
    for found, finding in () if ledger is None else steps_of_findings(ledger):
        if found in places:
            name = f"{finding.code} {finding.name}"
            pin = Pin(finding_word(finding), name, redact(finding.message))
            there = pins.setdefault(places[found], [])
            if pin not in there:  # a recorded session has its findings as checks
                there.append(pin)
    return pins


def _ledger(result: EvaluationResult, trace: Trace, make: bool) -> Ledger | None:
    from trialrun.verification.ledger import audit, kept_ledger

    asked = result.layers["verification"].status is not LayerStatus.SKIP
    if not (asked or make):
        return None
    found = kept_ledger(trace)
    found = audit(trace) if found is None else found
    return None if found.empty and not asked else found


def _gaps(trace: Trace | None, shown: Mapping[str, Any]) -> Iterable[str]:
    """What the trace did not record, and what its importer counted once or left out."""
    if trace is None:
        yield "no trace is recorded: what the agent did is not known"
        return
    # Looking through a trace takes time: one that is not imported and lacks nothing has no gaps.
    if IMPORTED in trace.metadata or EVIDENCE - trace.recorded:
        report = Fidelity()
        report.add(trace)
        for line in report.lines():
            if line.startswith(("counted once", "left out", "not recorded")):
                yield line
    unfinished = shown["trace"]["unfinished"]
    if unfinished:
        yield f"unfinished: {unfinished}"
    if shown["trace"]["notes"]:
        yield f"notes: {line_text(shown['trace']['notes'], 300)}"


def _exchanges(shown: Mapping[str, Any]) -> list[Exchange]:
    """Question and answer in full where the trace has them, else as the result keeps them."""
    checks = shown["checks"]
    if shown["turns"]:
        return [
            Exchange(question, None if answer is None else marked(answer, checks))
            for question, answer in shown["turns"]
        ]
    trace = shown["trace"]
    question = shown["question"] if trace is None else trace["input"]
    answer = shown["answer"] if trace is None else trace["answer"]
    if question is None and answer is None:
        return []
    return [Exchange(bounded(question or ""), None if answer is None else marked(answer, checks))]
