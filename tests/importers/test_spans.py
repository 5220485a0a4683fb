"""The span reader: what is one call, what is structure, who counts tokens how."""

from __future__ import annotations

import json

import pytest

from trialrun.importers._spans import Span, read
from trialrun.model.steps import StepStatus, StepType

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o-mini"}
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "main"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
USAGE = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20}


def span(number, start, end, parent=0, scope="x", kind="", failed=False, name="", **attributes):
    return Span(
        name=name or f"span {number}",
        span_id=f"{number}",
        trace_id="t",
        parent_id=f"{parent}" if parent else "",
        attributes={**attributes.pop("of", {}), **attributes},
        scope=scope,
        kind=kind,
        start=1784744268 * 10**9 + start,
        end=1784744268 * 10**9 + end,
        failed=failed,
    )


def trace_of(*spans):
    ((trace, _),) = read([(0, list(spans))], "otlp", "file")
    return trace


def said(*parts, role="assistant"):
    return json.dumps([{"role": role, "parts": list(parts)}])


def text(content):
    return {"type": "text", "content": content}


def asked(key, name="search", **arguments):
    return {"type": "tool_call", "id": key, "name": name, "arguments": arguments}


def repeated(trace):
    return trace.metadata["imported"].get("repeated", {})


# Model calls


def test_a_call_inside_a_call_is_the_same_call():
    trace = trace_of(
        span(1, 0, 9, scope="a", of=CHAT | USAGE),
        span(2, 1, 8, 1, scope="b", of=CHAT | USAGE),
    )
    assert (trace.total_llm_calls, trace.total_tokens) == (1, 120)
    assert repeated(trace) == {"model call": 1}


def test_a_model_call_of_a_subagent_inside_a_call_is_its_own():
    """Google ADK runs tools inside the span of the model call that asked for them."""
    trace = trace_of(
        span(1, 0, 9, of=CHAT | USAGE),
        span(2, 2, 8, 1, of=TOOL),
        span(3, 3, 7, 2, of=AGENT),
        span(4, 4, 6, 3, scope="other", of=CHAT | USAGE),
    )
    assert (trace.total_llm_calls, trace.total_tokens) == (2, 240)
    outer, inner = trace.llm_calls
    (call,) = trace.tool_calls
    assert (call.parent_id, inner.parent_id) == (outer.id, call.id)


def test_a_call_around_several_calls_is_a_loop():
    trace = trace_of(
        span(1, 0, 9, of=CHAT, **{"gen_ai.usage.input_tokens": 200}),
        span(2, 1, 3, 1, of=CHAT | USAGE),
        span(3, 4, 6, 1, of=CHAT | USAGE),
    )
    assert (trace.total_llm_calls, trace.total_tokens) == (2, 240)


def test_a_failed_attempt_inside_a_call_is_not_a_call():
    trace = trace_of(
        span(1, 0, 9, scope="a", of=CHAT | USAGE),
        span(2, 1, 3, 1, scope="b", failed=True, of=CHAT),
        span(3, 4, 6, 1, scope="b", of=CHAT | USAGE),
    )
    assert (trace.total_llm_calls, trace.total_tokens) == (1, 120)


def test_later_calls_with_the_id_of_the_run_are_calls_of_their_own():
    run = CHAT | {"gen_ai.response.id": "run_1"}
    later = {"gen_ai.usage.input_tokens": 631, "gen_ai.usage.output_tokens": 35}
    trace = trace_of(
        span(1, 0, 90, of=AGENT),
        span(2, 1, 9, 1, of=run | USAGE),
        span(3, 10, 19, 1, of=run | later),
    )
    assert [step.tokens.total_tokens for step in trace.llm_calls] == [120, 666]


def test_equal_response_ids_are_one_call():
    key = {"gen_ai.response.id": "resp_1"}
    trace = trace_of(span(1, 0, 3, of=CHAT | USAGE | key), span(2, 5, 8, of=CHAT | USAGE | key))
    assert (trace.total_llm_calls, repeated(trace)) == (1, {"model call": 1})


@pytest.mark.parametrize(
    ("second", "calls"),
    [
        ({"scope": "other"}, 1),
        ({"scope": "other", "of": CHAT | USAGE | {"gen_ai.usage.output_tokens": 21}}, 2),
        ({"scope": "other", "of": CHAT | USAGE | {"gen_ai.request.model": "o9"}}, 2),
        ({"scope": "one", "name": "first"}, 2),  # two parallel calls of one library
    ],
)
def test_siblings_at_one_time_with_equal_model_and_tokens(second, calls):
    first = span(1, 0, 9, scope="one", name="first", of=CHAT | USAGE)
    fields = {"of": CHAT | USAGE, **second}
    assert trace_of(first, span(2, 1, 8, **fields)).total_llm_calls == calls


def test_the_fuller_usage_is_taken():
    cached = {"gen_ai.usage.cache_read.input_tokens": 64}
    trace = trace_of(
        span(1, 0, 9, scope="a", of=CHAT | USAGE | cached),
        span(2, 1, 8, 1, scope="b", of=CHAT | USAGE),
    )
    assert trace.llm_calls[0].tokens.cached_tokens == 64


def test_the_sum_of_an_agent_is_taken_only_where_no_model_call_lies_below():
    alone = trace_of(span(1, 0, 9, of=AGENT | USAGE))
    assert alone.total_tokens == 120
    assert alone.llm_calls[0].metadata["sum_of_calls"] is True
    assert "llm_calls" not in alone.recorded  # how many there were is not known
    both = trace_of(span(1, 0, 9, of=AGENT | USAGE), span(2, 1, 8, 1, of=CHAT | USAGE))
    assert (both.total_llm_calls, both.total_tokens) == (1, 120)
    assert repeated(both) == {"usage of an agent: the sum of its calls": 1}


def test_an_unknown_operation_is_structure():
    trace = trace_of(
        span(1, 0, 9, of=AGENT),
        span(2, 1, 2, 1, **{"gen_ai.operation.name": "search_memory"}),
        span(3, 2, 3, 1, **{"gen_ai.operation.name": "agent_step", "gen_ai.tool.name": "x"}),
        span(4, 3, 4, 1, **{"gen_ai.task.id": "plumbing"}),
    )
    assert trace.step_count == 0
    assert trace.metadata["imported"]["dropped"] == {"span that is structure": 3}


# Tool calls


def test_equal_ids_of_two_libraries_are_one_call():
    key = {"gen_ai.tool.call.id": "c1"}
    result = {"gen_ai.tool.call.result": "found"}
    trace = trace_of(
        span(1, 0, 3, scope="a", of=TOOL | key), span(2, 1, 2, scope="b", of=TOOL | key | result)
    )
    assert [call.tool_result for call in trace.tool_calls] == ["found"]
    assert repeated(trace) == {"tool call": 1}


def test_ids_that_are_counted_from_one_again_are_other_calls():
    key = {"gen_ai.tool.call.id": "call_1"}
    trace = trace_of(span(1, 0, 3, of=TOOL | key), span(2, 5, 8, of=TOOL | key))
    assert len(trace.tool_calls) == 2


def test_a_tool_inside_one_of_the_same_name_is_one_call():
    inner = {**TOOL, "gen_ai.tool.name": "mcp__docs__search"}
    trace = trace_of(span(1, 0, 9, of=TOOL), span(2, 1, 8, 1, scope="b", of=inner))
    assert trace.tool_call_sequence == ["search"]
    other = {**TOOL, "gen_ai.tool.name": "fetch"}
    assert len(trace_of(span(1, 0, 9, of=TOOL), span(2, 1, 8, 1, of=other)).tool_calls) == 2


def test_the_span_of_a_mcp_server_beside_its_client():
    server = {**TOOL, "mcp.method.name": "tools/call"}
    trace = trace_of(
        span(1, 0, 9, of=AGENT),
        span(2, 1, 5, 1, of=TOOL),
        span(3, 2, 4, kind="server", scope="mcp-python-sdk", of=server),
    )
    assert (trace.tool_call_sequence, repeated(trace)) == (["search"], {"tool call": 1})


def test_a_mcp_server_alone_is_not_an_agent():
    server = {**TOOL, "mcp.method.name": "tools/call"}
    (problem,) = read([(0, [span(1, 0, 1, kind="server", of=server)])], "otlp", "file")
    assert "without an agent" in str(problem)


def test_the_merged_tools_of_google_adk_are_not_a_call():
    merged = {**TOOL, "gen_ai.tool.name": "(merged tools)"}
    trace = trace_of(span(1, 0, 3, of=TOOL), span(2, 4, 5, of=merged))
    assert trace.tool_call_sequence == ["search"]
    assert trace.metadata["imported"]["dropped"] == {"tool span that is not a call": 1}


def test_a_loop_by_hand_has_its_calls_in_messages():
    asks = said(asked("c1", q="x"), asked("c2", q="y"))
    history = json.dumps(
        [
            {"role": "user", "parts": [text("find x and y")]},
            *json.loads(asks),
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "result": "Y"}]},
            {
                "role": "tool",
                "parts": [{"type": "tool_call_response", "id": "c1", "response": "X"}],
            },
        ]
    )
    trace = trace_of(
        span(1, 0, 3, of=CHAT, **{"gen_ai.output.messages": asks}),
        span(
            2,
            5,
            8,
            of=CHAT,
            **{"gen_ai.input.messages": history, "gen_ai.output.messages": said(text("Done."))},
        ),
    )
    assert [(call.tool_args, call.tool_result) for call in trace.tool_calls] == [
        ({"q": "x"}, "X"),
        ({"q": "y"}, "Y"),
    ]
    assert {call.parent_id for call in trace.tool_calls} == {trace.llm_calls[0].id}
    assert trace.output == "Done."


def test_a_tool_of_the_provider_has_its_result_in_the_reply():
    reply = {"role": "assistant", "content": [
        {"type": "server_tool_use", "id": "c1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "c1", "content": "found"},
        {"type": "text", "text": "Found."},
    ]}  # fmt: skip
    trace = trace_of(span(1, 0, 3, of=CHAT, **{"gen_ai.output.messages": json.dumps([reply])}))
    (call,) = trace.tool_calls
    assert (call.tool_args, call.tool_result) == ({"query": "x"}, "found")
    assert trace.output == "Found."


def test_a_reply_without_content_may_have_asked_for_calls():
    shown = span(1, 0, 3, of=CHAT, **{"gen_ai.output.messages": said(text("Hm."))})
    assert "tool_calls" in trace_of(shown).recorded
    hidden = span(2, 4, 5, of=CHAT, **{"gen_ai.input.messages": said(text("hi"), role="user")})
    assert "tool_calls" not in trace_of(shown, hidden).recorded


def test_a_call_without_a_result_is_pending():
    trace = trace_of(span(1, 0, 3, of=CHAT, **{"gen_ai.output.messages": said(asked("c1"))}))
    assert trace.tool_calls[0].status is StepStatus.PENDING
    assert trace.output is None


def test_a_span_replaces_the_call_of_the_message():
    """Without an id on the span, by the name and the arguments; `Paris` alone has no names."""
    asks = said(asked("c1", city="Paris"), asked("c2", city="Rome"))
    openinference = {"openinference.span.kind": "TOOL", "tool.name": "search"}
    message = '{"type": "tool", "data": {"content": "18", "tool_call_id": "c2"}}'
    trace = trace_of(
        span(1, 0, 3, of=CHAT, **{"gen_ai.output.messages": asks}),
        span(2, 4, 5, of=openinference, **{"input.value": "Rome", "output.value": message}),
        span(3, 4, 6, of=openinference, **{"input.value": '{"city": "Paris"}'}),
    )
    assert [call.tool_args for call in trace.tool_calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert [call.tool_result for call in trace.tool_calls] == [None, "18"]


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ('{"exit_code": 2, "output": "no such file"}', StepStatus.FAILURE),
        ('{"exit_code": 0, "output": ""}', StepStatus.SUCCESS),
        ('{"content": [{"type": "text", "text": "no"}], "isError": true}', StepStatus.FAILURE),
        ("fine", StepStatus.SUCCESS),
    ],
)
def test_the_outcome_of_a_call_is_what_its_result_says(result, status):
    trace = trace_of(span(1, 0, 3, of=TOOL, **{"gen_ai.tool.call.result": result}))
    assert trace.tool_calls[0].status is status


def test_a_failed_agent_is_an_error():
    trace = trace_of(span(1, 0, 9, failed=True, of=AGENT), span(2, 1, 2, 1, of=TOOL))
    assert (trace.status.value, trace.error) == ("error", "span 1 failed")


def test_retrievals_and_guardrails():
    found = {"openinference.span.kind": "RETRIEVER", "input.value": "refund"}
    documents = {"retrieval.documents.0.document.content": "30 days"}
    trace = trace_of(
        span(1, 0, 9, of=AGENT),
        span(2, 1, 2, 1, of=found | documents),
        span(3, 3, 4, 1, name="no secrets", **{"openinference.span.kind": "GUARDRAIL"}),
    )
    retrieval, guardrail = trace.steps
    assert (retrieval.type, retrieval.input) == (StepType.RETRIEVAL, "refund")
    assert retrieval.tool_result == [{"content": "30 days"}]
    assert (guardrail.type, guardrail.tool_name) == (StepType.GUARDRAIL, "no secrets")


@pytest.mark.parametrize(
    ("parameters", "arguments"),
    [
        ('{"query": {"type": "string", "description": "what to find"}}', None),
        ('{"type": "object", "properties": {"query": {"type": "string"}}}', None),
        ('{"query": "refund"}', {"query": "refund"}),
    ],
)
def test_parameters_are_arguments_only_where_they_are_not_a_schema(parameters, arguments):
    tool = {"openinference.span.kind": "TOOL", "tool.parameters": parameters}
    assert trace_of(span(1, 0, 3, of=tool)).tool_calls[0].tool_args == arguments


# Turns


def test_the_history_of_earlier_runs_is_not_the_question():
    history = json.dumps(
        [
            {"role": "user", "parts": [text("hi")]},
            {"role": "assistant", "parts": [text("Hello!")]},
            {"role": "user", "parts": [text("and now?")]},
        ]
    )
    asked_agent = span(1, 0, 9, of=AGENT, **{"gen_ai.input.messages": history})
    asked_model = span(2, 1, 8, of=CHAT, **{"gen_ai.input.messages": history})
    assert trace_of(asked_agent).input == trace_of(asked_model).input == "and now?"


def test_a_second_question_begins_a_turn():
    first = said(text("Hello!"))
    history = json.dumps(
        [
            {"role": "user", "parts": [text("hi")]},
            *json.loads(first),
            {"role": "user", "parts": [text("and now?")]},
        ]
    )
    trace = trace_of(
        span(
            1,
            0,
            3,
            of=CHAT,
            **{
                "gen_ai.input.messages": said(text("hi"), role="user"),
                "gen_ai.output.messages": first,
            },
        ),
        span(
            2,
            5,
            8,
            of=CHAT,
            **{"gen_ai.input.messages": history, "gen_ai.output.messages": said(text("Bye!"))},
        ),
    )
    assert (trace.input, trace.output) == ("hi", "Bye!")
    assert [step.type.value for step in trace.steps] == ["llm_call", "human_input", "llm_call"]
    assert [turn.output for turn in trace.turns()] == ["Hello!", "Bye!"]


# Tokens


@pytest.mark.parametrize(
    ("attributes", "prompt", "cached", "written", "reasoning", "total"),
    [
        # OpenTelemetry: the input includes cached tokens, the output reasoning.
        (
            CHAT
            | USAGE
            | {
                "gen_ai.usage.cache_read.input_tokens": 64,
                "gen_ai.usage.reasoning.output_tokens": 8,
            },
            *(100, 64, 0, 8, 120),
        ),
        # The same of a Claude model: stored in the way of Anthropic, and the same total.
        (
            CHAT
            | {"gen_ai.request.model": "claude-sonnet-4-5"}
            | {"gen_ai.usage.input_tokens": 110, "gen_ai.usage.output_tokens": 20}
            | {
                "gen_ai.usage.cache_read.input_tokens": 64,
                "gen_ai.usage.cache_write.input_tokens": 10,
            },
            *(36, 64, 10, 0, 130),
        ),
        # Deprecated names.
        (
            {"gen_ai.request.model": "m", "llm.request.type": "chat"}
            | {"gen_ai.usage.prompt_tokens": 100, "gen_ai.usage.completion_tokens": 20}
            | {"gen_ai.usage.cache_read_input_tokens": 64, "gen_ai.usage.reasoning_tokens": 8},
            *(100, 64, 0, 8, 120),
        ),
        (
            {"openinference.span.kind": "LLM", "llm.token_count.prompt": 100}
            | {"llm.token_count.completion": 20}
            | {"llm.token_count.prompt_details.cache_read": 64},
            *(100, 64, 0, 0, 120),
        ),
    ],
)
def test_usage(attributes, prompt, cached, written, reasoning, total):
    tokens = trace_of(span(1, 0, 3, of=attributes)).llm_calls[0].tokens
    assert tokens.prompt_tokens == prompt
    assert tokens.cached_tokens == cached
    assert tokens.cache_write_tokens == written
    assert tokens.reasoning_tokens == reasoning
    assert tokens.total_tokens == total


def test_claude_code_counts_cached_tokens_beside_the_input():
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 10}
    scope = "com.anthropic.claude_code.tracing"
    call = span(1, 0, 3, scope=scope, name="claude_code.llm_request", model="claude-x", **usage)
    tokens = trace_of(call).llm_calls[0].tokens
    assert (tokens.prompt_tokens, tokens.total_tokens) == (100, 130)


@pytest.mark.parametrize("name", ["operation.cost", "llm.cost.total", "cost_usd"])
def test_recorded_costs(name):
    attributes = CHAT | {"openinference.span.kind": "LLM", name: 0.25}
    assert trace_of(span(1, 0, 3, of=attributes)).total_cost_usd == 0.25
