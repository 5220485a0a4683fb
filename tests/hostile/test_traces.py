"""Hostile traces: unreadable ones are reported and never pass, all others are judged."""

from __future__ import annotations

import copy
import json
import os
import threading
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile.conftest import QUICK
from tests.watchdog import cpu_watchdog
from trialrun import EvalCase, Trace, TrialrunError, evaluate, load_suite, read_traces
from trialrun.engine.score import score
from trialrun.importers import native, scan
from trialrun.model.results import LayerStatus
from trialrun.reports import json as json_report
from trialrun.reports import junit, terminal

GOOD = {"name": "good", "input": "fine", "output": "yes", "steps": []}
ONE = {"name": "one", "input": "q", "output": "yes", "steps": []}
CALL = {
    "type": "llm_call",
    "model": "nobody-knows-1",
    "tokens": {"prompt_tokens": 1, "completion_tokens": 1},
    "cost_usd": 0.1,
    "duration_ms": 5,
}
ANSWER = 'correctness: {expected_in_answer: ["yes"]}'
BUDGETS = (
    "cost: {max_total_tokens: {value: 1000, severity: fail}, "
    "max_cost_usd: {value: 1, severity: fail}, max_latency_ms: {value: 1000, severity: fail}}"
)


# Records that cannot be read


BROKEN = {
    "cut off in a text": (b'{"name":"one","input":"q","outp', "cut off"),
    "cut off after a colon": (b'{"name":"one","input":"q","output":', "cut off"),
    "cut off after non-ASCII characters": (
        '{"name":"one","input":"qé","output":'.encode(),
        "cut off",
    ),
    "cut off in a word": (b'{"name":"one","input":"q","id":nul', "JSON"),
    "cut off in an escape": (b'{"name":"one","input":"q","output":"a\\u12', "JSON"),
    "not UTF-8": (
        b'{"name":"one","input":"q\xff","output":"yes"}',
        "byte 0xff at offset 24",
    ),
    "NUL in a text": (b'{"name":"one","input":"q","output":"y\0es"}', "JSON"),
    "NUL after the brace": (b'{\0"name":"one","input":"q"}', "JSON"),
    "NUL after the brace, cut off": (b"{\0abc", "JSON"),
    "NULs before the brace": (b"\0\0\0{abc", "JSON"),
    "nothing but NUL": (b"\0" * 101, "JSON"),
    "UTF-16": ('{"input":"q"}'.encode("utf-16")[:-1], "not UTF-8"),
    "100,000 levels": (
        b'{"name":"one","input":"q","metadata":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        "nested too deeply",
    ),
    "100,000 levels of an unknown key": (
        b'{"name":"one","input":"q","zzz":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
        "nested too deeply",
    ),
    "100,000 levels left open": (b"[" * 100_000, "nested too deeply"),
    "null": (b"null", "found null"),
    "a number": (b"5", "found a number"),
    "text": (b'"x"', "found text"),
    "a list": (b"[1,2]", "found a list"),
    "an empty object": (b"{}", "`input` is missing"),
    "words": (b"hello world", "not JSON"),
    "two objects": (b'{"input":"q"}{"input":"r"}', "not JSON"),
    "input is a list": (b'{"name":"one","input":[{"role":"user"}]}', "`input`"),
    "output twice": (b'{"name":"one","input":"q","output":"nope","output":"yes"}', "`output`"),
    "a key twice, deep inside": (
        b'{"name":"one","input":"q","output":"yes","steps":[{"type":"tool_call","tool_name":"a",'
        b'"tool_args":{"x":1,"x" :1}}]}',
        "`x` is given twice",
    ),
    "name is a number": (b'{"name":5,"input":"q"}', "`name`"),
    "unknown status": (b'{"name":"one","input":"q","status":"finished"}', "finished"),
    "newer format": (b'{"name":"one","input":"q","format_version":99}', "format_version"),
    "steps are a mapping": (b'{"name":"one","input":"q","steps":{"a":1}}', "`steps`"),
    "a step is a number": (b'{"name":"one","input":"q","steps":[5]}', "`steps[0]`"),
    "a step is null": (b'{"name":"one","input":"q","steps":[null]}', "`steps[0]`"),
    "a step without a type": (b'{"name":"one","input":"q","steps":[{"model":"x"}]}', "`type`"),
    "a step of an unknown type": (
        b'{"name":"one","input":"q","steps":[{"type":"bogus"}]}',
        "`steps[0].type`",
    ),
    "a call without a tool": (
        b'{"name":"one","input":"q","steps":[{"type":"tool_call"}]}',
        "tool_name",
    ),
    "evidence is a number": (b'{"name":"one","input":"q","recorded":5}', "`recorded`"),
    "unknown evidence": (b'{"name":"one","input":"q","recorded":["smell"]}', "smell"),
    "evidence is a number, and a bad duration": (
        b'{"name":"one","input":"q","recorded":5,"duration_ms":-1}',
        "`recorded`",
    ),
    "evidence is a list of lists, and a bad duration": (
        b'{"name":"one","input":"q","recorded":[[1]],"duration_ms":-1}',
        "`recorded",
    ),
    "metadata is a list": (b'{"name":"one","input":"q","metadata":[1]}', "`metadata`"),
    "metadata of a step is a list, and odd tokens": (
        b'{"name":"one","input":"q","steps":[{"type":"llm_call","tokens":{"x":1},"metadata":[1]}]}',
        "`steps[0].metadata`",
    ),
    "a cost is a list": (
        b'{"name":"one","input":"q","steps":[{"type":"llm_call","cost_usd":[]}]}',
        "`steps[0].cost_usd`",
    ),
}


@pytest.mark.parametrize(("line", "word"), BROKEN.values(), ids=BROKEN)
def test_a_record_that_cannot_be_read_is_named_and_the_others_are_judged(bench, line, word):
    bench.case(ANSWER)
    bench.traces(GOOD, line)
    outcome = bench.score().expect(
        3, "traces.jsonl:2: ", word, "ERROR one", "PASS  good", "1 passed, 1 in error"
    )
    assert len(outcome.err) < 1000


@pytest.mark.parametrize(("line", "word"), BROKEN.values(), ids=BROKEN)
def test_an_unreadable_record_named_by_a_case_is_an_error_of_that_case(bench, line, word):
    bench.case(f"{ANSWER}\n    trace: own.jsonl")
    bench.write("own.jsonl", line)
    bench.traces(GOOD)
    bench.score().expect(3, "own.jsonl", word, "ERROR one", "PASS  good")


@pytest.mark.parametrize("file", ["a.json", "a.jsonl", "a.txt"])
@pytest.mark.parametrize("content", [b"", b"\n\n  \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_named(bench, file, content):
    bench.case(ANSWER)
    bench.write(file, content)
    bench.run("score", "spec.yaml", file).expect(3, file, "holds no trace", "2 in error")


def test_an_empty_list_holds_no_trace(bench):
    bench.case(ANSWER)
    bench.write("a.json", "[]")
    bench.run("score", "spec.yaml", "a.json").expect(3, "a.json", "holds no trace")


LISTED = {
    "a number among them": b'[{"name":"good","input":"fine","output":"yes"}, 5]',
    "one without input": b'[{"name":"good","input":"fine","output":"yes"}, {"name":"one"}]',
    "one not UTF-8": b'[{"name":"good","input":"fine","output":"yes"}, {"input":"\xff"}]',
    "one cut off": b'[{"name":"good","input":"fine","output":"yes"}, {"name":"one","inp',
    "one too deep": b'[{"name":"good","input":"fine","output":"yes"}, {"input":'
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}]",
}


@pytest.mark.parametrize("content", LISTED.values(), ids=LISTED)
def test_one_bad_trace_of_a_json_list_does_not_affect_the_others(bench, content):
    bench.case(ANSWER)
    bench.write("a.json", content)
    bench.run("score", "spec.yaml", "a.json").expect(
        3, "a.json", "not judged", "ERROR one", "PASS  good"
    )


@pytest.mark.parametrize(
    "rest",
    [
        b'\n[{"name":"one","input":"q","output":"no"}]',
        b'{"name":"one","input":"q","output":"no"}',
        b',{"name":"one","input":"q","output":"no"}]',
        b" and more",
    ],
    ids=["another list", "an object", "closed too early", "words"],
)
def test_content_after_a_json_list_is_not_dropped_silently(bench, rest):
    bench.case(ANSWER)
    bench.write("a.json", json.dumps([ONE, GOOD]).encode() + rest)
    outcome = bench.run("score", "spec.yaml", "a.json")
    assert "Traceback" not in outcome.text
    assert outcome.code in (1, 3)


@pytest.mark.parametrize("value", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1"])
def test_a_bad_number_in_a_json_list_is_left_out_and_all_are_judged(bench, value):
    """A JSON list tolerates the same bad numbers as JSON lines."""
    bench.case(ANSWER)
    bench.write(
        "a.json",
        b'[{"name":"one","input":"q","output":"yes","duration_ms":' + value + b"},\n"
        b'{"name":"good","input":"fine","output":"yes"}]',
    )
    bench.run("score", "spec.yaml", "a.json").expect(
        0, "a.json", "duration_ms", "left unknown", "2 passed"
    )


def test_a_lone_surrogate_in_a_json_list_is_kept_as_an_escape(bench):
    bench.case(ANSWER)
    bench.write(
        "a.json",
        b'[{"name":"one","input":"q","output":"yes \\ud800"},'
        b'{"name":"good","input":"fine","output":"yes"}]',
    )
    bench.run("score", "spec.yaml", "a.json").expect(0, "a.json", "surrogate", "2 passed")


@pytest.mark.parametrize("depth", [300, 480, 600, 700, 800, 950])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("field", [b'"metadata":{"a":%s}', b'"zzz":%s', b'"cost":NaN,"z":%s'])
def test_a_deeply_nested_record_is_read_or_refused(bench, depth, opening, field):
    closing = b"]" if opening == b"[" else b"}"
    value = opening * depth + (b"" if opening == b"[" else b"1") + closing * depth
    bench.case(ANSWER)
    bench.traces(GOOD, b'{"name":"one","input":"q","output":"yes",' + field % value + b"}")
    for form in ("terminal", "json", "junit"):
        outcome = bench.score("--format", form)
        assert "Traceback" not in outcome.text
        assert outcome.code in (0, 3)
        assert "good" in outcome.out


def test_a_deeply_nested_tool_result_is_judged_or_unknown(bench):
    deep = json.loads("[" * 700 + "]" * 700)
    step = {"type": "tool_call", "tool_name": "s", "tool_args": {"x": deep}, "tool_result": deep}
    bench.case(
        "path: {max_repeats: 1, tool_args: [{tool: s, args: {x: 1}}], span_assertions: "
        "[{select: {name: s}, field: tool_result, contains: a}]}\n"
        "    retrieval: {tool: s, min_results: 1, facts_in_context: ['yes'], expected_sources: [a]}"
    )
    bench.traces(GOOD, json.dumps({**ONE, "steps": [step, step]}))
    for form in ("terminal", "json", "junit"):
        outcome = bench.score("--format", form)
        assert "Traceback" not in outcome.text
        assert outcome.code in (0, 1, 3)


# Numbers


BAD_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1", "-0.5", "9" * 400, '"NaN"', '"12"']
FIELDS = {
    "prompt_tokens": ("max_total_tokens", "steps[0].tokens.prompt_tokens"),
    "completion_tokens": ("max_total_tokens", "steps[0].tokens.completion_tokens"),
    "total_tokens": ("max_total_tokens", "steps[0].tokens.total_tokens"),
    "cost_usd": ("max_cost_usd", "steps[0].cost_usd"),
    "duration_ms": ("max_latency_ms", "steps[0].duration_ms"),
    "own duration": ("max_latency_ms", "duration_ms"),
}


def with_number(field, value):
    trace = copy.deepcopy({**ONE, "steps": [CALL]})
    step = trace["steps"][0]
    if field == "own duration":
        trace["duration_ms"] = "HERE"
    elif field.endswith("_tokens"):
        step["tokens"][field] = "HERE"
    else:
        step[field] = "HERE"
    return json.dumps(trace).replace('"HERE"', value)


@pytest.mark.parametrize("value", BAD_NUMBERS, ids=lambda value: value[:10])
@pytest.mark.parametrize("field", FIELDS)
def test_a_bad_number_is_left_out_with_a_warning_and_its_budget_is_unknown(bench, field, value):
    check, place = FIELDS[field]
    bench.case(BUDGETS)
    bench.traces(GOOD, with_number(field, value))
    bench.score().expect(
        3, f"traces.jsonl:2: {place}: ", "left unknown", f"{check} unknown", "PASS  good"
    )


@pytest.mark.parametrize("field", FIELDS)
def test_a_number_of_five_thousand_digits_never_passes_a_budget(bench, field):
    bench.case(BUDGETS)
    bench.traces(GOOD, with_number(field, "9" * 5000))
    outcome = bench.score().expect(3, "traces.jsonl:2: ", "ERROR one", "PASS  good")
    assert "set_int_max_str_digits" not in outcome.text  # advice for Python programmers


def test_a_bad_number_is_null_in_the_json_report(bench):
    bench.case(BUDGETS)
    bench.traces(GOOD, with_number("cost_usd", "NaN"))
    outcome = bench.score("--format", "json").expect(3)
    report = json.loads(outcome.out)
    assert report["results"][0]["cost_usd"] is None
    assert report["summary"]["cost_usd"] is None
    assert "left unknown" in report["warnings"][0]


def test_a_bad_cost_is_unknown_though_its_tokens_have_a_price(bench):
    """The message says that the cost is left unknown: then its budget must not pass."""
    bench.case(BUDGETS)
    step = {**CALL, "model": "gpt-4o", "cost_usd": -1}
    bench.traces(GOOD, {**ONE, "steps": [step]})
    bench.score().expect(3, "steps[0].cost_usd", "left unknown", "max_cost_usd unknown")


@pytest.mark.parametrize(
    "tokens",
    [
        {},
        {"tokens_in": 5000, "tokens_out": 90_000},
        {"prompt_tokens": 1, "completion_token": 90_000},
        {"prompt_tokens": None, "completion_tokens": 1},
    ],
    ids=["none", "other names", "a misspelt name", "null"],
)
def test_tokens_that_were_not_recorded_are_not_zero(bench, tokens):
    bench.case("cost: {max_total_tokens: {value: 1000, severity: fail}}")
    bench.traces(GOOD, {**ONE, "steps": [{**CALL, "tokens": tokens}]})
    bench.score().expect(3, "max_total_tokens unknown", "PASS  good")


@pytest.mark.parametrize(
    "trace",
    [
        {"steps": [{**CALL, "cost_usd": 1e308}, {**CALL, "cost_usd": 1e308}]},
        {"steps": [{**CALL, "duration_ms": 1e308}, {**CALL, "duration_ms": 1e308}]},
        {"steps": [{**CALL, "timestamp": "2026-01-01T00:00:00Z", "duration_ms": 1e300}]},
        {"steps": [{**CALL, "timestamp": "9999-12-31T23:59:59Z", "duration_ms": 1e6}]},
        {"started_at": "0001-01-01T00:00:00+14:00", "completed_at": "9999-12-31T23:59:59-14:00"},
    ],
    ids=["costs", "durations", "a long step", "a late step", "longest possible run"],
)
def test_sums_that_overflow_never_pass_and_do_not_crash(bench, trace):
    bench.case(BUDGETS)
    bench.traces(GOOD, {**ONE, **trace})
    for form in ("terminal", "json", "junit"):
        outcome = bench.score("--format", form)
        assert "Traceback" not in outcome.text
        assert outcome.code in (1, 3)
        assert "good" in outcome.out


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_an_extreme_timestamp_does_not_crash_the_pricing(bench, moment):
    bench.case("cost: {max_cost_usd: {value: 1, severity: fail}}")
    step = {**CALL, "model": "deepseek-chat", "timestamp": moment}
    del step["cost_usd"]
    bench.traces(GOOD, {**ONE, "steps": [step]})
    outcome = bench.score()
    assert "Traceback" not in outcome.text
    assert outcome.code in (0, 3)
    assert "PASS  good" in outcome.out


# Contradictory times and steps


def test_an_end_before_its_start_is_unknown_with_a_warning(bench):
    bench.case("cost: {max_latency_ms: {value: 1000, severity: fail}}")
    bench.traces(
        GOOD,
        {**ONE, "started_at": "2026-01-02T00:00:00Z", "completed_at": "2026-01-01T00:00:00Z"},
    )
    bench.score().expect(3, "max_latency_ms unknown", "warning: traces.jsonl:2: ", "completed_at")


def test_an_end_before_its_start_is_not_replaced_by_a_smaller_sum(bench):
    bench.case("cost: {max_latency_ms: {value: 1000, severity: fail}}")
    times = {"started_at": "2026-01-02T00:00:00Z", "completed_at": "2026-01-01T00:00:00Z"}
    bench.traces(GOOD, {**ONE, **times, "steps": [CALL]})
    bench.score().expect(3, "max_latency_ms unknown", "warning: traces.jsonl:2: ")


def test_the_same_step_twice_is_counted_once_with_a_warning(bench):
    bench.case("cost: {max_cost_usd: {value: 1, severity: fail}}")
    step = {**CALL, "id": "a", "cost_usd": 0.9}
    bench.traces(GOOD, {**ONE, "steps": [step, step]})
    bench.score().expect(0, "2 passed", "warning: traces.jsonl:2: ", "steps[1]", "twice")


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        (
            {"type": "tool_call", "tool_name": "search"},
            {"type": "tool_call", "tool_name": "delete_user"},
            "forbidden_tools fail",
        ),
        ({**CALL, "cost_usd": 0.1}, {**CALL, "cost_usd": 5}, "max_cost_usd fail"),
    ],
    ids=["call", "cost"],
)
def test_a_different_step_with_a_duplicate_id_is_still_judged(bench, first, second, word):
    """Steps with the same id but different contents are two steps: the agent made both calls."""
    bench.case(
        "path: {forbidden_tools: [delete_user]}\n"
        "    cost: {max_cost_usd: {value: 1, severity: fail}}"
    )
    bench.traces(GOOD, {**ONE, "steps": [{**first, "id": "a"}, {**second, "id": "a"}]})
    bench.score().expect(1, word, "traces.jsonl:2: steps[1]", "PASS  good")


@pytest.mark.parametrize(
    "parents",
    [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "nowhere"}],
    ids=["its own parent", "a cycle", "an orphan"],
)
def test_a_step_with_an_invalid_parent_is_judged_with_a_warning(bench, parents):
    bench.case(BUDGETS)
    steps = [{**CALL, "id": name, "parent_id": parent} for name, parent in parents.items()]
    bench.traces(GOOD, {**ONE, "steps": steps})
    bench.score().expect(0, "2 passed", "warning: traces.jsonl:2: ", "parent_id")


# Which trace belongs to which case


def test_a_case_without_a_trace_is_an_error(bench):
    bench.case(ANSWER)
    bench.traces(GOOD)
    bench.score().expect(3, "ERROR one", "no recorded trace", "PASS  good")
    bench.run("score", "spec.yaml").expect(3, "2 in error")


def test_a_trace_without_a_case_is_a_warning(bench):
    bench.case(ANSWER)
    bench.traces(GOOD, ONE, {"name": "other", "input": "else", "output": "no"})
    bench.score().expect(0, "warning: ", "belongs to no case", "other", "else")


def test_an_unnamed_trace_with_the_same_input_is_not_dropped_silently(bench):
    """It is not an attempt of the case, because the name decides: it must be reported."""
    bench.case(ANSWER)
    bench.traces(GOOD, ONE, {"input": "q", "output": "no"})
    bench.score().expect(0, "2 passed", "warning: ", "belongs to no case")


def test_a_missing_trace_file_is_a_usage_error(bench):
    bench.case(ANSWER)
    bench.run("score", "spec.yaml", "nowhere.jsonl").expect(2, "nowhere.jsonl: no such file")
    (bench.folder / "empty").mkdir()
    bench.run("score", "spec.yaml", "empty").expect(2, "empty: no trace here", ".jsonl")


def test_a_missing_trace_file_of_a_case_is_an_error_of_that_case(bench):
    bench.case(f"{ANSWER}\n    trace: nowhere.jsonl")
    bench.traces(GOOD)
    bench.score().expect(3, "nowhere.jsonl: no such file", "ERROR one", "PASS  good")


def test_a_trace_file_that_cannot_be_opened_is_named_with_the_reason(bench):
    bench.case(ANSWER)
    (bench.folder / "loop.jsonl").symlink_to("loop.jsonl")
    bench.run("score", "spec.yaml", "loop.jsonl").expect(2, "loop.jsonl")


def test_a_run_with_an_unreadable_attempt_never_passes(bench):
    """Only one of two attempts was judged: the run is incomplete."""
    bench.case(ANSWER)
    bench.traces(GOOD, ONE, b'{"name":"one","input":"q","output":"n')
    bench.score().expect(3, "traces.jsonl:3: ", "cut off", "2 passed")


def test_no_answer_is_an_error_and_an_empty_one_is_an_answer(bench):
    bench.case("path: {max_steps: 3}")
    bench.traces(GOOD, {"name": "one", "input": "q"})
    bench.score().expect(3, "ERROR one", "no answer", "PASS  good")
    bench.traces(GOOD, {"name": "one", "input": "q", "output": "", "steps": []})
    bench.score().expect(0, "2 passed")


# Conversations


def conversation(bench, second, *steps, output="yes"):
    bench.spec(
        "queries:\n  - name: talk\n    turns:\n"
        '      - {query: a, correctness: {expected_in_answer: ["yes"]}}\n'
        f"      - {{query: b{second}}}\n"
    )
    said = {"type": "llm_call", "model": "m", "output": "yes"}
    bench.traces({"name": "talk", "input": "a", "output": output, "steps": [said, *steps]})
    return bench.score()


NEXT = {"type": "human_input", "input": "b"}


@pytest.mark.parametrize(
    "second",
    [
        ', correctness: {expected_in_answer: ["yes"]}',
        ", path: {expected_tools: [f]}",
        ", path: {max_tool_calls: 3}",
        ", cost: {max_llm_calls: 3}",
        "",
    ],
    ids=["answer", "tools", "calls", "budget", "nothing asked"],
)
def test_a_turn_that_never_happened_is_an_error(bench, second):
    """The agent did not answer that turn, and a case without an answer is an ERROR."""
    conversation(bench, second).expect(3, "ERROR talk", "only 1 turn")


def test_a_complete_conversation_passes(bench):
    conversation(bench, ', correctness: {expected_in_answer: ["yes"]}', NEXT).expect(0, "1 pass")


def test_a_conversation_that_ends_without_an_answer_is_an_error(bench):
    conversation(bench, "", NEXT, output=None).expect(3, "ERROR talk", "no answer")


def test_a_turn_without_an_answer_in_the_middle_is_an_error(bench):
    bench.spec(
        "queries:\n  - name: talk\n    turns:\n      - {query: a, path: {max_tool_calls: 1}}\n"
        '      - {query: b, correctness: {expected_in_answer: ["yes"]}}\n'
    )
    bench.traces({"name": "talk", "input": "a", "output": "yes", "steps": [NEXT]})
    bench.score().expect(3, "ERROR talk", "no answer")


# Baselines


MULTIPLE = 'correctness: {expected_in_answer: ["yes"]}\n    cost: {max_cost_multiplier: 2}'
BASELINES = {
    "torn": (b'{"input":"q","out', "cut off"),
    "empty": (b"", "holds no trace"),
    "two": (b'{"input":"q"}\n{"input":"q"}\n', "2 traces"),
    "list of two": (b'[{"input":"q"},{"input":"q"}]', "2 traces"),
    "number": (b"5", "found a number"),
    "not UTF-8": (b'{"input":"\xff"}', "UTF-8"),
    "NUL": (b"{\0abc", "JSON"),
    "no input": (b"{}", "`input`"),
}


@pytest.mark.parametrize(("content", "word"), BASELINES.values(), ids=BASELINES)
def test_a_baseline_that_cannot_be_read_is_an_error_not_a_pass(bench, content, word):
    bench.case(MULTIPLE)
    bench.traces(GOOD, {**ONE, "steps": [CALL]})
    bench.write("baselines/spec/one.json", content)
    bench.score().expect(3, "baseline", "one.json", word, "ERROR one", "PASS  good")
    (bench.folder / "baselines").rename(bench.folder / "elsewhere")
    bench.score("--baseline", "elsewhere").expect(3, "elsewhere", word, "ERROR one")


@pytest.mark.parametrize("name", ["nowhere.json", "."])
def test_a_missing_named_baseline_is_an_error_not_a_pass(bench, name):
    bench.case(f"{MULTIPLE}\n    baseline: {name}")
    bench.traces(GOOD, ONE)
    bench.score().expect(3, "baseline", name, "does not exist", "ERROR one", "PASS  good")


def test_a_dangling_link_as_baseline_is_an_error_not_a_pass(bench):
    bench.case(MULTIPLE)
    bench.traces(GOOD, ONE)
    (bench.folder / "baselines" / "spec").mkdir(parents=True)
    (bench.folder / "baselines" / "spec" / "one.json").symlink_to("nowhere")
    bench.score().expect(3, "one.json", "ERROR one", "PASS  good")


def test_a_missing_folder_of_baselines_is_a_usage_error(bench):
    bench.case(MULTIPLE)
    bench.traces(GOOD, ONE)
    bench.score("--baseline", "nowhere").expect(2, "--baseline nowhere", "no such folder")


def test_a_bad_number_in_a_baseline_is_reported_and_its_multiplier_unknown(bench):
    bench.case("cost: {max_cost_multiplier: {value: 2, severity: fail}}")
    bench.traces(GOOD, {**ONE, "steps": [CALL]})
    bench.write("baselines/spec/one.json", with_number("cost_usd", "NaN"))
    bench.score().expect(3, "one.json", "steps[0].cost_usd", "max_cost_multiplier unknown")


# Size and time


@pytest.mark.slow
def test_a_line_of_200_mb_is_skipped_in_little_memory(bench):
    bench.case(ANSWER)
    with (bench.folder / "traces.jsonl").open("wb") as stream:
        stream.write(b'{"name":"one","input":"q","output":"yes","metadata":{"a":"')
        for _ in range(200):
            stream.write(b"x" * 1024 * 1024)
        stream.write(b'"}}\n' + json.dumps(GOOD).encode() + b"\n")
    outcome, peak = bench.measure("score", "spec.yaml", "traces.jsonl")
    outcome.expect(3, "traces.jsonl:1: ", "64 MiB", "ERROR one", "PASS  good")
    assert peak < 300


@pytest.mark.process
def test_a_document_of_200_mb_is_refused_in_little_memory(bench):
    bench.case(ANSWER)
    with (bench.folder / "a.json").open("wb") as stream:
        stream.write(b'{"name":"one","input":"q","output":"')
        for _ in range(200):
            stream.write(b"x" * 1024 * 1024)
        stream.write(b'"}')
    outcome, peak = bench.measure("score", "spec.yaml", "a.json")
    outcome.expect(3, "a.json", "64 MiB", "2 in error")
    assert peak < 300


@pytest.mark.process
def test_200_mb_through_a_pipe_are_refused_in_little_memory(bench):
    bench.case(ANSWER)
    reading, writing = os.pipe()

    def feed():
        with os.fdopen(writing, "wb") as stream:
            try:
                stream.write(b'{"name":"one","input":"q","output":"')
                for _ in range(200):
                    stream.write(b"x" * 1024 * 1024)
            except BrokenPipeError:  # refused before the end: also correct
                pass

    feeder = threading.Thread(target=feed)
    feeder.start()
    with os.fdopen(reading, "rb") as stream:
        outcome, peak = bench.measure("score", "spec.yaml", "/dev/stdin", stdin=stream)
    feeder.join()
    outcome.expect(3, "/dev/stdin", "64 MiB", "2 in error")
    assert peak < 300


@pytest.mark.process
def test_a_file_of_invalid_lines_takes_little_memory(bench):
    bench.case(ANSWER)
    bench.traces(GOOD)
    _, usual = bench.measure("score", "spec.yaml", "traces.jsonl")
    bench.write("traces.jsonl", b"x\n" * 100_000 + json.dumps(GOOD).encode() + b"\n")
    outcome, peak = bench.measure("score", "spec.yaml", "traces.jsonl")
    outcome.expect(3, "traces.jsonl:1: ", "PASS  good", "ERROR one")
    assert peak - usual < 15  # for a file of 200 kB


def test_an_oversized_document_is_one_problem_not_one_for_each_line(bench, monkeypatch):
    monkeypatch.setattr(native, "MAX_BYTES", 2000)
    bench.case(ANSWER)
    records = [{**ONE, "metadata": {"number": number}} for number in range(100)]
    bench.write("a.json", json.dumps(records, indent=1))
    outcome = bench.run("score", "spec.yaml", "a.json").expect(3, "a.json")
    assert len([line for line in outcome.err.splitlines() if "a.json" in line]) == 1


def test_many_tools_are_read_in_linear_time(bench):
    bench.case(ANSWER)
    steps = [{"type": "tool_call", "tool_name": f"t{number}"} for number in range(60_000)]
    bench.traces(GOOD, {**ONE, "steps": steps})
    with cpu_watchdog():
        bench.score().expect(0, "2 passed")


def test_a_long_chain_of_parents_is_read_in_linear_time(bench):
    bench.case(ANSWER)
    steps = [
        {"type": "reasoning", "id": str(number), "parent_id": str(number - 1)}
        for number in range(40_000)
    ]
    del steps[0]["parent_id"]
    bench.traces(GOOD, {**ONE, "steps": steps})
    with cpu_watchdog():
        bench.score().expect(0, "2 passed")


def test_a_long_model_name_is_priced_in_linear_time(bench):
    bench.case("cost: {max_cost_usd: {value: 1, severity: fail}}")
    step = {**CALL, "model": "-123" * 30_000 + "x"}
    del step["cost_usd"]
    bench.traces(GOOD, {**ONE, "steps": [step]})
    with cpu_watchdog():
        bench.score().expect(3, "max_cost_usd unknown", "PASS  good")


def test_an_unclosed_code_fence_is_read_in_linear_time(bench):
    bench.case("correctness: {json_schema: {type: object}}")
    bench.traces(GOOD, {**ONE, "output": "```json\n" + " " * 400_000})
    with cpu_watchdog():
        bench.score().expect(1, "json_schema fail", "not JSON", "PASS  good")


@pytest.mark.parametrize(
    ("block", "trace"),
    [
        (ANSWER, {"output": None, "status": "error", "error": "E" * 1_000_000}),
        ("correctness: {json_schema: {type: string}}", {"output": json.dumps(["x" * 1_000_000])}),
        ("correctness: {exact_match: a}", {"output": "x" * 1_000_000}),
        (
            "path: {forbidden_tools: ['x*']}",
            {"steps": [{"type": "tool_call", "tool_name": "x" * 1_000_000}]},
        ),
    ],
    ids=["error", "schema", "answer", "tool"],
)
def test_a_report_about_very_long_text_stays_short(bench, block, trace):
    bench.case(block)
    bench.traces(GOOD, {**ONE, **trace})
    outcome = bench.score()
    assert outcome.code in (1, 3)
    assert len(outcome.out) < 10_000


def test_a_very_long_name_of_a_stray_trace_is_shortened(bench):
    bench.case(ANSWER)
    bench.traces(GOOD, ONE, {"name": "n" * 1_000_000, "input": "else"})
    outcome = bench.score().expect(0, "belongs to no case")
    assert len(outcome.err) < 10_000


# Secrets


KEYS = {
    "anthropic": "sk-ant-api03-" + "Ab1" * 30,
    "openai": "sk-proj-" + "Ab1" * 16,
    "github": "ghp_" + "a1B2" * 9,
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("form", ["terminal", "json", "junit"])
def test_a_key_in_a_trace_is_masked_in_every_report(bench, key, form):
    bench.case("correctness: {exact_match: hello}")
    bench.traces(
        GOOD, {**ONE, "output": f"the key is {key}"}, {**ONE, "status": "error", "error": key}
    )
    outcome = bench.score("--format", form)
    assert outcome.code == 1
    assert key not in outcome.text


@pytest.mark.parametrize("text", ["-eyJ", "-sk-", "bearer ", "-----BEGIN "])
def test_looking_for_keys_takes_linear_time(bench, text):
    bench.case(ANSWER)
    bench.traces(GOOD, {**ONE, "output": None, "status": "error", "error": text * 60_000})
    with cpu_watchdog():
        outcome = bench.score("--format", "json")
        assert outcome.code == 3


# Generated traces


COMPLETE = {
    "format_version": 1,
    "id": "t1",
    "name": "one",
    "input": "q",
    "output": "yes",
    "status": "success",
    "error": None,
    "started_at": "2026-01-01T00:00:00Z",
    "completed_at": "2026-01-01T00:00:01Z",
    "duration_ms": 1000,
    "framework": "f",
    "agent_name": "a",
    "recorded": ["tokens", "costs", "timings", "tool_calls", "tool_args", "tool_results"],
    "metadata": {"a": [1, {"b": None}]},
    "steps": [
        {**CALL, "id": "1", "timestamp": "2026-01-01T00:00:00Z", "output": "x"},
        {
            "type": "tool_call",
            "tool_name": "search",
            "tool_args": {"q": "a", "n": [1, 2.5, None]},
            "tool_result": [{"source": "a.md", "text": "b"}],
            "status": "failure",
            "error": "e",
            "parent_id": "1",
        },
        {"type": "human_input", "input": "b"},
        {"type": "handoff", "handoff_to": "billing"},
        {"type": "retrieval", "input": "q", "tool_result": "text"},
    ],
}
NASTY = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        1.5,
        1e308,
        10**15,
        10**20,
        10**400,
        float("nan"),
        float("inf"),
        "",
        "yes",
        "NaN",
        "\ud800",
        "\x00\x1b[2J\u202e\n::error::x",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59Z",
        [],
        {},
        [None],
        [[1]],
        {"a": 1},
        {"": {"": []}},
        json.loads("[" * 200 + "]" * 200),
        ["x"] * 50,
    ]
)

CASE = {
    "name": "one",
    "query": "q",
    "correctness": {
        "expected_in_answer": ["yes"],
        "not_in_answer": ["no"],
        "regex_match": "y",
        "json_schema": {"type": "object"},
    },
    "path": {
        "expected_tools": ["search"],
        "min_tool_f1": 0.5,
        "max_tool_calls": 3,
        "max_repeats": 1,
        "forbidden_tools": ["rm*"],
        "order": ["search"],
        "expected_tool_sequence": ["search"],
        "expected_handoff": "billing",
        "tool_args": [{"tool": "search", "args": {"q": {"regex": "a"}, "n": {"approx": 2}}}],
        "span_assertions": [{"select": {}, "field": "output", "contains": "x"}],
    },
    "cost": {
        "max_total_tokens": 10,
        "max_cost_usd": 1,
        "max_latency_ms": 5,
        "max_llm_calls": 1,
        "max_cost_multiplier": 2,
    },
    "retrieval": {
        "tool": "search",
        "forbid_empty": True,
        "min_results": 1,
        "expected_sources": ["a.md"],
        "facts_in_context": ["yes"],
    },
}


def paths(value, path=()):
    """The path of every value in a nested structure."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths(item, (*path, index))


MUTATIONS = st.lists(
    st.tuples(st.sampled_from(list(paths(COMPLETE))), NASTY), min_size=1, max_size=3
)


def mutated(mutations):
    """The complete trace with some values replaced."""
    root = {"top": copy.deepcopy(COMPLETE)}
    for path, value in mutations:
        holder, last = root, "top"
        try:
            for step in path:
                holder, last = holder[last], step
            holder[last] = value
        except (KeyError, IndexError, TypeError):  # an earlier mutation has removed this place
            continue
    return root["top"]


def judged(bench, file):
    """Judge what can be read of the file, and render every report format."""
    bench.write("spec.yaml", json.dumps({"queries": [CASE]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = score([load_suite("spec.yaml")], [file])
    assert run.exit_code() in (0, 1, 3)
    json.loads(json_report.render(run))
    assert junit.render(run).startswith("<?xml")
    assert terminal.render(run)
    return run


@QUICK
@given(content=st.one_of(st.binary(max_size=100), st.text(max_size=50).map(str.encode)))
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_any_bytes_are_traces_or_problems(bench, name, content):
    traces, problems, _ = scan(bench.write(name, content))
    assert traces or problems
    assert all(str(problem).startswith(str(bench.folder)) for problem in problems)


@QUICK
@given(data=st.data())
def test_any_damage_to_the_bytes_of_a_trace_is_a_trace_or_a_problem(bench, data):
    content = bytearray(json.dumps(COMPLETE).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content) - 1))
        end = min(len(content), start + data.draw(st.integers(0, 8)))
        content[start:end] = data.draw(
            st.one_of(st.binary(max_size=4), st.sampled_from([b"\0", b"\xff", b"NaN", b"[", b"-1"]))
        )
        if not content:
            break
    file = bench.write("a.jsonl", bytes(content) + b"\n" + json.dumps(GOOD).encode())
    traces, problems, _ = scan(file)
    assert traces
    assert all(isinstance(trace, Trace) for trace in traces)
    assert all(problem.line for problem in problems)
    judged(bench, file)


@settings(QUICK, max_examples=200)
@given(mutations=MUTATIONS)
def test_any_value_in_any_place_of_a_trace_is_judged_or_refused(bench, mutations):
    trace = mutated(mutations)
    file = bench.write("a.jsonl", json.dumps(trace) + "\n" + json.dumps(GOOD))
    run = judged(bench, file)
    assert [result.case_name for result in run.results] == ["one"] * len(run.results)


@QUICK
@given(mutations=MUTATIONS)
def test_any_value_in_code_is_a_trace_or_a_refusal(mutations):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trace = Trace.from_dict(mutated(mutations))
        except TrialrunError as error:
            assert str(error)
            return
    assert evaluate(EvalCase.from_dict(CASE), trace).status in LayerStatus
    assert Trace.from_json(trace.to_json()).to_json() == trace.to_json()


def test_invalid_json_in_code_raises_a_trialrun_error(bench):
    for text in ('{"input": "\ud800"}', "", "{", b"", b"\xff", b"{\0abc", "null", b"\0"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                assert Trace.from_json(text).input
            except TrialrunError as error:
                assert str(error)
    with pytest.raises(TrialrunError):
        read_traces("nowhere.jsonl")
    with pytest.raises(TrialrunError):
        read_traces("a\0b")
    with pytest.raises(TrialrunError):
        load_suite("a\0b")
