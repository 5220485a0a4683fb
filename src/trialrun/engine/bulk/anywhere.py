"""The pure function from a chunk to its part, for engines whose workers share nothing with us.

    job = plan("spec.yaml", ["traces/"])
    parts = any_engine.map(partial(part_of, job.recipe), job.chunks)

A part is two texts of bytes, which travel as they are; `keep` puts it into the folder from which
`trialrun score --merge` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from msgspec import Struct

from trialrun.engine.bulk.chunks import Chunk, plan_chunks
from trialrun.engine.bulk.folder import PartsFolder, Rows
from trialrun.engine.bulk.job import begin, job_of
from trialrun.engine.bulk.part import as_json, from_json
from trialrun.engine.bulk.remote import is_remote
from trialrun.engine.bulk.work import Options, RowSink, Scorer, judge_chunk
from trialrun.spec.load import load_suites


class Recipe(Struct, frozen=True):
    """All that a worker needs besides the chunk: the path of the spec, as the worker sees it."""

    spec: str
    options: Options = Options()  # frozen
    full: bool = False


class Part(Struct, frozen=True):
    """What a chunk gives: its summary and its rows."""

    summary: bytes
    rows: bytes


class Planned(Struct, frozen=True):
    """The chunks of some traces, and what a worker needs to judge one."""

    recipe: Recipe
    chunks: Sequence[Chunk]


def plan(
    spec: str | Path,
    traces: Sequence[str | Path],
    folder: str | Path,
    options: Options = Options(),  # noqa: B008
) -> Planned:
    """Plan the chunks of these traces, and prepare the folder for their parts."""
    recipe = Recipe(str(Path(spec).absolute()), options)
    scorer = _scorer(recipe)
    paths = [str(one) if is_remote(one) else str(Path(one).absolute()) for one in traces]
    chunks = plan_chunks(paths, scorer.with_file)
    begin(PartsFolder(Path(folder)), job_of(scorer, chunks, paths), resume=True)
    return Planned(recipe, chunks.chunks)


@lru_cache(4)
def _scorer(recipe: Recipe) -> Scorer:
    scorer = Scorer(load_suites(recipe.spec), recipe.options)
    scorer.full_rows = recipe.full
    return scorer


def part_of(recipe: Recipe, chunk: Chunk) -> Part:
    """Judge the traces of a chunk."""
    scorer = _scorer(recipe)
    stream = BytesIO()
    rows = Rows(stream)
    summary = judge_chunk(scorer, chunk, RowSink(rows, scorer))
    rows.describe(summary)
    return Part(as_json(summary), stream.getvalue())


def keep(folder: PartsFolder | str | Path, part: Part) -> None:
    """Put a part into the folder; the same part a second time changes nothing."""
    place = folder if isinstance(folder, PartsFolder) else PartsFolder(Path(folder))
    summary = from_json(part.summary)
    with place.writing(summary.chunk) as rows:
        rows.add_all(part.rows)
    place.finish(summary)
