"""Replies that ended abnormally, or that contain more than the verdict."""

from __future__ import annotations

import json

import pytest

from tests.judge.conftest import ANTHROPIC, RESPONSES, asked_of
from tests.judge.servers import VERDICT, Reply

CALL = {
    "id": "c",
    "type": "function",
    "function": {"name": "give_verdict", "arguments": VERDICT % 5},
}


def chat(reason, **message):
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return Reply(body=json.dumps({**body, "choices": [choice]}))


def anthropic(reason):
    verdict = json.loads(VERDICT % 5)
    block = {"type": "tool_use", "id": "t", "name": "give_verdict", "input": verdict}
    body = {"id": "x", "type": "message", "role": "assistant", "model": "m", "content": [block]}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return Reply(body=json.dumps({**body, "stop_reason": reason, "usage": usage}))


def responses(status):
    call = {"type": "function_call", "id": "f", "call_id": "c", "status": "completed"}
    call |= {"name": "give_verdict", "arguments": VERDICT % 5}
    body = {"id": "x", "object": "response", "created_at": 1, "model": "m", "status": status}
    body |= {"output": [call], "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
    return Reply(body=json.dumps(body))


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "function_call", None])
def test_a_normal_finish_reason_gives_a_verdict(serve, reason):
    """Some local servers send no finish reason."""
    assert asked_of(serve(chat(reason, content=None, tool_calls=[CALL])), retries=0).passed is True


@pytest.mark.parametrize("reason", ["error", "abort", "weird", "guardrail_intervened"])
def test_another_finish_reason_gives_no_verdict(serve, reason):
    found = asked_of(serve(chat(reason, content=None, tool_calls=[CALL])), retries=0)
    assert found.passed is None
    assert found.votes[0].error == f'the judge\'s reply ended unexpectedly: "{reason}"'
    said = serve(chat(reason, content=VERDICT % 5))
    assert asked_of(said, output="json", retries=0).passed is None


@pytest.mark.provider
@pytest.mark.parametrize(
    ("reason", "passed"),
    [
        ("tool_use", True),
        ("end_turn", True),
        ("pause_turn", None),
        ("refusal", None),
        ("odd", None),
    ],
)
def test_finish_reasons_of_anthropic(serve, reason, passed):
    assert asked_of(serve(anthropic(reason)), ANTHROPIC, retries=0).passed is passed


@pytest.mark.provider
@pytest.mark.parametrize(
    ("status", "passed"), [("completed", True), ("cancelled", None), ("failed", None)]
)
def test_finish_reasons_of_the_responses_protocol(serve, status, passed):
    assert asked_of(serve(responses(status)), RESPONSES, retries=0).passed is passed


FIVE = VERDICT % 5


@pytest.mark.parametrize(
    "said",
    [
        f"{FIVE}<think>no: score 1</think>",
        f"<think>hm</think>{FIVE}<think>no: score 1</think>",
        f"<think>{FIVE}</think>",
        f"<think>{FIVE}",
        f"{FIVE}{VERDICT % 1}",
        f"{FIVE} but rather 1",
        f"```json\n{FIVE}\n```\nand that is final",
        f"Here it is:\n```json\n{FIVE}\n```",
        f"```json\n{FIVE}\n```\n```json\n{VERDICT % 1}\n```",
        f"```python\n{FIVE}\n```",
        f"```json\n{FIVE}",
    ],
)
def test_text_beside_the_json_makes_it_invalid(serve, said):
    assert asked_of(serve(chat("stop", content=said)), output="json", retries=0).passed is None


@pytest.mark.parametrize("said", [f"```json\n{FIVE}\n```", f"\n```\n{FIVE}\n```\n"])
def test_one_fence_around_the_verdict_is_read(serve, said):
    assert asked_of(serve(chat("stop", content=said)), output="json", retries=0).score == 5.0


@pytest.mark.parametrize("said", [FIVE, f"\n{FIVE}\n", f"<think>at first 1</think>\n{FIVE}"])
def test_a_model_may_think_first(serve, said):
    assert asked_of(serve(chat("stop", content=said)), output="json", retries=0).score == 5.0
