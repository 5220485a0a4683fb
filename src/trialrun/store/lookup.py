"""Which run is meant: `latest`, `latest~1`, an id, or the beginning of one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trialrun.errors import UsageError
from trialrun.store.records import RunRecord
from trialrun.util.texts import nearest

_LATEST = re.compile(r"latest(?:~(\d{1,9}))?")
_SHOWN = 5


def find(
    reference: str, runs: Sequence[RunRecord], spec_key: str | None, location: str
) -> RunRecord:
    """The run that is meant, among these from the newest to the oldest."""
    ours = [run for run in runs if spec_key is None or run.spec_key == spec_key]
    if not ours:
        of_spec = "" if spec_key is None else f" of {spec_key}"
        raise UsageError(f"no runs{of_spec} are recorded in {location}")
    if back := _LATEST.fullmatch(reference):
        return _counted_back(reference, int(back[1] or 0), ours)
    by_id = {run.id: run for run in runs}
    if reference in by_id and by_id[reference] not in ours:
        raise UsageError(f"run {reference} is of another spec: {by_id[reference].spec}")
    matching = [run for run in ours if reference and run.id.startswith(reference)]
    if len(matching) == 1 or reference in by_id:
        return by_id.get(reference) or matching[0]
    if matching:
        found = _listed(matching)
        raise UsageError(f"{len(matching)} runs begin with {reference!r}: {found}")
    meant = nearest(reference[:100], [run.id for run in ours])
    hint = f"did you mean {meant}? " if meant else ""
    raise UsageError(
        f"no run is {reference!r} in {location}; {hint}expected latest, latest~1, an id or its "
        f"beginning; the last runs are {_listed(ours)}"
    )


def _counted_back(reference: str, back: int, runs: list[RunRecord]) -> RunRecord:
    if back >= len(runs):
        there = "1 run is" if len(runs) == 1 else f"{len(runs)} runs are"
        raise UsageError(f"{reference} goes back too far: {there} recorded: {_listed(runs)}")
    return runs[back]


def _listed(runs: Sequence[RunRecord]) -> str:
    more = ", …" if len(runs) > _SHOWN else ""
    return ", ".join(run.id for run in runs[:_SHOWN]) + more
