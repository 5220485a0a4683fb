"""Bodies, items, streams and logs of OpenAI's Responses API."""

from __future__ import annotations

from tests.importers.recordings import FORMATS, read, read_value, report
from trialrun.importers import scan
from trialrun.model.trace import StepStatus


def test_calls_of_the_providers_own_tools_are_tool_calls():
    trace = read("openai-responses/openai-web-search-tool.1.json")
    assert trace.tool_call_sequence == ["web_search_call"] * 3
    assert trace.tool_calls[0].tool_args["query"] == "tech news today December 5 2025"
    assert {call.status for call in trace.tool_calls} == {StepStatus.SUCCESS}
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    tokens = trace.llm_calls[0].tokens
    assert (tokens.prompt_tokens, tokens.completion_tokens) == (19681, 3773)
    assert (tokens.cached_tokens, tokens.reasoning_tokens) == (3712, 3136)
    assert trace.output.startswith("Short answer first — yes.")
    assert "tool_results" in report(trace)["absent"]


def test_a_stream_may_hold_several_responses():
    trace = read("openai-responses/openai-shell-tool.1.chunks.txt")
    assert [reply.tokens.total_tokens for reply in trace.llm_calls] == [186, 497]
    (call,) = trace.tool_calls
    assert call.tool_name == "shell_call"
    assert call.tool_args["commands"] == ["ls -a ~/Desktop"]
    assert trace.output.startswith("Here are the files and folders in your `~/Desktop`")


def test_a_line_of_a_stream_that_cannot_be_read_is_a_problem(tmp_path):
    lines = (FORMATS / "openai-responses" / "openai-shell-tool.1.chunks.txt").read_bytes()
    file = tmp_path / "damaged.txt"
    file.write_bytes(lines.replace(b'"type":"response.in_progress"', b'"type":', 1))
    (trace,), (problem,), _ = scan(file)
    assert len(trace.llm_calls) == 2
    assert "damaged.txt:2: an event that is not valid JSON" in str(problem)


def test_items_between_inputs_are_one_reply(tmp_path):
    items = [
        {"role": "user", "content": "Q"},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x": 1}'},
        {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "b", "output": "two"},
        {"type": "function_call_output", "call_id": "a", "output": "one"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]},
    ]
    (trace,) = read_value(tmp_path, items)
    assert len(trace.llm_calls) == 2
    assert [call.tool_result for call in trace.tool_calls] == ["one", "two"]
    assert len({call.parent_id for call in trace.tool_calls}) == 1
    assert (trace.input, trace.output) == ("Q", "A")


def test_a_comment_before_the_final_message_is_not_the_answer(tmp_path):
    def message(text, phase):
        content = [{"type": "output_text", "text": text}]
        return {"type": "message", "role": "assistant", "phase": phase, "content": content}

    output = [message("I will look.", "commentary"), message("It is 4.", "final_answer")]
    (trace,) = read_value(tmp_path, {"object": "response", "output": output})
    assert trace.answer_text == "It is 4."
    assert trace.llm_calls[0].output == "I will look.\nIt is 4."


def test_the_exit_code_of_a_shell_call_decides(tmp_path):
    def output(code):
        outcome = {"type": "exit", "exit_code": code}
        return [{"stdout": "x", "stderr": "", "outcome": outcome}]

    items = [{"role": "user", "content": "Q"}]
    for key, code in (("a", 0), ("b", 2)):
        action = {"commands": ["ls"]}
        items.append({"type": "shell_call", "call_id": key, "id": key, "action": action})
        items.append({"type": "shell_call_output", "call_id": key, "output": output(code)})
    (trace,) = read_value(tmp_path, items)
    assert [call.status for call in trace.tool_calls] == [StepStatus.SUCCESS, StepStatus.FAILURE]
    assert [call.metadata["exit_code"] for call in trace.tool_calls] == [0, 2]


def test_a_call_that_failed_at_the_provider_is_a_failure(tmp_path):
    call = {"type": "mcp_call", "id": "a", "name": "f", "arguments": "{}", "error": "refused"}
    body = {"id": "r", "object": "response", "status": "completed", "output": [call]}
    (trace,) = read_value(tmp_path, {"request": {"input": "Q"}, "response": body})
    assert trace.tool_calls[0].status is StepStatus.FAILURE
    assert trace.tool_calls[0].error == "refused"


def test_a_failed_response_has_not_answered(tmp_path):
    message = {"type": "message", "role": "assistant", "content": "half"}
    body = {"id": "r", "object": "response", "status": "failed", "output": [message]}
    (trace,) = read_value(tmp_path, {"request": {"input": "Q"}, "response": body})
    assert trace.output is None
    assert trace.metadata["unfinished"] == "the response is failed"
