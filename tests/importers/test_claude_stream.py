"""The output of `claude -p`: real runs against a scripted server, and rows of other shapes.

Each request of the server has 36 new, 64 read, 10 written and 20 output tokens: 130.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trialrun import read_traces
from trialrun.importers import importer_of, scan
from trialrun.model.trace import StepType, TraceStatus

DATA = Path(__file__).parents[1] / "data" / "formats" / "claude-stream"


def read(name):
    (trace,) = read_traces(DATA / name)
    assert importer_of(DATA / name).name == "claude_stream"
    return trace


def write(tmp_path, *rows):
    file = tmp_path / "s.jsonl"
    file.write_text("".join(json.dumps({"session_id": "s", **row}) + "\n" for row in rows))
    (trace,) = read_traces(file)
    return trace


INIT = {"type": "system", "subtype": "init", "cwd": "/app"}


def said(words, key="m1", model="claude-x", **fields):
    usage = {"input_tokens": 5, "output_tokens": 1}
    content = [{"type": "text", "text": words}]
    message = {"id": key, "model": model, "content": content, "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


def result(usage=None, **fields):
    usage = usage or {"claude-x": {"inputTokens": 5, "outputTokens": 9, "costUSD": 0.5}}
    return {"type": "result", "subtype": "success", "modelUsage": usage, **fields}


def test_tokens_and_cost_are_those_of_the_result():
    trace = read("subagent.jsonl")
    assert trace.tool_call_sequence == ["Bash", "Bash", "Agent", "Bash"]
    assert len(trace.llm_calls) == 5
    assert trace.total_tokens == 5 * 130
    assert sum(step.tokens.completion_tokens for step in trace.llm_calls) == 5 * 20
    assert sum(step.tokens.cached_tokens for step in trace.llm_calls) == 5 * 64
    assert trace.total_cost_usd == pytest.approx(0.0007745)
    assert trace.output == "All is done: 4."
    assert trace.metadata["cwd"] == "/home/user/app"


def test_a_gateway_that_answers_under_another_name_is_not_counted_twice(tmp_path):
    """The sums have the name that was asked for: 5 input and 9 output tokens in all."""
    usage = {
        "claude-x[1m]": {"inputTokens": 5, "outputTokens": 9, "costUSD": 0.5},
        "claude-title": {"inputTokens": 3, "outputTokens": 1, "costUSD": 0.1},
    }
    trace = write(tmp_path, INIT, said("4", model="gateway/large"), result(usage, result="4"))
    assert trace.total_tokens == 18 and trace.total_cost_usd == pytest.approx(0.6)
    assert [step.tokens.total_tokens for step in trace.llm_calls] == [14, 4]
    assert trace.llm_calls[1].metadata == {"not_listed": True}


def test_the_session_file_of_the_same_run_says_the_same():
    stream = read("subagent.jsonl")
    (session,) = read_traces(DATA.parent / "claude-code" / "costs.jsonl")
    assert stream.tool_call_sequence == session.tool_call_sequence
    assert [step.tool_args for step in stream.tool_calls] == [
        step.tool_args for step in session.tool_calls
    ]
    assert stream.total_tokens == session.total_tokens
    assert stream.total_cost_usd == pytest.approx(session.total_cost_usd)
    assert stream.output == session.output and stream.id == session.id


def test_outcomes_and_subagents():
    trace = read("subagent.jsonl")
    ok, failed, agent, part = trace.tool_calls
    assert (ok.status.value, failed.status.value) == ("success", "failure")
    assert failed.metadata == {"cwd": "/home/user/app", "exit_code": 3}
    assert part.parent_id == agent.id and part.metadata["agent"] == "general-purpose"


def test_a_prompt_that_was_not_printed_is_reported():
    trace = read("subagent.jsonl")
    assert trace.input == ""
    assert list(trace.metadata["imported"]["dropped"].values()) == [1]


def test_replayed_prompts_are_turns():
    trace = read("two-prompts.jsonl")
    assert trace.input == "MAINTASK first"
    further = [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    assert further == ["MAINTASK second"]
    assert trace.total_tokens == 2 * 130
    # The message is whole; `result` has its last block only.
    assert trace.output == "First half of the answer.\nSecond half: 4."


def test_a_run_that_reached_its_limit_has_no_answer():
    trace = read("max-turns.jsonl")
    assert trace.output is None and trace.status is TraceStatus.FAILURE
    assert "maximum number of turns" in trace.metadata["unfinished"]
    assert trace.total_tokens == 130 and len(trace.tool_calls) == 2


def test_a_result_alone_says_nothing_of_calls():
    trace = read("result.json")
    assert trace.output == "Second half: 4."
    assert trace.recorded == {"answer", "tokens", "costs", "timings"}
    assert trace.total_tokens == 2 * 130


def test_a_list_of_all_rows_is_read_too(tmp_path):
    rows = [json.loads(line) for line in (DATA / "max-turns.jsonl").read_text().splitlines()]
    file = tmp_path / "all.json"
    file.write_text(json.dumps(rows))
    (trace,) = read_traces(file)
    assert trace.steps == read("max-turns.jsonl").steps


def test_output_without_a_result_was_cut_off_and_has_no_usage(tmp_path):
    trace = write(tmp_path, INIT, said("I look"))
    assert trace.output is None and "result" in trace.metadata["unfinished"]
    assert trace.total_tokens is None and "tokens" not in trace.recorded


def test_a_result_that_is_an_error_has_no_answer(tmp_path):
    trace = write(tmp_path, INIT, said("I look"), result(is_error=True, result="API Error: 500"))
    assert trace.output is None and trace.metadata["unfinished"] == "API Error: 500"


def test_a_structured_answer(tmp_path):
    answer = {"sum": 4}
    trace = write(tmp_path, INIT, said("4"), result(result="", structured_output=answer))
    assert trace.output == answer


def test_texts_that_the_program_adds_are_not_prompts(tmp_path):
    message = {"role": "user", "content": "Base directory for this skill: /x"}
    added = {"type": "user", "message": message, "isSynthetic": True, "parent_tool_use_id": None}
    assert write(tmp_path, INIT, added, said("4"), result(result="4")).input == ""


def test_models_are_kept_apart(tmp_path):
    usage = {
        "claude-x[1m]": {"inputTokens": 10, "outputTokens": 8, "costUSD": 0.5},
        "claude-y": {"inputTokens": 5, "outputTokens": 2, "costUSD": 0.1},
        "claude-title": {"inputTokens": 3, "outputTokens": 1, "costUSD": 0.01},
    }
    trace = write(
        tmp_path,
        said("a", model="claude-x-20260101"),
        said("b", "m2", model="claude-x-20260101"),
        said("c", "m3", model="claude-y"),
        result(usage, result="c"),
    )
    tokens = [step.tokens.total_tokens for step in trace.llm_calls]
    # The last call of a model has what its rows lack.
    assert tokens == [6, 12, 7, 4]
    assert trace.total_cost_usd == pytest.approx(0.61)
    assert trace.output == "c"


def test_sums_below_the_rows_are_the_ones_that_count(tmp_path):
    usage = {"claude-x": {"inputTokens": 4, "outputTokens": 2, "costUSD": 0.5}}
    trace = write(tmp_path, said("a"), said("b", "m2"), result(usage, result="b"))
    assert [step.tokens.total_tokens for step in trace.llm_calls] == [0, 6]


def test_lines_of_the_program_between_the_rows_are_ignored(tmp_path):
    file = tmp_path / "out.txt"
    rows = [INIT, said("4"), result(result="4")]
    packed = [json.dumps({"session_id": "s", **row}) for row in rows]
    file.write_text("\n".join([packed[0], "warning: no settings", *packed[1:]]))
    traces, problems, _ = scan(file)
    assert [trace.output for trace in traces] == ["4"] and not problems


WHOLE = {"input_tokens": 5000, "output_tokens": 1000, "cache_read_input_tokens": 3}


def test_usage_that_is_not_given_by_model_counts_too(tmp_path):
    last = {"type": "result", "subtype": "success", "usage": WHOLE, "total_cost_usd": 0.5}
    trace = write(tmp_path, INIT, said("a"), said("b", "m2"), last)
    # The first reply has its row's 5 and 1, the last one all that is left.
    assert [step.tokens.total_tokens for step in trace.llm_calls] == [6, 5997]
    assert trace.total_tokens == 6003 and trace.total_cost_usd == pytest.approx(0.5)
    assert sum(step.tokens.cached_tokens for step in trace.llm_calls) == 3


def test_each_result_without_sums_by_model_has_the_usage_of_its_turn(tmp_path):
    ends = [
        {"type": "result", "subtype": "success", "usage": WHOLE, "total_cost_usd": cost}
        for cost in (0.5, 0.75)
    ]
    trace = write(tmp_path, INIT, said("a"), ends[0], said("b", "m2"), ends[1])
    assert trace.total_tokens == 2 * 6003 and trace.total_cost_usd == pytest.approx(0.75)


@pytest.mark.parametrize("usage", [None, {"input_tokens": 0, "output_tokens": 0}])
def test_a_result_without_usage_leaves_no_partial_tokens(tmp_path, usage):
    last = {"type": "result", "subtype": "success", "usage": usage, "total_cost_usd": 0.5}
    trace = write(tmp_path, INIT, said("a"), last)
    assert trace.total_tokens is None and "tokens" not in trace.recorded
    assert trace.total_cost_usd == pytest.approx(0.5)


def test_usage_without_subagents_is_not_the_usage_of_a_run_with_some(tmp_path):
    last = {"type": "result", "subtype": "success", "usage": WHOLE, "total_cost_usd": 0.5}
    trace = write(tmp_path, INIT, said("a"), said("b", "m2", parent_tool_use_id="t"), last)
    assert "tokens" not in trace.recorded and trace.total_cost_usd == pytest.approx(0.5)


def test_a_result_alone_without_sums_by_model(tmp_path):
    last = {"type": "result", "subtype": "success", "usage": WHOLE, "total_cost_usd": 0.5}
    trace = write(tmp_path, {**last, "result": "4"})
    assert (trace.total_tokens, trace.total_cost_usd, trace.output) == (6003, 0.5, "4")


@pytest.mark.parametrize(
    "listed",
    [
        "us.anthropic.claude-x-20260101-v1:0",
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x-20260101-v1:0",
        "claude-x@20260101",
        "another-name",
    ],
)
def test_a_model_that_is_listed_by_another_name_counts_once(tmp_path, listed):
    usage = {listed: {"inputTokens": 50, "outputTokens": 9, "costUSD": 0.5}}
    trace = write(tmp_path, said("a", model="claude-x-20260101"), result(usage, result="a"))
    assert [step.tokens.total_tokens for step in trace.llm_calls] == [59]
    assert trace.total_cost_usd == pytest.approx(0.5)


def test_one_model_listed_in_two_ways_has_the_sum_of_both(tmp_path):
    used = {"inputTokens": 50, "outputTokens": 9, "costUSD": 0.5}
    usage = {"claude-x": used, "claude-x[1m]": used}
    trace = write(tmp_path, said("a"), result(usage, result="a"))
    assert trace.total_tokens == 118 and trace.total_cost_usd == pytest.approx(1)


def test_replies_of_a_model_that_no_sum_names_have_no_partial_tokens(tmp_path):
    usage = {"claude-x": {"inputTokens": 50, "outputTokens": 9, "costUSD": 0.5}}
    trace = write(tmp_path, said("a"), said("b", "m2", model="m"), result(usage, result="b"))
    assert trace.total_tokens == 59
