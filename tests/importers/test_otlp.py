"""OTLP: JSON documents and lines, protobuf, log records."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from trialrun import read_traces
from trialrun.errors import UsageError
from trialrun.importers import importer_of, scan
from trialrun.model.steps import StepStatus

DATA = Path(__file__).parents[1] / "data/formats/otlp"
CLAUDE_CODE = DATA / "made-claude-code-2.1.197.otlp.jsonl"
PROTOBUF = DATA / "made-pydantic-ai-2.66.pb"


def attribute(key, value):
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


def span(number, name, start, end, parent="", trace="a" * 32, events=(), **attributes):
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": parent and f"{parent:016x}",
        "name": name,
        "startTimeUnixNano": f"1784744268{start:09d}",
        "endTimeUnixNano": f"1784744268{end:09d}",
        "attributes": [attribute(k.replace("__", "."), v) for k, v in attributes.items()],
        "events": list(events),
    }


def export(*spans, scope="pydantic-ai"):
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]}


def write(tmp_path, *exports):
    file = tmp_path / "spans.jsonl"
    file.write_text("".join(f"{json.dumps(item)}\n" for item in exports))
    return file


def test_spans_without_an_agent_give_a_problem_and_not_a_trace():
    file = DATA / "no-agent-spans.otlp.jsonl.gz"
    assert importer_of(file).name == "otlp"
    traces, problems, _ = scan(file)
    assert not traces
    wanted = "2 spans in 2 traces without an agent, a model call or a tool call: not read"
    assert wanted in str(problems[0])


def test_claude_code_counts_as_its_session_and_keeps_its_costs():
    """36 input, 64 read and 10 written, 20 output: twice. The program itself says $0.001549."""
    (trace,) = read_traces(CLAUDE_CODE)
    assert trace.input == "Say hello in the shell"
    assert trace.output == "hello was said."
    assert trace.total_tokens == 260
    assert trace.total_cost_usd == pytest.approx(0.001549)
    assert [call.tokens.prompt_tokens for call in trace.llm_calls] == [36, 36]
    hello, nowhere = trace.tool_calls
    assert hello.tool_args == {"command": "echo hello", "description": "say hello"}
    assert (hello.tool_result, hello.status) == ("hello", StepStatus.SUCCESS)
    assert nowhere.tool_args == {"command": "ls /nowhere", "description": "fail"}
    # The span of the call is OK; only the execution inside it failed.
    assert (nowhere.status, nowhere.error) == (StepStatus.FAILURE, "Shell command failed")
    assert hello.parent_id == nowhere.parent_id == trace.llm_calls[0].id


def test_without_log_records_the_arguments_are_what_the_span_says(tmp_path):
    lines = [line for line in CLAUDE_CODE.read_text().splitlines() if "resourceLogs" not in line]
    file = tmp_path / "spans.jsonl"
    file.write_text("\n".join(lines))
    (trace,) = read_traces(file)
    assert [call.tool_args for call in trace.tool_calls] == [
        {"command": "echo hello"},
        {"command": "ls /nowhere"},
    ]
    assert [call.status.value for call in trace.tool_calls] == ["success", "failure"]
    assert "costs" not in trace.recorded
    assert trace.output is None


def test_log_records_alone_are_a_problem(tmp_path):
    lines = [line for line in CLAUDE_CODE.read_text().splitlines() if "resourceLogs" in line]
    file = tmp_path / "logs.jsonl"
    file.write_text("\n".join(lines))
    traces, problems, _ = scan(file)
    assert not traces
    assert "log records without spans" in str(problems[0])


def test_protobuf():
    weather, sums = read_traces(PROTOBUF)
    assert weather.total_tokens == 240
    assert [call.tool_args for call in weather.tool_calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert [call.tool_result for call in weather.tool_calls] == ["18 in Paris", "18 in Rome"]
    assert sums.output == {"total": 0}
    assert sums.tool_calls[0].status is StepStatus.SUCCESS  # its arguments are the answer


def test_protobuf_with_the_length_before_each_message(tmp_path):
    data = PROTOBUF.read_bytes()
    file = tmp_path / "spans.pb"
    file.write_bytes(len(data).to_bytes(4, "big") + data)
    assert [trace.total_tokens for trace in read_traces(file)] == [240, 55]


def test_damaged_protobuf_is_an_error(tmp_path):
    file = tmp_path / "spans.pb"
    file.write_bytes(b"\x0a\xff\xff\xff")
    _, problems, _ = scan(file)
    assert "not a message of OTLP in protobuf" in str(problems[0])


def test_protobuf_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.protobuf.json_format", None)
    with pytest.raises(UsageError, match="formats"):
        scan(PROTOBUF)


def test_a_trace_over_many_lines_is_put_together_and_many_stay_many(tmp_path):
    def chat(number, trace):
        return span(number, "chat m", number, number + 1, 9, trace, gen_ai__operation__name="chat")

    def agent(trace):
        operation = {"gen_ai__operation__name": "invoke_agent"}
        return span(9, "invoke_agent a", 0, 9, trace=trace, **operation)

    one, two = "1" * 32, "2" * 32
    file = write(
        tmp_path,
        export(chat(1, one), chat(1, two)),
        export(chat(3, one)),
        export(agent(two)),
        export(agent(one)),
    )
    traces = {trace.id: trace for trace in read_traces(file)}
    assert list(traces) == [two, one]  # each as soon as its last line is read
    assert traces[one].total_llm_calls == 2
    assert traces[two].total_llm_calls == 1


def test_a_list_of_exports(tmp_path):
    call = {"gen_ai__operation__name": "chat"}
    exports = [export(span(1, "chat m", 0, 1, **call)), export(span(2, "chat m", 2, 3, **call))]
    file = tmp_path / "spans.json"
    file.write_text(json.dumps(exports))
    assert importer_of(file).name == "otlp"
    (trace,) = read_traces(file)
    assert trace.total_llm_calls == 2


def test_the_case_is_named_by_the_root_or_the_resource(tmp_path):
    call = {"gen_ai__operation__name": "chat"}
    named = span(1, "chat m", 0, 1, trace="1" * 32, test__case__name="refund", **call)
    other = export(span(1, "chat m", 0, 1, trace="2" * 32, **call))
    other["resourceSpans"][0]["resource"] = {"attributes": [attribute("test.case.name", "hello")]}
    traces = read_traces(write(tmp_path, export(named), other))
    assert [trace.name for trace in traces] == ["refund", "hello"]


def test_content_in_events_of_the_span(tmp_path):
    def event(name, **attributes):
        return {"name": name, "attributes": [attribute(k, v) for k, v in attributes.items()]}

    events = [
        event("gen_ai.user.message", content="2 + 2?", role="user"),
        event("gen_ai.choice", message='{"role": "assistant", "content": "4"}', index=0),
    ]
    chat = span(1, "chat m", 0, 1, events=events, gen_ai__operation__name="chat")
    (trace,) = read_traces(write(tmp_path, export(chat, scope="")))
    assert (trace.input, trace.output) == ("2 + 2?", "4")


def test_content_in_a_log_record_of_the_span(tmp_path):
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "4"}]}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": "2 + 2?"}]}]
    record = {
        "traceId": "a" * 32,
        "spanId": f"{1:016x}",
        "eventName": "gen_ai.client.inference.operation.details",
        "attributes": [
            attribute("gen_ai.input.messages", json.dumps(asked)),
            attribute("gen_ai.output.messages", json.dumps(said)),
        ],
    }
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    chat = span(1, "chat m", 0, 1, gen_ai__operation__name="chat")
    (trace,) = read_traces(write(tmp_path, logs, export(chat, scope="")))
    assert (trace.input, trace.output) == ("2 + 2?", "4")


def test_content_that_is_turned_off_is_not_taken_for_no_calls(tmp_path):
    usage = {"gen_ai__usage__input_tokens": 9, "gen_ai__usage__output_tokens": 1}
    chat = span(1, "chat m", 0, 1, gen_ai__operation__name="chat", **usage)
    (trace,) = read_traces(write(tmp_path, export(chat, scope="")))
    assert trace.recorded == {"llm_calls", "tokens", "timings"}
