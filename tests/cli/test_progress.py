"""The progress of a run, by a scripted clock: its rate, and how long is left."""

from __future__ import annotations

import heapq
from random import Random

import pytest

from trialrun.cli.progress import Progress, rate_text
from trialrun.model.results import EvaluationResult

RESULT = EvaluationResult.without_verdict("a", "none")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def played(durations, jobs, startup=0.0):
    """A run of these durations, so many at once: (progress, seconds that are really left), at each
    end of an attempt and half-way to the next one."""
    clock = Clock()
    progress = Progress(len(durations), quiet=True, clock=clock)
    clock.now = 100.0  # the run was prepared; then agents start
    waiting = list(reversed(durations))
    running: list[float] = []
    ends: list[float] = []
    states = []

    def start():
        progress.started()
        took = waiting.pop()
        late = startup if len(ends) < jobs else 0.0
        heapq.heappush(running, clock.now + took + late)
        ends.append(0.0)

    while waiting and len(running) < jobs:
        start()
    while running:
        before = clock.now
        end = heapq.heappop(running)
        if end > before:
            clock.now = (before + end) / 2
            states.append((clock.now, progress.done, progress.rate(), progress.seconds_left()))
        clock.now = end
        progress.finished(RESULT)
        if waiting:
            start()
        states.append((clock.now, progress.done, progress.rate(), progress.seconds_left()))
    last = {at: state for at, *state in states}  # several may end at the same time
    return [(done, rate, left, clock.now - at) for at, (done, rate, left) in last.items()]


@pytest.mark.parametrize("jobs", [1, 4, 16])
def test_a_steady_run_is_estimated_exactly(jobs):
    states = played([10.0] * 160, jobs)
    known = [state for state in states if state[2] is not None]
    assert len(known) > 10
    for done, rate, left, truth in known:
        assert left == pytest.approx(truth, abs=10.0), done
        assert rate == pytest.approx(jobs / 10, rel=0.35)
    # Away from the first batches, half of a duration is the most that it is wrong.
    assert all(abs(left - truth) <= 5.01 for done, _, left, truth in known if done > 4 * jobs)


@pytest.mark.parametrize("jobs", [1, 4, 8])
def test_attempts_of_different_lengths_are_estimated_within_a_third(jobs):
    random = Random(7)
    states = played([random.uniform(2, 20) for _ in range(400)], jobs)
    middle = [state for state in states if 60 < state[0] < 360]
    wrong = [abs(left - truth) / truth for _, _, left, truth in middle]
    assert max(wrong) < 0.34 and sum(wrong) / len(wrong) < 0.12


def test_the_estimate_follows_when_the_run_becomes_slower():
    """An average over the whole run would say a third of the time."""
    states = played([1.0] * 200 + [10.0] * 100, 1)
    _, rate, left, truth = next(state for state in states if state[0] == 245)
    assert left == pytest.approx(truth, rel=0.05) and rate == pytest.approx(0.1, rel=0.05)


def test_starting_the_workers_is_forgotten():
    states = played([1.0] * 200, 4, startup=60.0)
    assert all(left is None for done, _, left, _ in states if done <= 4)
    for done, _, left, truth in states:
        if 60 < done < 200:
            assert left == pytest.approx(truth, abs=3.0)


def test_a_run_that_hangs_does_not_promise_an_end():
    clock = Clock()
    progress = Progress(100, quiet=True, clock=clock)
    for _ in range(50):
        progress.started()
        clock.now += 1
        progress.finished(RESULT)
    progress.started()
    before = progress.seconds_left()
    clock.now += 600
    assert before == pytest.approx(50) and progress.seconds_left() > 600


def test_nothing_is_estimated_at_the_start_at_the_end_and_beyond_the_total():
    clock = Clock()
    progress = Progress(3, quiet=True, clock=clock)
    assert progress.rate() is None and progress.seconds_left() is None
    for _ in range(3):
        progress.started()
        clock.now += 2
        progress.finished(RESULT)
    assert progress.seconds_left() is None and "left" not in progress._line()
    progress.started()  # --until-decided: the total is a lower bound
    assert progress.seconds_left() is None


def test_attempts_that_end_at_once_have_no_rate():
    progress = Progress(10, quiet=True, clock=Clock())
    for _ in range(3):
        progress.started()
        progress.finished(RESULT)
    assert progress.rate() is None and progress.seconds_left() is None


def test_the_line_has_counts_rate_and_time():
    clock = Clock()
    progress = Progress(50, quiet=True, clock=clock)
    for _ in range(10):
        progress.started()
        clock.now += 3
        progress.finished(RESULT)
    progress.started()
    assert progress._line() == (
        "10 of 50 done · 1 running · 0 passed · 10 in error · 20/min · about 2 min left"
    )


@pytest.mark.parametrize(
    ("rate", "text"),
    [(2.54, "2.5/s"), (12.4, "12/s"), (0.2, "12/min"), (1 / 60, "1.0/min"), (0.001, "3.6/h")],
)
def test_rates_have_a_readable_unit(rate, text):
    assert rate_text(rate) == text
