"""Conversations of a recorded wire."""

from __future__ import annotations

import sys

import pytest

from trialrun.importers import _threads
from trialrun.importers._threads import Threads
from trialrun.importers._wire import CARRIES
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


def _chat(reply, *messages, usage=7):
    """One call of OpenAI's API, with messages given as `role: text`."""
    pairs = [message.split(": ", 1) for message in messages]
    body = {"choices": [{"message": {"role": "assistant", "content": reply}}]}
    request = {"messages": [{"role": role, "content": text} for role, text in pairs]}
    return request, body | {"usage": {"prompt_tokens": usage - 1, "completion_tokens": 1}}


def _trace(*interactions):
    builder = TraceBuilder("test")
    threads = Threads(builder)
    for request, body in interactions:
        threads.add(request, body)
    threads.finish()
    return threads.conversation.trace(CARRIES)


def test_a_reply_that_the_next_request_changes_is_still_the_recorded_one():
    # CrewAI adds the tool's result to the reply, Pydantic AI leaves `<think>` out.
    trace = _trace(
        _chat("Action: add", "system: Be brief.", "user: 5 + 3?"),
        _chat("8", "system: Now answer.", "user: 5 + 3?", "assistant: Action: add\nObservation: 8"),
    )
    assert (trace.total_tokens, len(trace.llm_calls), trace.answer_text) == (14, 2, "8")


def test_a_reply_before_the_first_recorded_request_is_not_a_recorded_one():
    trace = _trace(
        _chat("4", "user: 2 + 2?"),
        _chat("40", "user: 2 + 2?", "assistant: 4", "user: times 10?"),
        _chat("1", "user: 1?", "assistant: 0", "user: 2 + 2?", "assistant: 4", "user: minus 3?"),
    )
    assert trace.total_tokens is None


def test_a_call_that_the_provider_ran_is_not_waiting_for_a_subagent():
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}
    said = {"type": "message", "role": "assistant", "content": [{"text": "Found."}]}
    first = {"input": "Who won?"}, {"output": [search, said], "object": "response"}
    trace = _trace(first, _chat("4", "user: 2 + 2?"))
    assert trace.answer_text == "4"
    assert all(step.parent_id is None for step in trace.llm_calls)
