"""Score traces in bulk: plan the chunks, judge each once, merge the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec import Struct

from trialrun.engine.bulk.chunks import Chunk, plan_chunks
from trialrun.engine.bulk.folder import PartsFolder
from trialrun.engine.bulk.job import MergedFolders, Shard, asked_digest, begin, job_of
from trialrun.engine.bulk.local import can_fork, cores, judge_here, judge_in_processes
from trialrun.engine.bulk.merge import Merger, Totals
from trialrun.engine.bulk.output import parts_of, require_target, rows_to
from trialrun.engine.bulk.part import Summary
from trialrun.engine.bulk.rows import encoded, result_in, row_of, with_attempt
from trialrun.engine.bulk.spool import RowFile, RowIndex, SpooledResults
from trialrun.engine.bulk.work import (
    Options,
    RowSink,
    Scorer,
    judge_chunk,
    judge_chunk_with,
    matches_in,
    without_replaced,
)
from trialrun.engine.plan import Selection, require_matches, why_nothing
from trialrun.errors import NothingSelected
from trialrun.model.attempts import Recorded
from trialrun.model.case import EvalCase, Rubric, Suite
from trialrun.model.results import EvaluationResult
from trialrun.util.coroutines import run_coroutine

if TYPE_CHECKING:
    from trialrun.engine.bulk.record import Target
    from trialrun.engine.bulk.work import Sink


class Progress(Struct, frozen=True):
    """How far the work is: bytes that are judged, of all; what was there before does not count."""

    done: int
    total: int
    traces: int


Watcher = Callable[[Progress], None]
Engine = Callable[[Scorer, Sequence[Chunk], PartsFolder], Iterable[Chunk]]
"""Judges chunks somewhere; yields each when the folder has its part."""

SinkOf = Callable[[Chunk], "AbstractContextManager[SinkContext]"]


class Bulk:
    """One scoring of many traces: its cases, its chunks, and where its parts are kept."""

    def __init__(
        self,
        suites: Sequence[Suite],
        trace_paths: Iterable[str | Path] = (),
        options: Options = Options(),  # noqa: B008
        *,
        judge_cache: bool = True,
        chunk_size: int | None = None,
    ) -> None:
        selection = Selection(tags=options.tags, names=options.names)
        self.scorer = Scorer(suites, options)
        if not self.scorer.cases.planned:
            raise NothingSelected(why_nothing(suites, selection))
        require_matches(suites, selection)
        self.paths = list(trace_paths)
        self.plan = plan_chunks(self.paths, self.scorer.with_file, chunk_size)
        self._judge_cache = judge_cache
        self._named: set[int] = set()
        self._counts = self._attempts_of_judged_cases()
        self._empty = [
            f"{suite.file or suite.name}: the spec has no cases"
            for suite in suites
            if not suite.cases
        ]

    # Judges

    def _attempts_of_judged_cases(self) -> Mapping[int, int]:
        """How many traces each case has; empty if no judge is asked.

        Judges cost money: which traces belong to the cases is found out first.
        """
        if not self.scorer.index.with_rubrics:
            return {}
        named: dict[int, int] = {}
        by_input: dict[int, int] = {}
        for chunk in self.plan.chunks:
            for match in matches_in(self.scorer, chunk):
                found = by_input if match.weak else named
                found[match.number] = found.get(match.number, 0) + 1
        self._named = set(named)
        counts = by_input | named
        asked = any(number in counts for number in self.scorer.index.with_rubrics)
        return counts if asked else {}

    @property
    def asks_judges(self) -> bool:
        """Whether rubrics are judged: in this process, where calls are counted and limited."""
        return bool(self._counts)

    async def _with_judges(
        self,
        chunks: Sequence[Chunk],
        sink_of: SinkOf,
    ) -> None:
        from trialrun.engine.judges import Judges

        redactor = self.scorer.redactor
        judges = Judges(self.scorer.suites, cached=self._judge_cache, redactor=redactor)
        models = {
            (suite.name, rubric.model): (suite, rubric)
            for number in self.scorer.index.with_rubrics
            if number in self._counts
            for suite, case in [self.scorer.cases[number]]
            for rubric in _rubrics(case)
        }
        async with judges:
            for suite, rubric in models.values():  # an unusable model is reported first
                await judges.of(suite).prepare([rubric])
            for chunk in chunks:
                with sink_of(chunk) as context:
                    context.summary = await judge_chunk_with(
                        self.scorer, chunk, context.sink, judges, self._counts, self._named
                    )

    # Small inputs

    def in_memory(self, allow_incomplete: float | None) -> Totals:
        """Judge everything here and keep the results: for what fits into one chunk."""
        kept: dict[int, list[Recorded]] = {}
        summaries: list[Summary] = []

        @contextmanager
        def sink_of(chunk: Chunk) -> Iterator[SinkContext]:
            kept[chunk.number] = []
            context = SinkContext(
                lambda result, _, one: kept[chunk.number].append((result, one.trace, one.baseline))
            )
            yield context
            assert context.summary is not None
            summaries.append(context.summary)

        if self.asks_judges:
            run_coroutine(self._with_judges(self.plan.chunks, sink_of))
        else:
            for chunk in self.plan.chunks:
                with sink_of(chunk) as context:
                    context.summary = judge_chunk(self.scorer, chunk, context.sink)
        merger = Merger(self.scorer, self.plan, summaries, self._empty)
        found: list[tuple[int, int, Recorded]] = []
        for summary in summaries:
            for _, number, attempt, one in merger.kept(summary, kept[summary.chunk]):
                one[0].attempt = attempt
                found.append((number, attempt, one))
        found += [(number, 1, (result, None, None)) for number, result in merger.missing()]
        found.sort(key=lambda one: one[:2])
        return merger.totals(_Kept([one for _, _, one in found]), allow_incomplete)

    # Large inputs

    def judge(
        self, folder: PartsFolder, engine: Engine, watcher: Watcher | None, shard: Shard | None
    ) -> None:
        """Judge every chunk (of the shard) of which the folder does not have the part."""
        mine = [one for one in self.plan.chunks if shard is None or shard.has(one.number)]
        left = [one for one in mine if not folder.has(one.number)]
        total = sum(chunk.size for chunk in left)
        done = traces = 0
        for chunk in self._judged(left, folder, engine):
            done += chunk.size
            if watcher is not None:
                traces += folder.summary(chunk.number).traces
                watcher(Progress(done, total, traces))

    def _judged(
        self, chunks: Sequence[Chunk], folder: PartsFolder, engine: Engine
    ) -> Iterable[Chunk]:
        if self.asks_judges:
            return self._judged_by_judges(chunks, folder)
        return engine(self.scorer, chunks, folder)

    def _judged_by_judges(self, chunks: Sequence[Chunk], folder: PartsFolder) -> Sequence[Chunk]:
        @contextmanager
        def sink_of(chunk: Chunk) -> Iterator[SinkContext]:
            with folder.writing(chunk.number) as rows:
                context = SinkContext(RowSink(rows, self.scorer))
                yield context
                assert context.summary is not None
                rows.describe(context.summary)
            folder.finish(context.summary)

        run_coroutine(self._with_judges(chunks, sink_of))
        return chunks

    def merge(
        self,
        folder: PartsFolder | MergedFolders,
        rows: IO[bytes],
        allow_incomplete: float | None,
        target: Target | None = None,
    ) -> Totals:
        """Write all rows in the order of the input. The results of the run are read from them."""

        def summaries() -> Iterator[Summary]:
            return (folder.summary(chunk.number) for chunk in self.plan.chunks)

        merger = Merger(self.scorer, self.plan, summaries(), self._empty)
        writer = None
        if target is not None:
            from trialrun.engine.bulk.record import RunWriter

            writer = RunWriter(target, self.scorer, merger.most_attempts)
        index, place = RowIndex(), 0
        for chunk, summary in zip(self.plan.chunks, summaries(), strict=True):
            red = set(summary.red)
            matched = (
                enumerate(without_replaced(writer.matched(chunk), self._named))
                if writer is not None
                else iter(())
            )
            for at, number, attempt, line in merger.kept(summary, folder.lines(summary)):
                index.add(place, number, at in red)
                row = with_attempt(line, attempt)
                place += rows.write(row)
                if writer is not None:
                    found = next(one for when, one in matched if when == at)
                    writer.add(number, result_in(row), found.trace, found.baseline)
        for number, result in merger.missing():
            index.add(place, number, True)
            line = encoded(row_of(result, None, None), self.scorer.redactor) + b"\n"
            place += rows.write(line)
            if writer is not None:
                writer.add(number, result)
        rows.flush()
        file = RowFile(rows)
        found_in_all = merger.totals((), allow_incomplete)
        run = msgspec.structs.replace(
            found_in_all.run,
            results=SpooledResults(file, index.by_case(len(self.scorer.cases))),
            run_id=None if writer is None else writer.finish(found_in_all.run.warnings),
        )
        return msgspec.structs.replace(found_in_all, run=run, red=SpooledResults(file, index.red))


class _Kept(list[EvaluationResult]):
    """Results with the traces that they are of, for reports that show what the agent did."""

    def __init__(self, recorded: Sequence[Recorded]) -> None:
        super().__init__(result for result, _, _ in recorded)
        self._recorded = recorded

    def attempts(self) -> Iterator[Recorded]:
        """Every result with its trace and its baseline."""
        yield from self._recorded
        for result in self[len(self._recorded) :]:  # added since
            yield result, None, None


class SinkContext:
    """Where the results of a chunk go, and its summary when it is judged."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.summary: Summary | None = None


def _rubrics(case: EvalCase) -> Iterator[Rubric]:
    """The rubrics that a judge is asked about."""
    from trialrun.engine.judges import rubrics_of_case

    for part in (case, *case.turns):
        yield from rubrics_of_case(part)


def on_this_machine(jobs: int | None) -> Engine:
    """Judges in so many processes, by default one for each core."""

    def judged(scorer: Scorer, chunks: Sequence[Chunk], folder: PartsFolder) -> Iterable[Chunk]:
        wanted = min(cores() if jobs is None else jobs, len(chunks))
        if wanted > 1 and can_fork():
            return judge_in_processes(scorer, chunks, folder, wanted)
        return judge_here(scorer, chunks, folder)

    return judged


def score_in_bulk(
    bulk: Bulk,
    *,
    engine: Engine | None = None,
    allow_incomplete: float | None = None,
    watcher: Watcher | None = None,
    target: Target | None = None,
) -> Totals:
    """Judge everything; the results stay in memory only if they are few."""
    if target is None and len([chunk for chunk in bulk.plan.chunks if chunk.pieces]) <= 1:
        return bulk.in_memory(allow_incomplete)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="trialrun-") as place:
        folder = PartsFolder(Path(place))
        bulk.judge(folder, engine or on_this_machine(None), watcher, None)
        with tempfile.TemporaryFile(prefix="trialrun-") as rows:
            return bulk.merge(folder, rows, allow_incomplete, target)


def score_to_file(
    bulk: Bulk,
    output: Path,
    *,
    engine: Engine,
    resume: bool = False,
    shard: Shard | None = None,
    allow_incomplete: float | None = None,
    watcher: Watcher | None = None,
    target: Target | None = None,
) -> Totals | None:
    """Judge everything and write the rows to a file; of a shard, only its parts (None)."""
    require_target(output)
    bulk.scorer.full_rows = False
    folder = PartsFolder(parts_of(output))
    job = job_of(bulk.scorer, bulk.plan, bulk.paths, 1 if shard is None else shard.of)
    begin(folder, job, resume=resume or shard is not None)
    bulk.judge(folder, engine, watcher, shard)
    if shard is not None:
        return None
    with rows_to(output) as rows:
        found = bulk.merge(folder, rows, allow_incomplete, target)
    folder.remove()
    return found


def merge_to_file(
    bulk: Bulk, places: Sequence[Path], output: Path, allow_incomplete: float | None = None
) -> Totals:
    """Put the parts of all shards together. The traces themselves are not needed."""
    require_target(output)
    folders = MergedFolders(places, asked_digest(bulk.scorer))
    folders.require_all()
    bulk.plan = folders.job.plan
    with rows_to(output) as rows:
        return bulk.merge(folders, rows, allow_incomplete)
