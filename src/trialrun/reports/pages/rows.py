"""The list of cases: one row each, with the reason and the step that decided it."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from msgspec import Struct

from trialrun.model.results import LAYERS, LayerStatus
from trialrun.model.withheld import LEFT_OUT
from trialrun.reports.pages.attempt_part import Made
from trialrun.reports.pages.case_page import CasePage
from trialrun.reports.pages.texts import ORDER, amount, duration, line_text, number

_LONGEST_REASON = 240
LONGEST_QUESTION = 120
"""Characters of a question that a row shows, and that a search finds."""


class Row(Struct, frozen=True, kw_only=True):
    """One case in a list. The figures are means over its attempts; None if one is unknown."""

    number: int
    word: str
    name: str
    suite: str
    agent: str
    tags: Sequence[str]
    question: str
    reason: str
    check: str
    step: int  # the number of the step, 0 if none decided it
    step_name: str
    attempt: int  # the attempt that the reason is of
    more: int  # further checks that did not pass
    others: Sequence[str]  # their names
    marks: Sequence[str]  # the status of each attempt, if there are several
    layers: Sequence[tuple[str, str]]
    unknown: int
    cost: float | None
    tokens: float | None
    time: float | None

    @property
    def said(self) -> str:
        """The reason; of what passed, the question."""
        return self.reason or self.question

    @property
    def search_text(self) -> str:
        """What the row can be found by, beside what it shows."""
        question = self.question if self.reason else ""
        return " ".join((self.suite, *self.tags, *self.others, question))

    @property
    def cost_text(self) -> str:
        """The cost for people."""
        return amount(self.cost)

    @property
    def tokens_text(self) -> str:
        """The tokens for people."""
        return number(None if self.tokens is None else round(self.tokens))

    @property
    def time_text(self) -> str:
        """The duration for people."""
        return duration(self.time)


def row_of(page: CasePage, made: Sequence[Made]) -> Row:
    """The row of a case: its worst attempt gives the reason."""
    parts = page.attempts
    worst = min(parts, key=lambda part: ORDER[part.word])
    reasons = worst.reasons
    # Of the reasons of the greatest weight, the first that names a step: that says where to look.
    first = next(
        (one for one in reasons if one.steps and one.word == reasons[0].word),
        reasons[0] if reasons else None,
    )
    decided = first.steps[0] if first is not None and first.steps else 0
    steps = () if worst.timeline is None else worst.timeline.rows
    if worst.error:  # nothing decided it: the last step that failed is where to look
        decided = max((row.index for row in steps if row.word == "fail"), default=0)
    name = next((row.name for row in steps if row.index == decided), "")
    # The reason of an error is that there is no verdict; of anything else, the check.
    if worst.error:
        check, reason = "", worst.error
    elif first is not None:
        check, reason = first.name, first.message
    else:
        check, reason = "", ""
    others = [one for one in reasons if worst.error or one is not first]
    asked = [one for one in worst.exchanges[:1] if one.question != LEFT_OUT]
    results = [one.result for one in made]
    return Row(
        number=page.number,
        word=page.word,
        name=page.name,
        suite=page.suite,
        agent=page.agent,
        tags=page.tags,
        question=line_text(asked[0].question, LONGEST_QUESTION) if asked else "",
        reason=line_text(reason, _LONGEST_REASON),
        check=check,
        step=decided,
        step_name=name,
        attempt=worst.number,
        more=len(others),
        others=[one.name for one in others],
        marks=[part.word for part in parts] if len(parts) > 1 else [],
        layers=_layers(made),
        unknown=sum(part.unknown for part in parts),
        cost=_mean([result.cost_usd for result in results]),
        tokens=_mean([result.total_tokens for result in results]),
        time=_mean([result.duration_ms for result in results]),
    )


_WORST = {status: place for place, status in enumerate(
    (LayerStatus.FAIL, LayerStatus.ERROR, LayerStatus.WARN, LayerStatus.PASS, LayerStatus.SKIP)
)}  # fmt: skip


def _layers(made: Sequence[Made]) -> list[tuple[str, str]]:
    """Each layer with checks, with its worst status over the attempts."""
    found = []
    for layer in LAYERS:
        statuses = [one.result.layers[layer].status for one in made]
        worst = min(statuses, key=_WORST.__getitem__)
        if worst is not LayerStatus.SKIP:
            found.append((layer, worst.value))
    return found


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known and len(known) == len(values) else None
