"""Conversations of a recorded wire."""

from __future__ import annotations

import sys

import pytest

from trialrun.importers import _threads
from trialrun.importers._threads import Threads
from trialrun.importers.base import TraceBuilder


def _lines_run(work):
    """How many lines of the module are run."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        if frame.f_code.co_filename != _threads.__file__:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def _read(interactions):
    threads = Threads(TraceBuilder("test"))
    for request, body in interactions:
        threads.add(request, body)


def _separate(number):
    """Conversations that have nothing in common."""
    for n in range(number):
        request = {"messages": [{"role": "user", "content": f"question {n}"}]}
        yield request, {"id": f"r{n}", "choices": [{"message": {"role": "assistant"}}]}


def _continued(number):
    """Requests, each of which names the response to one of many conversations."""
    yield from _separate(number)
    for n in range(number):
        request = {"input": f"more {n}", "previous_response_id": f"r{n}"}
        yield request, {"id": f"s{n}", "choices": [{"message": {"role": "assistant"}}]}


@pytest.mark.parametrize("interactions", [_separate, _continued])
def test_a_conversation_is_found_without_a_search_of_all(interactions):
    some, twice = list(interactions(100)), list(interactions(200))
    assert _lines_run(lambda: _read(twice)) < 2.2 * _lines_run(lambda: _read(some))
