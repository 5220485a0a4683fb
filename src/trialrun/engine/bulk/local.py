"""Judge chunks in worker processes of this machine, or in this process."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from trialrun.engine.bulk.chunks import Chunk
from trialrun.engine.bulk.folder import PartsFolder
from trialrun.engine.bulk.work import Scorer, make_part
from trialrun.errors import StoreWriteError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_MOST_LOSSES = 3
_WAITING = 2  # chunks that wait for each worker

_scorer: Scorer | None = None
_folder: PartsFolder | None = None


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def can_fork() -> bool:
    """Whether workers can be copies of this process, which already has the cases.

    A fork copies only the thread that asks for it: a lock that another thread holds stays locked.
    """
    return sys.platform != "darwin" and hasattr(os, "fork") and threading.active_count() == 1


def judge_here(scorer: Scorer, chunks: Sequence[Chunk], folder: PartsFolder) -> Iterator[Chunk]:
    """Judge the chunks one after the other; each is yielded when its part is there."""
    for chunk in chunks:
        make_part(scorer, chunk, folder)
        yield chunk


def judge_in_processes(
    scorer: Scorer, chunks: Sequence[Chunk], folder: PartsFolder, jobs: int
) -> Iterator[Chunk]:
    """Judge the chunks in `jobs` processes; each is yielded when its part is there.

    If a process dies, what it had not finished is judged again. StoreWriteError if that happens
    again and again: what is finished stays in the folder.
    """
    from concurrent.futures.process import BrokenProcessPool

    left = {chunk.number: chunk for chunk in chunks}
    losses = 0
    while left:
        before = len(left)
        try:
            for chunk in _in_a_pool(scorer, list(left.values()), folder, jobs):
                del left[chunk.number]
                yield chunk
        except BrokenProcessPool:
            losses = losses + 1 if len(left) == before else 1
            if losses >= _MOST_LOSSES:
                raise StoreWriteError(
                    f"worker processes died {losses} times without finishing a chunk: out of "
                    "memory, killed, or ended by a check of yours"
                ) from None


def _in_a_pool(
    scorer: Scorer, chunks: Sequence[Chunk], folder: PartsFolder, jobs: int
) -> Iterator[Chunk]:
    # Imported for several processes only: it takes longer than judging a few traces.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _scorer, _folder
    _scorer, _folder = scorer, folder  # the workers are copies of this process
    context = multiprocessing.get_context("fork")
    sys.stdout.flush()
    sys.stderr.flush()
    pool = ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(os.getpid(),))
    try:
        yield from _in_turn(pool.submit, chunks, jobs)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        _end(pool)
        raise
    finally:
        _scorer = _folder = None
    pool.shutdown()


def _in_turn(
    submit: Callable[..., Future[None]], chunks: Sequence[Chunk], jobs: int
) -> Iterator[Chunk]:
    """A few chunks wait for the workers, so that the list of what is asked stays short."""
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting: dict[Future[None], Chunk] = {}
    coming = iter(chunks)
    while True:
        for chunk in coming:
            waiting[submit(_judge, chunk)] = chunk
            if len(waiting) >= jobs * _WAITING:
                break
        if not waiting:
            return
        done, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
            yield waiting.pop(future)


def _judge(chunk: Chunk) -> None:
    assert _scorer is not None and _folder is not None
    make_part(_scorer, chunk, _folder)


def _begin(parent: int) -> None:
    """What a worker does first: leave Ctrl-C to the parent, and end when the parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _end(pool: ProcessPoolExecutor) -> None:
    """Kill the workers: what they are doing is judged again after a resume."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()
