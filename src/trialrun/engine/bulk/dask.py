"""Judge chunks on a Dask cluster: an existing one, or processes of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from trialrun.engine.bulk.anywhere import Recipe, keep, part_of
from trialrun.engine.bulk.chunks import Chunk
from trialrun.engine.bulk.folder import PartsFolder
from trialrun.engine.bulk.local import cores
from trialrun.engine.bulk.scoring import Engine
from trialrun.engine.bulk.work import Scorer
from trialrun.errors import StoreWriteError, TrialrunError, UsageError

_SECONDS = 15
_WAITING = 3  # chunks for each worker: the next one is there when one is finished


def on_a_cluster(spec: str, scheduler: str | None, jobs: int | None) -> Engine:
    """Judges on the cluster of this scheduler, else on a local one with so many processes."""
    distributed = _distributed()

    def judged(scorer: Scorer, chunks: Sequence[Chunk], folder: PartsFolder) -> Iterable[Chunk]:
        if not chunks:
            return
        recipe = Recipe(spec, scorer.options, scorer.full_rows)
        with ExitStack() as stack:
            client = _client(distributed, scheduler, min(jobs or cores(), len(chunks)), stack)
            try:
                yield from _in_turn(distributed, client, recipe, chunks, folder)
            except TrialrunError:
                raise
            except _lost(distributed) as error:
                raise StoreWriteError(
                    f"the Dask cluster was lost: {type(error).__name__}: {error}; "
                    "what is finished is kept: go on with --resume"
                ) from None

    return judged


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError("--engine dask needs: pip install '.[dask]' (in a clone)") from None
    return distributed


def _client(distributed: Any, scheduler: str | None, jobs: int, stack: ExitStack) -> Any:
    if scheduler is None:
        cluster = stack.enter_context(
            distributed.LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs="ERROR",
            )
        )
        return stack.enter_context(distributed.Client(cluster))
    try:
        return stack.enter_context(distributed.Client(scheduler, timeout=_SECONDS))
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"--scheduler {scheduler}: no Dask scheduler answers: {error}") from None


def _lost(distributed: Any) -> tuple[type[BaseException], ...]:
    """What ends the work without being an error of the user: its parts are kept."""
    from concurrent.futures import CancelledError

    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    lost = (distributed.KilledWorker, CommClosedError, FutureCancelledError)
    return (*lost, CancelledError, TimeoutError, OSError)


def _in_turn(
    distributed: Any, client: Any, recipe: Recipe, chunks: Sequence[Chunk], folder: PartsFolder
) -> Iterator[Chunk]:
    """A few chunks wait for each worker; the rows of those that are finished come back here."""
    coming = iter(chunks)
    by_key: dict[str, Chunk] = {}

    def ask() -> Any:
        chunk = next(coming, None)
        if chunk is None:
            return None
        future = client.submit(part_of, recipe, chunk, pure=False, retries=2)
        by_key[future.key] = chunk
        return future

    threads = sum(client.nthreads().values()) or 1
    first = [future for _ in range(threads * _WAITING) if (future := ask()) is not None]
    done = distributed.as_completed(first)
    for future in done:
        keep(folder, future.result())
        yield by_key.pop(future.key)
        future.release()
        following = ask()
        if following is not None:
            done.add(following)
