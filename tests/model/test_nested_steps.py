"""Calls that are nested in steps are calls; what cannot be read leaves the calls unknown."""

from __future__ import annotations

import pytest

from tests.helpers import FAIL, UNKNOWN, first
from trialrun import Step, StepType, Trace
from trialrun.model.trace_format import from_plain

DELETE = {"type": "tool_call", "tool_name": "delete_user", "tool_args": {"id": 7}}
OPENAI = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "delete_user", "arguments": '{"id": 7}'},
}
ANTHROPIC = {"type": "tool_use", "id": "toolu_1", "name": "delete_user", "input": {"id": 7}}


def read(**fields):
    return from_plain({"input": "question", "output": "a", **fields})


def model(**fields):
    return {"type": "llm_call", "model": "m", **fields}


def calls(trace):
    return [(step.tool_name, step.tool_args) for step in trace.tool_calls]


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": [{"type": "handoff", "handoff_to": "b", "steps": [DELETE]}]},
        {"steps": [{"type": "handoff", "handoff_to": "b", "children": [DELETE]}]},
        {"steps": [{"type": "tool_call", "tool_name": "delete_user", "tool_args": {"id": 7}}]},
        {"steps": [model(children=[model(children=[{"type": "reasoning", "steps": [DELETE]}])])]},
        {"steps": [model(tool_calls=[OPENAI])]},
        {"steps": [model(toolCalls=[OPENAI])]},
        {"steps": [model(tool_calls=[ANTHROPIC])]},
        {"steps": [model(tool_calls=OPENAI)]},
        {"steps": [model(content=[{"type": "text", "text": "hm"}, ANTHROPIC])]},
        {"steps": [model(tool_calls=[{"name": "delete_user", "args": {"id": 7}, "id": "1"}])]},
        {
            "steps": [
                model(tool_calls=[{"name": "delete_user", "args": {"id": 7}, "type": "tool_call"}])
            ]
        },
        {
            "steps": [
                model(tool_calls=[{"functionCall": {"name": "delete_user", "args": {"id": 7}}}])
            ]
        },
        {"steps": [model(children=[{"tool_name": "delete_user", "tool_args": {"id": 7}}])]},
        {
            "steps": [
                model(
                    tool_calls=[
                        {"type": "function_call", "name": "delete_user", "arguments": '{"id": 7}'}
                    ]
                )
            ]
        },
        {"steps": [], "tool_calls": [OPENAI]},
        {"steps": [], "tool_calls": [DELETE]},
        {"tool_calls": [DELETE]},
        {"steps": [], "children": [DELETE]},
        {"steps": [model(function_call={"name": "delete_user", "arguments": '{"id": 7}'})]},
    ],
)
def test_a_nested_call_is_a_call(fields):
    trace, notes = read(**fields)
    assert (calls(trace), notes) == ([("delete_user", {"id": 7})], [])
    assert first("path", {"forbidden_tools": ["delete_user"]}, trace).status is FAIL
    assert first("path", {"max_tool_calls": 0}, trace).status is FAIL
    again, _ = from_plain(trace.to_dict())
    assert again == trace


def test_nested_steps_follow_their_step_and_name_it():
    inner = [{"type": "tool_call", "tool_name": name} for name in ("b", "c")]
    steps = [
        {"type": "tool_call", "tool_name": "a", "children": inner},
        {"type": "tool_call", "tool_name": "d", "id": "last", "steps": [DELETE]},
    ]
    trace, _ = read(steps=steps)
    assert trace.tool_call_sequence == ["a", "b", "c", "d", "delete_user"]
    a, b, c, d, inside = trace.steps
    assert a.parent_id is None and b.parent_id == c.parent_id == a.id
    assert (d.id, inside.parent_id) == ("last", "last")
    assert "children" not in a.metadata


@pytest.mark.parametrize(
    "step",
    [
        {**DELETE, "id": "call_1"},
        {**DELETE, "metadata": {"tool_call_id": "call_1"}},
        {**DELETE, "tool_call_id": "call_1"},
        {**DELETE},
        {**DELETE, "tool_args": {"id": "7"}, "id": "span-3"},
    ],
)
@pytest.mark.parametrize("request_", [OPENAI, {**OPENAI, "id": "call_1"}, DELETE])
def test_a_call_that_was_asked_for_and_has_its_step_counts_once(step, request_):
    step = {**step, "tool_result": "ok"}
    trace, _ = read(steps=[model(tool_calls=[request_]), step])
    assert [call.tool_result for call in trace.tool_calls] == ["ok"]
    trace, _ = read(steps=[step], tool_calls=[request_])
    assert [call.tool_result for call in trace.tool_calls] == ["ok"]


def test_each_step_answers_for_one_request():
    trace, _ = read(steps=[model(tool_calls=[OPENAI, {**OPENAI, "id": "call_2"}]), DELETE])
    assert trace.tool_call_sequence == ["delete_user", "delete_user"]
    both = [{**DELETE, "tool_args": {"id": 8}}, DELETE]
    trace, _ = read(steps=[model(tool_calls=[OPENAI, {**OPENAI, "id": "call_2"}]), *both])
    assert [args for _, args in calls(trace)] == [{"id": 8}, {"id": 7}]


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": [model(tool_calls=[{"what": 1}])]},
        {"steps": [model(tool_calls=3)]},
        {"steps": [model(children=[{"type": "chain", "outputs": {}}])]},
        {"steps": [model(children={"a": DELETE})]},
        {"steps": [model(steps="delete_user()")]},
        {"steps": [], "tool_calls": [{"x": 1}]},
        {"steps": [{"type": "tool_call", "tool_name": "a", "children": [None]}]},
    ],
)
def test_what_cannot_be_read_leaves_the_calls_unknown(fields):
    trace, notes = read(**fields)
    assert len(notes) == 1 and "cannot be read as a call" in notes[0]
    assert trace.output == "a"
    for check in ({"forbidden_tools": ["delete_user"]}, {"max_tool_calls": 5}):
        assert first("path", check, trace).status is UNKNOWN


@pytest.mark.parametrize("nothing", [None, [], 0])
def test_nothing_nested_is_nothing(nothing):
    trace, notes = read(steps=[model(tool_calls=nothing, children=nothing)], tool_calls=nothing)
    assert (len(trace.steps), notes) == (1, [])
    assert "tool_calls" in trace.recorded


def test_a_step_with_the_name_of_a_tool_is_a_call_of_it():
    trace, _ = read(steps=[{"type": "retrieval", "tool_name": "delete_user"}])
    for one in (trace, Trace(input="q", steps=[Step.retrieval("q", tool_name="delete_user")])):
        assert one.tools_used == {"delete_user"}
        assert first("path", {"forbidden_tools": ["delete_user"]}, one).status is FAIL
    guard = Trace(input="q", steps=[Step.guardrail("delete_user")])
    assert guard.tool_calls == []
    assert trace.steps[0].type is StepType.RETRIEVAL


def test_model_calls_inside_count_for_tokens():
    inner = model(tokens={"prompt_tokens": 3, "completion_tokens": 4})
    trace, _ = read(steps=[{"type": "handoff", "handoff_to": "b", "children": [inner]}])
    assert (trace.total_llm_calls, trace.total_tokens) == (1, 7)


MESSAGE = {"role": "assistant", "tool_calls": [OPENAI]}


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": [], "messages": [MESSAGE]},
        {"steps": [], "spans": [{"attributes": {}, "events": [DELETE]}]},
        {"steps": [model(messages=[MESSAGE])]},
        {"steps": [model(sub_steps=[DELETE])]},
        {"steps": [model(trace={"steps": [DELETE]})]},
        {"steps": [model(response={"content": [ANTHROPIC]})]},
        {"steps": [], "calls": [{"name": "delete_user", "args": {"id": 7}}]},
        {"steps": [], "actions": [{"tool": "delete_user", "tool_input": {"id": 7}}]},
        {"steps": [], "events": [{"name": "delete_user", "arguments": "{}"}]},
        {"steps": [], "spans": [{"attributes": {"gen_ai.tool.name": "delete_user"}}]},
        {"steps": [], "messages": [{"role": "tool", "tool_call_id": "1", "content": "gone"}]},
    ],
)
def test_calls_in_a_field_that_is_not_read_leave_the_calls_unknown(fields):
    trace, notes = read(**fields)
    assert calls(trace) == []
    assert len(notes) >= 1 and "holds tool calls, and is not read" in notes[0]
    assert first("path", {"forbidden_tools": ["delete_user"]}, trace).status is UNKNOWN


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": [], "labels": ["tool_calls"], "version": {"tool": "x", "calls": 3}},
        {"steps": [model(response={"content": [{"type": "text", "text": "delete_user"}]})]},
        {"steps": [], "metadata": {"note": "delete_user"}},
        {"steps": [], "people": [{"name": "Ann", "input": "hi"}], "user": {"name": "Ann"}},
    ],
)
def test_other_unknown_fields_say_nothing_about_calls(fields):
    trace, _ = read(**fields)
    assert first("path", {"forbidden_tools": ["delete_user"]}, trace).status.value == "pass"
