"""Messages, bodies, streams and logs of OpenAI's chat API."""

from __future__ import annotations

import json

import pytest

from tests.importers.recordings import read, read_value, report
from trialrun.importers.base import Source
from trialrun.importers.openai_chat import OpenaiChatImporter
from trialrun.model.trace import StepStatus, StepType


def _call(key, name="f", arguments="{}"):
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_list_of_messages_has_a_model_call_for_each_reply():
    trace = read("openai-chat/chat-messages-function-calling.json")
    assert trace.input.startswith("Hello! Can you create a new Python file named hello.py")
    assert trace.output.startswith("Great! The `hello.py` file already exists")
    assert len(trace.llm_calls) == 6
    editor = "str_replace_editor"
    assert trace.tool_call_sequence == [editor, "terminal", editor, editor, "terminal", "finish"]
    assert trace.tool_calls[1].tool_args["command"] == "pwd && ls -la"
    assert trace.tool_calls[4].tool_result.startswith("Hello, World!\n[The command completed")
    assert {"tokens", "costs", "timings"} <= set(report(trace)["absent"])


def test_a_log_is_one_model_call_with_the_earlier_calls_as_history():
    trace = read("openai-chat/litellm-claude-call-2.json")
    assert len(trace.llm_calls) == 1
    assert trace.tool_call_sequence == ["str_replace_editor", "terminal"]
    assert trace.output.startswith("Let me first check the current directory structure")
    reply = trace.llm_calls[0]
    assert (reply.tokens.prompt_tokens, reply.tokens.completion_tokens) == (5002, 95)
    assert reply.cost_usd == 0.016431
    assert reply.duration_ms == pytest.approx(3114.6161556)
    assert trace.tool_calls[1].status is StepStatus.PENDING
    assert trace.tool_calls[1].parent_id == reply.id
    assert report(trace)["dropped"] == {"reply in the history, without its usage": 1}


@pytest.mark.parametrize("earlier", [0, 2])
def test_a_log_with_earlier_replies_has_no_figures_of_the_whole_run(tmp_path, earlier):
    """One call of three, with 10 tokens, must not pass for a run of one call and 10 tokens."""
    messages = [{"role": "user", "content": "Q"}]
    messages += [{"role": "assistant", "content": f"step {n}"} for n in range(earlier)]
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    body = {"choices": [{"message": {"role": "assistant", "content": "A"}}], "usage": usage}
    log = {"messages": messages, "response": body, "cost": 0.5, "latency": 2}
    (trace,) = read_value(tmp_path, log)
    whole = {"llm_calls", "tokens", "costs", "timings"}
    assert whole & trace.recorded == (set() if earlier else whole)
    assert {"answer", "tool_calls"} <= trace.recorded
    assert [reply.tokens.total_tokens for reply in trace.llm_calls] == [10]


def test_a_reply_without_text_in_a_log_leaves_the_answer_open(tmp_path):
    """The text of an earlier reply must not become the answer of this one."""
    reply = {"role": "assistant", "content": "Looking.", "tool_calls": [_call("a")]}
    messages = [{"role": "user", "content": "Q"}, reply]
    messages.append({"role": "tool", "tool_call_id": "a", "content": "1"})
    body = {"choices": [{"message": {"role": "assistant", "tool_calls": [_call("b")]}}]}
    (trace,) = read_value(tmp_path, {"messages": messages, "response": body})
    assert trace.output is None
    assert "answer" in report(trace)["absent"]


def test_a_stream_is_put_together(tmp_path):
    def chunk(delta, **more):
        return {
            "id": "c",
            "object": "chat.completion.chunk",
            "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
            **more,
        }

    def call(**function):
        return {"tool_calls": [{"index": 0, "id": function.pop("id", None), "function": function}]}

    chunks = [
        chunk({"role": "assistant", "content": "Let "}),
        chunk({"content": "me see."}),
        chunk(call(id="k", name="look", arguments="")),
        chunk(call(arguments='{"at": ')),
        chunk(call(arguments='"x"}')),
    ]
    chunks[-1]["choices"][0]["finish_reason"] = "tool_calls"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    usage["prompt_tokens_details"] = {"cached_tokens": 64}
    usage["completion_tokens_details"] = {"reasoning_tokens": 8}
    chunks.append({**chunk({}), "choices": [], "usage": usage})
    text = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n"
    (trace,) = read_value(tmp_path, text, "stream.txt")
    (reply,) = trace.llm_calls
    assert reply.output == "Let me see."
    assert trace.tool_calls[0].tool_args == {"at": "x"}
    assert reply.tokens.total_tokens == 120
    assert (reply.tokens.cached_tokens, reply.tokens.reasoning_tokens) == (64, 8)
    (cut,) = read_value(tmp_path, "\n".join(map(json.dumps, chunks[:2])), "cut.jsonl")
    assert cut.output is None
    assert cut.metadata["unfinished"] == "the stream has no end"


def test_calls_that_are_streamed_whole_and_without_an_index_are_several(tmp_path):
    def chunk(key):
        function = {"name": "f", "arguments": json.dumps({"x": key})}
        delta = {"tool_calls": [{"id": key, "function": function}]}
        choice = {"index": 0, "delta": delta, "finish_reason": "tool_calls"}
        return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}

    text = "\n".join(json.dumps(chunk(key)) for key in "ab")
    (trace,) = read_value(tmp_path, text, "stream.jsonl")
    assert [call.tool_args for call in trace.tool_calls] == [{"x": "a"}, {"x": "b"}]


@pytest.mark.parametrize(("total", "made"), [(120, 20), (128, 28)])
def test_reasoning_beside_the_output_is_counted(tmp_path, total, made):
    """Where the total is the sum of all three, reasoning is not part of the output."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": total}
    usage["completion_tokens_details"] = {"reasoning_tokens": 8}
    body = {"choices": [{"message": {"role": "assistant", "content": "A"}}], "usage": usage}
    (trace,) = read_value(tmp_path, body)
    tokens = trace.llm_calls[0].tokens
    assert (tokens.total_tokens, tokens.completion_tokens) == (total, made)


def test_lines_with_messages_are_one_trace_each(tmp_path):
    def line(n):
        messages = [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": str(n)}]
        return json.dumps({"messages": messages})

    traces = read_value(tmp_path, f"{line(1)}\n{line(2)}\n", "many.jsonl")
    assert [(trace.input, trace.output) for trace in traces] == [("1?", "1"), ("2?", "2")]


def test_further_prompts_are_turns(tmp_path):
    messages = [{"role": "user", "content": "A?"}, {"role": "assistant", "content": "a"}]
    messages += [{"role": "user", "content": "B?"}, {"role": "assistant", "content": "b"}]
    (trace,) = read_value(tmp_path, messages)
    asked = next(step for step in trace.steps if step.type is StepType.HUMAN_INPUT)
    assert (asked.input, asked.metadata["answered"]) == ("B?", "a")
    assert (trace.input, trace.output) == ("A?", "b")


def test_the_answer_may_be_in_the_arguments_of_the_last_call(tmp_path):
    call = _call("a", "final_answer", '{"answer": 42}')
    messages = [{"role": "user", "content": "Q"}, {"role": "assistant", "tool_calls": [call]}]
    (trace,) = read_value(tmp_path, messages)
    assert trace.output == 42


def test_results_without_an_id_go_to_the_call_of_that_name(tmp_path):
    """Before `tool_calls` there was `function_call`, which has no id."""
    messages = [
        {"role": "user", "content": "Q"},
        {"role": "assistant", "function_call": {"name": "f", "arguments": '{"x": 1}'}},
        {"role": "function", "name": "f", "content": "one"},
        {"role": "assistant", "content": "done"},
    ]
    (trace,) = read_value(tmp_path, messages)
    assert [(call.tool_args, call.tool_result) for call in trace.tool_calls] == [({"x": 1}, "one")]


def test_commands_in_texts_are_left_to_another_importer(tmp_path):
    """Messages of mini-swe-agent look alike; read as a chat they would have no tool calls."""
    messages = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "`ls`"}]
    messages.append({"role": "user", "content": "<returncode>0</returncode>"})
    assert not OpenaiChatImporter().recognises(Source.of_value(messages, "file.json"))
    assert OpenaiChatImporter().recognises(Source.of_value(messages[:2], "file.json"))


def test_a_result_without_a_call_is_reported(tmp_path):
    messages = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    messages.insert(1, {"role": "tool", "tool_call_id": "x", "content": "1"})
    (trace,) = read_value(tmp_path, messages)
    assert report(trace)["dropped"] == {"result without a call": 1}
    assert "tool_calls" not in trace.recorded
