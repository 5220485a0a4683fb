"""Results of CrewAI and LlamaIndex by their shape; the real ones are in tests/integrations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.capture.test_results import understood

CALL = {"id": "0", "type": "function", "function": {"name": "price", "arguments": '{"of": "tea"}'}}
MESSAGES = [
    {"role": "system", "content": "You are shop."},
    {"role": "user", "content": "Current Task: Q"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": "2", "tool_call_id": "0", "name": "price"},
    {"role": "assistant", "content": "two"},
]
FAILURE = {"tool_name": "price", "tool_args": {"of": "tea"}, "failure": {"message": "no tea"}}


def crew(*tasks, requests=2, **answers):
    usage = {"prompt_tokens": 100, "cached_prompt_tokens": 64, "completion_tokens": 20}
    usage |= {"reasoning_tokens": 8, "successful_requests": requests}
    given = {"raw": "two", "pydantic": None, "json_dict": None, **answers}
    return SimpleNamespace(**given, tasks_output=list(tasks), token_usage=usage)


def task(messages=MESSAGES, failures=()):
    return SimpleNamespace(agent="shop", messages=messages, tool_failures=list(failures))


def test_a_task_has_its_calls_and_the_sum_of_its_tokens():
    trace = understood(crew(task()), "Q")
    (call,) = trace.tool_calls
    assert (call.tool_args, call.tool_result) == ({"of": "tea"}, "2")
    assert call.parent_id == trace.llm_calls[0].id
    assert (trace.output, trace.total_tokens, len(trace.llm_calls)) == ("two", 120, 2)
    assert trace.llm_calls[1].tokens.cached_tokens == 64
    assert trace.llm_calls[1].metadata == {"agent": "shop", "sum_of_calls": True}
    assert trace.input == "Q"


@pytest.mark.parametrize("requests", [1, 4, None])
def test_a_sum_of_other_calls_is_not_the_tokens_of_these(requests):
    trace = understood(crew(task(), requests=requests))
    assert not trace.recorded & {"llm_calls", "tokens", "costs"}
    assert {"tool_calls", "tool_args", "tool_results", "answer"} <= trace.recorded


def test_equal_keys_in_two_tasks_are_two_calls():
    trace = understood(crew(task(), task(), requests=4))
    assert [call.tool_result for call in trace.tool_calls] == ["2", "2"]


def test_a_call_that_failed():
    (call,) = understood(crew(task(failures=[FAILURE]))).tool_calls
    assert (call.status.value, call.error) == ("failure", "no tea")


@pytest.mark.parametrize("name", ["Delegate work to coworker", "ask_question_to_coworker"])
def test_work_of_another_agent_is_not_recorded(name):
    asked = {**CALL, "function": {"name": name, "arguments": "{}"}}
    messages = [{"role": "assistant", "content": "", "tool_calls": [asked]}, MESSAGES[-1]]
    assert "tool_calls" not in understood(crew(task(messages))).recorded


def test_calls_as_text_are_not_recorded():
    text = "Thought: so\nAction: price\nAction Input: {}\nObservation: 2"
    trace = understood(crew(task([{"role": "assistant", "content": text}]), requests=1))
    assert not trace.recorded & {"tool_calls", "tool_args", "tool_results"}


def test_an_object_as_the_answer():
    assert understood(crew(task(), json_dict={"sum": 2})).output == {"sum": 2}


def test_an_agent_of_crewai_without_a_crew():
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "successful_requests": 2}
    result = SimpleNamespace(raw="two", agent_role="shop", messages=MESSAGES, usage_metrics=usage)
    trace = understood(result)
    assert (trace.output, trace.total_tokens, len(trace.tool_calls)) == ("two", 10, 1)


# LlamaIndex


def selected(name, arguments, **output):
    found = SimpleNamespace(tool_name=name, tool_kwargs=arguments, tool_id="0")
    if output:
        found.tool_output = SimpleNamespace(**output)
    return found


def agent_output(*calls, structured=None):
    response = SimpleNamespace(content="two")
    return SimpleNamespace(
        response=response,
        structured_response=structured,
        current_agent_name="shop",
        tool_calls=list(calls),
    )


def test_calls_of_llama_index_with_their_results():
    done = selected("price", {"of": "tea"}, raw_output=2, content="2", is_error=False)
    failed = selected("price", {"of": "gin"}, raw_output=None, content="no gin", is_error=True)
    other = selected("look", {}, raw_output=object(), content="seen", is_error=False)
    trace = understood(agent_output(done, failed, other))
    assert [call.tool_result for call in trace.tool_calls] == [2, "no gin", "seen"]
    assert [call.status.value for call in trace.tool_calls] == ["success", "failure", "success"]
    assert (trace.output, trace.agent_name) == ("two", "shop")
    assert not trace.recorded & {"llm_calls", "tokens", "costs"}
    assert {"tool_calls", "tool_args", "tool_results", "handoffs"} <= trace.recorded


def test_handoffs_and_objects_of_llama_index():
    trace = understood(agent_output(selected("handoff", {"to_agent": "b"}), structured={"sum": 2}))
    assert [step.handoff_to for step in trace.steps] == ["b"]
    assert (trace.tool_calls, trace.output) == ([], {"sum": 2})


def test_what_a_query_of_llama_index_found_is_a_retrieval():
    node = SimpleNamespace(get_content=lambda: "tea is 2")
    trace = understood(SimpleNamespace(response="two", source_nodes=[node], metadata={}))
    (step,) = trace.steps
    assert (step.type.value, step.tool_result) == ("retrieval", ["tea is 2"])
    assert (trace.output, trace.recorded - {"timings"}) == ("two", {"answer", "retrievals"})


def test_calls_of_a_chat_of_llama_index():
    given = {"args": [], "kwargs": {"of": "tea"}}
    source = SimpleNamespace(tool_name="price", raw_input=given, raw_output=2, content="2")
    trace = understood(SimpleNamespace(response="two", sources=[source], source_nodes=[]))
    assert [(call.tool_args, call.tool_result) for call in trace.tool_calls] == [({"of": "tea"}, 2)]
