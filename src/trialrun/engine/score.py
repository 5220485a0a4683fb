"""Evaluate recorded traces: match each trace to a case, and give every case a result.

Every planned case is reported: one without a trace, with an unreadable trace or with a broken
baseline is an ERROR, and the others are evaluated. Traces are read, judged and forgotten; see
`bulk` for how.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from trialrun.engine.bulk.scoring import Bulk, on_this_machine, score_in_bulk
from trialrun.engine.bulk.work import Options
from trialrun.model.case import Suite
from trialrun.model.results import RunResult
from trialrun.pricing import PriceBook


def score(
    suites: Sequence[Suite],
    trace_paths: Iterable[str | Path] = (),
    *,
    baselines: Path | None = None,
    require_baseline: bool = False,
    tags: Sequence[str] = (),
    names: Sequence[str] = (),
    prices: PriceBook | None = None,
    judge_cache: bool = True,
    allow_incomplete: float | None = None,
    jobs: int | None = None,
    sample: float | None = None,
) -> RunResult:
    """Evaluate recorded traces. `allow_incomplete`: the share of traces that may have no answer.

    `jobs`: the number of processes, by default one for each core; `sample`: the share of traces
    that is judged. The results of many traces are read from a temporary file at each iteration.
    Raises NothingSelected if there is no case to evaluate.
    """
    options = Options(
        baselines=baselines,
        require_baseline=require_baseline,
        tags=tuple(tags),
        names=tuple(names),
        prices=prices,
        sample=sample,
    )
    bulk = Bulk(suites, trace_paths, options, judge_cache=judge_cache)
    engine = on_this_machine(jobs)
    return score_in_bulk(bulk, engine=engine, allow_incomplete=allow_incomplete).run
