"""Workers are started while questions wait for long, and not where waiting is cheaper."""

from __future__ import annotations

import asyncio

import pytest

from trialrun.agents.running import worker_supply
from trialrun.agents.running.worker_supply import Supply
from trialrun.errors import PluginError


class FakeWorker:
    pass


class Starts:
    """Makes a worker when its gate opens, and lists the gates."""

    def __init__(self, most=99):
        self.made = []
        self.pending = []
        self.most = most

    async def __call__(self):
        gate = asyncio.get_running_loop().create_future()
        self.pending.append(gate)
        try:
            await gate
        finally:
            self.pending.remove(gate)
        self.made.append(FakeWorker())
        return self.made[-1]

    async def finish_all(self):
        for gate in list(self.pending):
            if not gate.done():
                gate.set_result(None)
        await turns()


async def turns():
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(worker_supply, "cores", lambda: 2)


def run(work):
    return asyncio.run(work())


def test_a_free_worker_is_used_again():
    async def work():
        starts = Starts()
        supply = Supply(starts)
        first = FakeWorker()
        supply.give(first)
        for _ in range(3):
            assert await supply.take() is first
            supply.give(first)
        assert starts.pending == []

    run(work)


@pytest.mark.parametrize(
    ("ages", "starting", "waiting", "since_last", "expected"),
    [
        ([], 0, 5, 9.0, 2),  # no worker is busy: one a core
        ([], 0, 1, 9.0, 1),  # never more than questions that wait
        ([], 2, 5, 9.0, 0),  # at most one a core at a time
        ([0.001], 0, 5, 0.05, 1),  # one answers quickly: the other core is free
        ([0.001, 0.002], 0, 250, 0.05, 0),  # both cores are busy: another worker would only wait
        ([0.001, 0.002], 0, 250, 0.2, 1),  # but now and then one more is tried
        ([0.001, 0.002], 1, 250, 0.2, 0),
        ([0.5, 0.6, 0.7], 0, 250, 0.05, 2),  # they wait for a network
        ([0.5, 0.001], 0, 250, 0.05, 1),
        ([0.5, 0.6], 0, 0, 9.0, 0),  # no question waits
    ],
)
def test_how_many_are_started(ages, starting, waiting, since_last, expected):
    async def work():
        now = 100.0
        supply = Supply(Starts())
        supply._since = {FakeWorker(): now - age for age in ages}
        supply._starting = {object() for _ in range(starting)}
        supply._waiting.extend(asyncio.get_running_loop().create_future() for _ in range(waiting))
        supply._last_start = now - since_last
        assert supply._more(now) == expected
        supply._waiting.clear()

    run(work)


def test_questions_get_workers_in_the_order_in_which_they_came():
    async def work():
        starts = Starts()
        supply = Supply(starts)
        taking = [asyncio.ensure_future(supply.take()) for _ in range(5)]
        await turns()
        assert len(starts.pending) == 2
        await starts.finish_all()
        assert [task.done() for task in taking] == [True, True, False, False, False]
        supply.give(taking[1].result())
        supply.give(taking[0].result())
        await turns()
        assert [task.done() for task in taking] == [True, True, True, True, False]
        assert taking[2].result() is taking[1].result()
        supply.give(taking[2].result())
        await taking[4]
        await supply.close()

    run(work)


def test_a_worker_for_a_cancelled_question_goes_to_the_next():
    async def work():
        supply = Supply(Starts())
        only = FakeWorker()
        supply.give(only)
        held = await supply.take()
        first, second = (asyncio.ensure_future(supply.take()) for _ in range(2))
        await turns()
        supply.give(held)  # to the first, which is cancelled before it runs again
        first.cancel()
        await turns()
        assert first.cancelled()
        assert second.result() is only
        await supply.close()

    run(work)


def test_where_no_worker_can_be_started_the_question_has_the_error():
    async def refused():
        raise PluginError("no more processes")

    async def work():
        supply = Supply(refused)
        for _ in range(2):  # one after the other: the second is not forgotten
            with pytest.raises(PluginError, match="no more processes"):
                await supply.take()
        only = FakeWorker()
        supply.give(only)
        held = await supply.take()
        waiting = asyncio.ensure_future(supply.take())
        await asyncio.sleep(3 * worker_supply._TICK)
        assert not waiting.done()  # another worker may still answer
        supply.give(held)
        assert await waiting is only
        await supply.close()

    run(work)


def test_closing_ends_what_is_being_started():
    async def work():
        starts = Starts()
        supply = Supply(starts)
        taking = asyncio.ensure_future(supply.take())
        await turns()
        assert len(starts.pending) == 1
        await supply.close()
        assert starts.pending == []
        assert not taking.done()
        taking.cancel()

    run(work)
