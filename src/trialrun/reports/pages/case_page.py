"""One case with its attempts, and the case for a spec that its trace would become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trialrun.model.results import CaseStability, EvaluationResult, LayerStatus
from trialrun.model.steps import Step
from trialrun.redaction import MASK, Redactor, redact
from trialrun.reports.pages.attempt_part import AttemptPart, Made, attempt_part
from trialrun.reports.pages.masking import masked, texts_of_step
from trialrun.reports.pages.texts import ORDER
from trialrun.util.texts import counted

_MOST_COPIED = 200
"""Calls of a trace that becomes a case: a spec of ten thousand is of no use."""


class CasePage(Struct, frozen=True, kw_only=True):
    """One case: `number` is its place in the run, from 0."""

    number: int
    name: str
    suite: str
    agent: str
    tags: Sequence[str]
    word: str
    stability: str
    attempts: Sequence[AttemptPart]
    copy: str
    shown: Sequence[Mapping[str, Any]]

    @property
    def worst(self) -> int:
        """The number of the attempt that is shown first."""
        return min(self.attempts, key=lambda part: ORDER[part.word]).number

    @property
    def about(self) -> str:
        """Its suite and agent, and how its attempts went."""
        several = len(self.attempts) > 1
        attempts = self.stability or (counted(len(self.attempts), "attempt") if several else "")
        return " · ".join(text for text in (self.suite, self.agent, attempts) if text)

    @property
    def masks(self) -> int:
        """How many values of the case are masked."""
        return sum(map(_masks, self.shown))


def case_page(
    place: int,
    made: Sequence[Made],
    stability: CaseStability | None = None,
    redactor: Redactor | None = None,
    with_ledger: bool = False,
    private: bool = False,
    around: int = 0,
) -> CasePage:
    """The page of a case. `with_ledger` makes a ledger where no check of the case asked for one.

    `around`: the number of a step of which a long timeline must show the surroundings.
    `private`: texts were left out to share the run, so nothing can be made of its traces.
    """
    redactor = redactor or Redactor()
    shown = [masked(one.result, one.trace, redactor) for one in made]
    first = shown[0]
    return CasePage(
        number=place,
        name=first["case"],
        suite=first["suite"] or "",
        agent=first["agent"] or "",
        tags=first["tags"],
        word=word_of([one.result for one in made]),
        stability="" if stability is None else stability_text(stability),
        attempts=[
            attempt_part(one, texts, with_ledger, private, around)
            for one, texts in zip(made, shown, strict=True)
        ],
        copy="" if private else _copied(made, shown),
        shown=shown,
    )


def word_of(results: Sequence[EvaluationResult]) -> str:
    """The word for all attempts at a case: `flaky` if some passed and others failed."""
    return word_of_statuses([result.status for result in results])


def word_of_statuses(given: Iterable[str]) -> str:
    """The same for their statuses."""
    statuses = set(given)
    passed = statuses & {LayerStatus.PASS, LayerStatus.WARN}
    if passed and LayerStatus.FAIL in statuses:
        return "flaky"
    for status in (LayerStatus.FAIL, LayerStatus.ERROR, LayerStatus.WARN, LayerStatus.PASS):
        if status in statuses:
            return status.value
    return "skip"


def stability_text(case: CaseStability) -> str:
    """`3 of 5 passed, 95% interval 23% to 88%; flips: 2 (agent)`."""
    found = case.stability
    judged = found.passes + found.failures
    text = f"{found.passes} of {judged} passed" if judged else "no verdict"
    if found.interval is not None:
        low, high = found.interval
        text += f", 95% interval {low:.0%} to {high:.0%}"
    if found.errors:
        text += f", {found.errors} in error"
    if found.flips:
        sources = ", ".join(dict.fromkeys(flip.source for flip in found.flips))
        text += f"; verdict flipped {len(found.flips)} times ({sources})"
    return text


def _masks(value: Any) -> int:
    """How many masks a plain value, with steps in it, has."""
    found, left = 0, [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            found += one.count(MASK)
        elif isinstance(one, dict):
            left += one.values()
        elif isinstance(one, (list, tuple)):
            left += one
        elif isinstance(one, Step):
            left += texts_of_step(one)
    return found


def _copied(made: Sequence[Made], shown: Sequence[Mapping[str, Any]]) -> str:
    """The first attempt with an answer as a case for a spec; "" where no case can be made."""
    from trialrun.errors import UsageError
    from trialrun.spec.case_from_trace import case_lines

    for one, texts in zip(made, shown, strict=True):
        if one.trace is not None and len(one.trace.tool_calls) > _MOST_COPIED:
            continue
        if one.trace is not None and one.trace.output is not None and not one.trace.error:
            try:
                mask = str if texts["clean"] else redact
                return "\n".join(case_lines(one.trace, texts["case"], mask)) + "\n"
            except UsageError:
                continue
    return ""
