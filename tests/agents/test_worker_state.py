"""Which threads that a case leaves behind keep a worker from being used again."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from trialrun.agents.running import worker_state
from trialrun.agents.running.worker_state import ProcessState


@pytest.fixture
def state(monkeypatch):
    # Other tests may have left child processes in this one.
    monkeypatch.setattr(worker_state, "has_children", lambda: False)
    return ProcessState()


def library(folder, monkeypatch):
    """A module that is installed like a library, with a thread that waits for work."""
    place = folder / "site-packages"
    place.mkdir()
    (place / "exporter_of_traces.py").write_text(
        "import threading\n\n\n"
        "class Exporter:\n"
        "    def __init__(self, work):\n"
        "        self.work = work\n"
        "        threading.Thread(target=self.run, daemon=True).start()\n\n"
        "    def run(self):\n"
        "        while (call := self.work.get()) is not None:\n"
        "            call()\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(place))
    import exporter_of_traces

    return exporter_of_traces


def _until(found):
    """Wait until the thread has reached the place that the test is about."""
    for _ in range(2000):
        if found():
            return
        time.sleep(0.005)
    raise AssertionError("not reached")


def test_a_thread_of_a_library_that_waits_does_not_count(state, tmp_path, monkeypatch):
    work = queue.SimpleQueue()
    library(tmp_path, monkeypatch).Exporter(work)
    assert not state.leave()
    entered, leave = threading.Event(), threading.Event()

    def mine():
        entered.set()
        leave.wait()

    work.put(mine)
    assert entered.wait(10)
    assert state.leave()  # now it runs the user's code
    leave.set()
    _until(lambda: not state.leave())
    work.put(None)


def test_an_idle_pool_does_not_count(state):
    with ThreadPoolExecutor(2) as pool:
        assert pool.submit(sum, [1]).result(10) == 1
        _until(lambda: not state.leave())


def test_a_thread_of_the_user_counts(state):
    end = threading.Event()
    pythons = threading.Thread(target=end.wait, daemon=True)
    mine = threading.Thread(target=lambda: end.wait(), daemon=True)
    pythons.start()
    assert not state.leave()  # the method is Python's own, and nothing says who has started it
    mine.start()
    assert state.leave()
    end.set()
    pythons.join()
    mine.join()


def test_a_thread_without_python_code_counts(state):
    """`time.sleep` could be anybody's: it counts."""
    lock = threading.Lock()
    lock.acquire()
    thread = threading.Thread(target=lock.acquire, daemon=True)
    thread.start()
    assert state.leave()
    lock.release()
    thread.join()


def test_a_timer_of_the_user_counts(state):
    timer = threading.Timer(300, lambda: None)
    timer.start()
    try:
        assert state.leave()
    finally:
        timer.cancel()
        timer.join()


def test_a_pool_that_works_for_the_user_counts(state):
    lock = threading.Lock()
    lock.acquire()
    pool = ThreadPoolExecutor(1)
    try:
        pool.submit(lock.acquire)
        _until(state.leave)
    finally:
        lock.release()
        pool.shutdown()
