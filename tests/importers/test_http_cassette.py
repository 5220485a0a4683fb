"""HTTP cassettes of calls to model APIs."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from tests.importers.recordings import read, read_value, report
from trialrun import TraceError
from trialrun.importers import scan
from trialrun.model.trace import StepStatus, StepType


def _chat(messages, reply, **more):
    """An interaction; `reply` is the text of the answer, or calls."""
    message = {"role": "assistant", "content": reply}
    if not isinstance(reply, str):
        message = {"role": "assistant", "content": None, "tool_calls": reply}
    usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
    body = {"object": "chat.completion", "model": "m", "choices": [{"message": message}]}
    response = {"status": {"code": 200}, "body": {"string": json.dumps({**body, "usage": usage})}}
    request = {"method": "POST", "uri": "https://api.example/v1/chat/completions"}
    request["body"] = json.dumps({"model": "m", "messages": messages})
    return {"request": request, "response": {**response, **more}}


def _cassette(*interactions):
    return {"version": 1, "interactions": list(interactions)}


def test_results_of_local_tools_are_found_in_the_next_request():
    trace = read("http-cassettes/openai-chat-crewai-parallel.yaml")
    names = [f"parallel_local_search_{n}" for n in ("one", "two", "three")]
    assert trace.tool_call_sequence == names
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert trace.tool_calls[1].tool_result == "[two] latest Anthropic model release notes"
    assert [reply.tokens.total_tokens for reply in trace.llm_calls] == [1875, 2548]
    assert trace.output.startswith("The results show the latest model release notes for OpenAI")
    # The framework's own text after the results is not a prompt of the user.
    assert not any(step.type is StepType.HUMAN_INPUT for step in trace.steps)


def test_a_conversation_inside_an_open_call_is_a_subagents():
    trace = read("http-cassettes/openai-chat-crewai-tool-errors.yaml")
    assert trace.tool_call_sequence == ["Delegate_work_to_coworker", "scoring_examples"]
    delegate = trace.tool_calls[0]
    parents = [reply.parent_id for reply in trace.llm_calls]
    assert parents == [None, delegate.id, delegate.id, None]
    assert trace.output == "3 out of 5"
    assert sum(reply.tokens.total_tokens for reply in trace.llm_calls) == 706 + 337 + 499 + 873


def test_requests_that_name_the_previous_response_are_joined():
    trace = read("http-cassettes/openai-responses-multiple-tools.yaml")
    results = {call.tool_name: call.tool_result for call in trace.tool_calls}
    assert results == {"get_temperature": "72°F", "get_humidity": "65%"}
    assert trace.input.startswith("What's the weather like in San Francisco?")
    assert trace.output.startswith("The weather in San Francisco is as follows:")


def test_a_stream_is_put_together():
    trace = read("http-cassettes/anthropic-mcp-servers-stream.yaml")
    assert trace.tool_call_sequence == ["ask_question"]
    assert trace.tool_calls[0].tool_args["repoName"] == "pydantic/pydantic-ai"
    assert trace.tool_calls[0].tool_result
    assert trace.llm_calls[0].tokens.total_tokens == 3042 + 354


def test_runs_one_after_the_other_are_turns(tmp_path):
    one, two = {"role": "user", "content": "A?"}, {"role": "user", "content": "B?"}
    cassette = _cassette(_chat([one], "a"), _chat([two], "b"), _chat([two], "b"))
    (trace,) = read_value(tmp_path, cassette)
    asked = [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    assert (trace.input, asked, trace.output) == ("A?", ["B?", "B?"], "b")
    assert len(trace.llm_calls) == 3


def test_the_same_words_twice_in_a_conversation_are_two_prompts(tmp_path):
    yes, said = {"role": "user", "content": "Yes"}, {"role": "assistant", "content": "ok"}
    (trace,) = read_value(tmp_path, _cassette(_chat([yes], "ok"), _chat([yes, said, yes], "done")))
    asked = [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    assert (trace.input, asked) == ("Yes", ["Yes"])


def test_a_prompt_after_the_call_that_answers_is_a_prompt(tmp_path):
    asked, again = {"role": "user", "content": "A?"}, {"role": "user", "content": "B?"}
    call = {"id": "a", "type": "function"}
    call["function"] = {"name": "final_result", "arguments": '{"response": 4}'}
    said = {"role": "assistant", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "a", "content": "Final result processed."}
    cassette = _cassette(_chat([asked], [call]), _chat([asked, said, result, again], "b"))
    (trace,) = read_value(tmp_path, cassette)
    (step,) = [step for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    assert (step.input, step.metadata["answered"], trace.output) == ("B?", 4, "b")


def test_a_request_that_continues_a_response_has_only_new_prompts(tmp_path):
    def turn(number, **more):
        text = {"type": "output_text", "text": f"answer {number}"}
        message = {"type": "message", "role": "assistant", "content": [text]}
        body = {"id": f"r{number}", "object": "response", "output": [message]}
        asked = {"input": [{"role": "user", "content": "Go on"}], **more}
        request = {"uri": "https://api.example/v1/responses", "body": json.dumps(asked)}
        return {"request": request, "response": {"body": {"string": json.dumps(body)}}}

    (trace,) = read_value(tmp_path, _cassette(turn(1), turn(2, previous_response_id="r1")))
    asked = [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    assert (trace.input, asked, trace.output) == ("Go on", ["Go on"], "answer 2")


def test_a_call_without_an_id_gets_it_from_the_next_request(tmp_path):
    """Some servers send no ids; the client makes them up."""
    asked = {"role": "user", "content": "Q"}
    call = {"type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    again = {"role": "assistant", "tool_calls": [{**call, "id": "made-up"}]}
    result = {"role": "tool", "tool_call_id": "made-up", "content": "one"}
    cassette = _cassette(_chat([asked], [call]), _chat([asked, again, result], "A"))
    (trace,) = read_value(tmp_path, cassette)
    assert [(one.tool_args, one.tool_result) for one in trace.tool_calls] == [({"x": 1}, "one")]


@pytest.mark.parametrize("fault", [{"is_error": True}, {"status": "error"}])
def test_a_result_that_failed_is_a_failure(tmp_path, fault):
    asked = {"role": "user", "content": "Q"}
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "a", "content": "no such file", **fault}
    cassette = _cassette(_chat([asked], [call]), _chat([asked, said, result], "A"))
    (trace,) = read_value(tmp_path, cassette)
    assert trace.tool_calls[0].status is StepStatus.FAILURE


def test_other_calls_are_dropped_and_reported(tmp_path):
    other = {"request": {"uri": "https://telemetry.example/x", "body": "{}"}, "response": {}}
    messages = [{"role": "user", "content": "Q"}]
    failed = _chat(messages, "", status={"code": 429}, body={"string": '{"error": {}}'})
    counted = _chat(messages, "", body={"string": '{"input_tokens": 9}'})
    (trace,) = read_value(tmp_path, _cassette(other, failed, counted, _chat(messages, "A")))
    assert len(trace.llm_calls) == 1
    assert report(trace)["dropped"] == {
        "call to telemetry.example": 1,
        "failed call to api.example (HTTP 429)": 1,
        "call to api.example without a reply of a model": 1,
    }


def test_compressed_bodies_are_read(tmp_path):
    call = _chat([{"role": "user", "content": "Q"}], "A")
    packed = base64.b64encode(gzip.compress(call["response"]["body"]["string"].encode())).decode()
    call["response"]["body"] = {"base64_string": packed}
    (trace,) = read_value(tmp_path, _cassette(call))
    assert trace.output == "A"
    lines = ["interactions:", "- request:", "    body: '" + call["request"]["body"] + "'"]
    lines += ["  response:", "    body:", "      string: !!binary |", "        " + packed]
    (trace,) = read_value(tmp_path, "\n".join(lines) + "\n", "packed.yaml")
    assert trace.output == "A"


def test_a_cassette_without_model_calls_has_no_trace(tmp_path):
    other = {"request": {"uri": "https://a.example/x", "body": None}, "response": {}}
    with pytest.raises(TraceError, match="no call to a model API"):
        read_value(tmp_path, _cassette(other))


def test_references_cannot_make_a_cassette_endless(tmp_path):
    lines = ["interactions:", "- request: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"- request: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    file = tmp_path / "bomb.yaml"
    file.write_text("\n".join(lines), encoding="utf-8")
    _, (problem,), _ = scan(file)
    assert "too large once its references are followed" in str(problem)


def _interaction(request, body):
    request = {"uri": "https://api.example/v1", "body": json.dumps(request)}
    return {"request": request, "response": {"body": {"string": json.dumps(body)}}}


_WHOLE = {"llm_calls", "tokens", "costs"}
_ASKED = {"role": "user", "content": "Q"}


def _began_later(api):
    """A recording that begins after a call of `delete`, in the shapes of three APIs."""
    if api == "anthropic":
        use = {"type": "tool_use", "id": "d", "name": "delete", "input": {"file": "a"}}
        result = {"type": "tool_result", "tool_use_id": "d", "content": "gone"}
        history = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        body = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "A"}]}
        body |= {"usage": {"input_tokens": 9, "output_tokens": 1}}
        return _interaction({"messages": [_ASKED, *history]}, body)
    if api == "responses":
        call = {"type": "function_call", "call_id": "d", "name": "delete"}
        output = {"type": "function_call_output", "call_id": "d", "output": "gone"}
        text = {"type": "output_text", "text": "A"}
        message = {"type": "message", "role": "assistant", "content": [text]}
        body = {"object": "response", "output": [message]}
        body |= {"usage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}}
        history = [{**call, "arguments": '{"file": "a"}'}, output]
        return _interaction({"input": [_ASKED, *history]}, body)
    function = {"name": "delete", "arguments": '{"file": "a"}'}
    if api == "chat, without ids":
        said = {"role": "assistant", "function_call": function}
        return _chat([_ASKED, said, {"role": "function", "name": "delete", "content": "gone"}], "A")
    said = {"role": "assistant", "tool_calls": [{"id": "d", "function": function}]}
    return _chat([_ASKED, said, {"role": "tool", "tool_call_id": "d", "content": "gone"}], "A")


@pytest.mark.parametrize("api", ["chat", "chat, without ids", "anthropic", "responses"])
def test_calls_of_replies_that_were_not_recorded_are_calls(tmp_path, api):
    (trace,) = read_value(tmp_path, _cassette(_began_later(api)))
    (call,) = trace.tool_calls
    assert (call.tool_name, call.tool_args, call.tool_result) == ("delete", {"file": "a"}, "gone")
    assert trace.output == "A"
    assert "tool_calls" in trace.recorded
    assert not _WHOLE & trace.recorded
    assert report(trace)["dropped"] == {"reply in the history, without its usage": 1}


def test_calls_without_an_id_are_not_taken_for_new_ones_in_the_next_request(tmp_path):
    function = {"name": "f", "arguments": '{"x": 1}'}
    said = {"role": "assistant", "function_call": function}
    result = {"role": "function", "name": "f", "content": "one"}
    first = _chat([_ASKED], "")
    message = {"message": said}
    body = {"object": "chat.completion", "choices": [message], "usage": {"prompt_tokens": 9}}
    first["response"]["body"]["string"] = json.dumps(body)
    more = [{"role": "assistant", "content": "A"}, {"role": "user", "content": "R"}]
    cassette = _cassette(
        first, _chat([_ASKED, said, result], "A"), _chat([_ASKED, said, result, *more], "B")
    )
    (trace,) = read_value(tmp_path, cassette)
    assert [(one.tool_args, one.tool_result) for one in trace.tool_calls] == [({"x": 1}, "one")]
    assert "dropped" not in report(trace)
    assert {"llm_calls", "tool_calls"} <= trace.recorded


def test_a_result_without_a_call_shows_that_calls_are_missing(tmp_path):
    result = {"role": "tool", "tool_call_id": "x", "content": "gone"}
    (trace,) = read_value(tmp_path, _cassette(_chat([_ASKED, result], "A")))
    assert report(trace)["dropped"] == {"result without a call": 1}
    assert "tool_calls" not in trace.recorded


def test_a_request_that_continues_an_unknown_response_is_not_the_whole_run(tmp_path):
    text = {"type": "output_text", "text": "A"}
    message = {"type": "message", "role": "assistant", "content": [text]}
    body = {"id": "r2", "object": "response", "output": [message], "usage": {"input_tokens": 9}}
    request = {"input": [_ASKED], "previous_response_id": "r1"}
    for document in (_cassette(_interaction(request, body)), {**request, "response": body}):
        (trace,) = read_value(tmp_path, document)
        assert not (_WHOLE | {"tool_calls"}) & trace.recorded
        assert trace.output == "A"
