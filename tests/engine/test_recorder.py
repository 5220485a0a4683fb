"""The recorder: attempts count when durable, in as few transactions as possible."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.store.samples import attempt, no_redaction, planned, run
from tests.watchdog import WALL_SECONDS
from trialrun.engine.recorder import Recorder
from trialrun.errors import StoreWriteError
from trialrun.store import open_store


class SlowStore:
    """Logs what it is given; each write waits until the test releases it."""

    def __init__(self):
        self.groups = []
        self.durable = []
        self.gate = threading.Event()
        self.problem = None

    def add(self, run_id, attempts, redactor):
        self.groups.append([made.position for made in attempts])
        assert self.gate.wait(WALL_SECONDS)
        if self.problem is not None:
            raise self.problem
        self.durable += [made.position for made in attempts]


def test_an_attempt_counts_only_when_it_is_durable():
    store = SlowStore()

    async def go():
        recorder = Recorder(store, "run", no_redaction)
        adding = asyncio.ensure_future(recorder.add(attempt(1)))
        await asyncio.sleep(0.05)
        assert (store.groups, store.durable, adding.done()) == ([[1]], [], False)
        store.gate.set()
        await adding
        assert store.durable == [1]
        await recorder.close()

    asyncio.run(go())


def test_attempts_that_finish_during_a_write_go_into_the_next():
    store = SlowStore()

    async def go():
        recorder = Recorder(store, "run", no_redaction)
        adding = [asyncio.ensure_future(recorder.add(attempt(0)))]
        await asyncio.sleep(0.05)
        adding += [asyncio.ensure_future(recorder.add(attempt(at))) for at in range(1, 251)]
        await asyncio.sleep(0)
        store.gate.set()
        await asyncio.gather(*adding)
        await recorder.close()

    asyncio.run(go())
    assert [len(group) for group in store.groups] == [1, 200, 50]
    assert store.durable == list(range(251))


def test_a_failed_write_raises_in_every_waiting_caller():
    store = SlowStore()
    store.gate.set()
    store.problem = StoreWriteError("the disk is full")

    async def go():
        recorder = Recorder(store, "run", no_redaction)
        both = await asyncio.gather(
            recorder.add(attempt(0)), recorder.add(attempt(1)), return_exceptions=True
        )
        await recorder.close()
        return both

    found = asyncio.run(go())
    assert [str(error) for error in found] == ["the disk is full"] * 2


def test_one_bad_attempt_does_not_lose_the_others():
    class PickyStore(SlowStore):
        def add(self, run_id, attempts, redactor):
            if any(made.position == 1 for made in attempts):
                raise StoreWriteError("attempt 1 holds an object")
            super().add(run_id, attempts, redactor)

    store = PickyStore()
    store.gate.set()

    async def go():
        recorder = Recorder(store, "run", no_redaction)
        adding = (recorder.add(attempt(at)) for at in range(3))
        found = await asyncio.gather(*adding, return_exceptions=True)
        await recorder.close()
        return found

    before, refused, after = asyncio.run(go())
    assert (before, str(refused), after) == (None, "attempt 1 holds an object", None)
    assert store.durable == [0, 2]


def test_cancelling_the_wait_does_not_cancel_the_write():
    """Ctrl-C during a write: the attempt is finished, so it is recorded."""
    store = SlowStore()

    async def go():
        recorder = Recorder(store, "run", no_redaction)
        first = asyncio.ensure_future(recorder.add(attempt(0)))
        await asyncio.sleep(0.05)
        second = asyncio.ensure_future(recorder.add(attempt(1)))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        store.gate.set()
        await recorder.close()

    asyncio.run(go())
    assert store.durable == [0, 1]


def test_a_real_store_has_the_attempt_when_add_returns(tmp_path):
    location = str(tmp_path / "runs.db")
    with open_store(location) as store:
        store.create_run(run(1, 5), planned(5))

        async def go():
            recorder = Recorder(store, run(1).id, no_redaction)
            for position in range(5):
                await recorder.add(attempt(position))
                with open_store(location, create=False) as reader:
                    assert list(reader.recorded(run(1).id)) == list(range(position + 1))
            with pytest.raises(StoreWriteError, match="'case 2', attempt 1 is recorded already"):
                await recorder.add(attempt(2))
            await recorder.close()

        asyncio.run(go())
