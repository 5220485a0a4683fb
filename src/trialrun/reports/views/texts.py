"""What every report says about texts that it does not show: masked, or left out to be shared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from trialrun.model.results import RunResult
from trialrun.model.withheld import Withheld, texts_of
from trialrun.redaction import masks_in
from trialrun.util.texts import counted


class Shown(Protocol):
    """A run, a comparison, sessions or an audit."""

    @property
    def masked(self) -> int | None:
        """The number of masks, once they were counted."""

    @property
    def withheld(self) -> Withheld | None:
        """What was left out."""


class WithTexts(Shown, Protocol):
    """One that names its texts itself."""

    @property
    def texts(self) -> Iterator[str]:
        """The texts in which masks are counted."""


def masked_in(run: RunResult) -> int:
    """How many values are masked in the texts of the results."""
    if run.masked is not None:
        return run.masked
    found = sum(masks_in(texts_of(result)) for result in run.results)
    if not isinstance(run.results, list):  # to a list, results may still be added
        run.masked = found
    return found


def masked_among(shown: WithTexts) -> int:
    """The same for sessions, a comparison or an audit."""
    return masks_in(shown.texts) if shown.masked is None else shown.masked


def masked_text(number: int) -> str:
    """`no value masked`, `3 values masked`."""
    return f"{counted(number, 'value') if number else 'no value'} masked"


def texts_lines(masked: int, withheld: Withheld | None) -> list[str]:
    """What a report says about such texts at its end; nothing if it shows all of them."""
    if withheld is not None:
        return [f"{withheld}; {masked_text(masked)}"]
    return [masked_text(masked)] if masked else []
