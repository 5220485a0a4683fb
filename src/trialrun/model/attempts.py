"""The attempts of a run with their traces, for reports that show what the agent did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from trialrun.model.results import EvaluationResult, RunResult
from trialrun.model.trace import Trace

Recorded = tuple[EvaluationResult, Trace | None, Trace | None]
"""One attempt: its result, its trace, and the baseline that it was compared with."""


def attempts_of(run: RunResult) -> Iterator[Recorded]:
    """Every result in order, with its trace and baseline where `results` can give them.

    They come from a method `attempts` of the collection of results: a run that has other results in
    their place (to be shared, without prompts and answers) has no traces by accident.
    """
    return attempts_in(run.results)


def attempts_in(results: Iterable[EvaluationResult]) -> Iterator[Recorded]:
    """The same for a collection of results."""
    read: Callable[[], Iterator[Recorded]] | None = getattr(results, "attempts", None)
    return ((one, None, None) for one in results) if read is None else read()
