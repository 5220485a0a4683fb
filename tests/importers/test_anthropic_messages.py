"""Bodies, messages, streams and logs of Anthropic's Messages API."""

from __future__ import annotations

import pytest

from tests.importers.recordings import read, read_value
from trialrun.model.trace import StepStatus


def test_calls_of_code_belong_to_the_call_that_ran_the_code():
    trace = read("anthropic-messages/anthropic-programmatic-tool-calling.1.json")
    assert trace.tool_call_sequence == ["code_execution", *["rollDie"] * 4]
    code, *rolls = trace.tool_calls
    assert {call.parent_id for call in rolls} == {code.id}
    assert code.metadata["exit_code"] == 0
    assert [call.tool_args["player"] for call in rolls] == [f"player{n}" for n in (2, 1, 1, 2)]
    assert {call.status for call in rolls} == {StepStatus.PENDING}
    assert trace.output.startswith("**Game Over!**")
    assert trace.llm_calls[0].output.startswith("I'll help you simulate this dice game")
    assert trace.llm_calls[0].tokens.total_tokens == 4243 + 229


def test_the_later_usage_of_a_stream_wins():
    trace = read("anthropic-messages/anthropic-web-fetch-tool.1.chunks.txt")
    (reply,) = trace.llm_calls
    assert (reply.tokens.prompt_tokens, reply.tokens.completion_tokens) == (4230, 446)
    (call,) = trace.tool_calls
    assert call.tool_args == {"url": "https://en.wikipedia.org/wiki/Maglemosian_culture"}
    assert call.tool_result["type"] == "web_fetch_result"
    assert trace.output.startswith("This Wikipedia page is about the **Maglemosian culture**")
    assert trace.metadata.get("ends_in") is None


def test_messages_with_blocks_are_joined_by_the_ids_of_calls(tmp_path):
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}
    result = {"type": "tool_result", "tool_use_id": "a", "is_error": True, "content": "no"}
    messages = [
        {"role": "user", "content": "Q"},
        {"role": "assistant", "content": [{"type": "text", "text": "Trying."}, use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": "It failed."}]},
    ]
    (trace,) = read_value(tmp_path, messages)
    (call,) = trace.tool_calls
    assert (call.tool_args, call.tool_result) == ({"x": 1}, "no")
    assert call.status is StepStatus.FAILURE
    assert (trace.input, trace.output) == ("Q", "It failed.")
    assert len(trace.llm_calls) == 2
    assert not any(step.input for step in trace.steps)  # a result is not a prompt


def test_text_that_citations_split_is_one_text(tmp_path):
    texts = [{"type": "text", "text": text} for text in ("The ", "answer", " is 4.")]
    body = {"id": "m", "type": "message", "role": "assistant", "content": texts}
    (trace,) = read_value(tmp_path, body)
    assert trace.output == "The answer is 4."


@pytest.mark.parametrize(("given", "total"), [(36, 130), (100, 194)])
def test_cached_tokens_are_counted_beside_the_input(tmp_path, given, total):
    usage = {"input_tokens": given, "output_tokens": 20, "cache_read_input_tokens": 64}
    usage["cache_creation_input_tokens"] = 10
    text = {"type": "text", "text": "A"}
    body = {"type": "message", "role": "assistant", "content": [text], "usage": usage}
    (trace,) = read_value(tmp_path, {**body, "model": "claude-sonnet-5"})
    tokens = trace.llm_calls[0].tokens
    assert (tokens.prompt_tokens, tokens.total_tokens) == (given, total)
