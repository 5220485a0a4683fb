"""Answers that are not text: any JSON value, in every kind of run."""

from __future__ import annotations

import json

import pytest

from tests.helpers import FAIL, PASS, first
from trialrun import EvalCase, Trace, evaluate
from trialrun.errors import TraceError
from trialrun.model.trace_format import from_plain

BOOKED = {"status": "ok", "city": "Zürich", "seats": [2, None], "note": 'a "b"'}
TEXT = '{"status":"ok","city":"Zürich","seats":[2,null],"note":"a \\"b\\""}'
SCHEMA = {"type": "object", "required": ["status"], "properties": {"seats": {"type": "array"}}}


def answered(output):
    return Trace(input="question", output=output)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (BOOKED, TEXT),
        ([], "[]"),
        ({}, "{}"),
        (0, "0"),
        (False, "false"),
        (1.5, "1.5"),
        ("text", "text"),
        ("", ""),
        (None, None),
    ],
)
def test_the_text_of_an_answer_is_compact_json(output, text):
    trace = answered(output)
    assert (trace.output, trace.answer_text) == (output, text)
    assert Trace.from_json(trace.to_json()).answer_text == text
    assert Trace.from_dict(trace.to_dict()).answer_text == text


@pytest.mark.parametrize(
    ("block", "status"),
    [
        ({"expected_in_answer": ['"city":"zürich"']}, PASS),
        ({"any_expected_in_answer": ["nope", "seats"]}, PASS),
        ({"not_in_answer": ["Zürich"]}, FAIL),
        ({"exact_match": TEXT}, PASS),
        ({"regex_match": r"\[2,null\]"}, PASS),
        ({"json_schema": SCHEMA}, PASS),
        ({"json_schema": {"required": ["price"]}}, FAIL),
    ],
)
def test_text_checks_see_the_text_and_schemas_the_value(block, status):
    assert first("correctness", block, answered(BOOKED)).status is status


def test_a_schema_sees_the_value_itself():
    """As text, these are JSON documents of another type."""
    for output, kind in ((0, "integer"), (False, "boolean"), ([], "array"), ({}, "object")):
        assert (
            first("correctness", {"json_schema": {"type": kind}}, answered(output)).status is PASS
        )
    assert first("correctness", {"json_schema": {"type": "string"}}, answered({})).status is FAIL


def test_zero_and_false_are_answers():
    case = EvalCase.from_dict({"query": "question", "correctness": {"exact_match": "0"}})
    assert evaluate(case, answered(0)).status.value == "pass"
    assert evaluate(case, answered(None)).status.value == "error"


@pytest.mark.parametrize(
    "answer",
    [
        '{"status":"bad","status":"ok"}',
        '{"a":[{"status":1, "status" :2}]}',
        '```json\n{"status":"bad","status":"ok"}\n```',
        '{"\\u0022":1,"status":"bad","status":"o\\u0022\\u0022\\u0022\\u0022\\u0022\\u0022k"}',
    ],
)
def test_an_answer_with_a_key_twice_does_not_conform(answer):
    result = first("correctness", {"json_schema": {"type": "object"}}, answered(answer))
    assert result.status is FAIL
    assert "`status` is given twice" in result.message


def test_json_that_only_looks_like_a_key_twice_conforms():
    answer = '{"a": "\\u0022a\\u0022: 1", "b": {"a": 1}, "c": "{\\"a\\":1,\\"a\\":2}"}'
    assert (
        first("correctness", {"json_schema": {"type": "object"}}, answered(answer)).status is PASS
    )


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ({"a": [1, object()]}, "a[1]: it holds an object"),
        ({"a": {"b": float("nan")}}, "output.a.b: expected a finite number"),
        (float("inf"), "Trace.output: expected a finite number"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(output, place):
    with pytest.raises(TraceError) as refused:
        answered(output)
    assert place in str(refused.value)


def test_nan_in_the_answer_of_a_file_is_null_with_a_note():
    trace, notes = from_plain({"input": "q", "output": {"a": [float("nan")]}})
    assert trace.output == {"a": [None]}
    assert notes == ["output.a[0]: nan is not a number of JSON; left unknown"]


AGENT = f"""
def run(question):
    return {{"output": {BOOKED!r}}}

def value(folder, answer):
    return True if answer == {BOOKED!r} else f"found {{answer!r}}"

def talk(question, history):
    said = [message["content"] for message in history if message["role"] == "assistant"]
    return {{"output": {{"turn": len(said) + 1, "before": said}}}}

def bare(question):
    return {{"status": "ok"}}

def bare_list(question):
    return ["ok"]
"""
CHECKS = {"exact_match": TEXT, "json_schema": SCHEMA}


@pytest.mark.parametrize(
    "agent",
    [
        {"runner": "agent:run"},
        {"command": ["cat", "answer.json"]},
    ],
)
def test_live_agents_give_structured_answers(tmp_path, monkeypatch, capsys, agent):
    """The keys keep their order through the store: a stored run is judged as the live one."""
    from trialrun.cli.main import main

    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "answer.json").write_text(json.dumps({"output": BOOKED}))
    case = {"name": "one", "query": "q", "correctness": CHECKS, "state": "agent:value"}
    if "command" in agent:
        del case["state"]
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps({**agent, "queries": [case]}))
    monkeypatch.chdir(tmp_path)
    assert main(["run", "spec.yaml", "--format", "json"]) == 0, capsys.readouterr().out
    assert main(["regrade", "latest", "--spec", "spec.yaml"]) == 0, capsys.readouterr().out
    capsys.readouterr()
    assert main(["show", "latest", "one"]) == 0
    assert TEXT in capsys.readouterr().out


def test_a_conversation_with_structured_answers(tmp_path, monkeypatch, capsys):
    from trialrun.cli.main import main

    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    turns = [
        {"query": "a", "correctness": {"json_schema": {"properties": {"turn": {"const": 1}}}}},
        {"query": "b", "correctness": {"expected_in_answer": ['"before":["{\\"turn\\":1,']}},
    ]
    spec = {"runner": "agent:talk", "queries": [{"name": "one", "turns": turns}]}
    (tmp_path / "spec.yaml").write_text(json.dumps(spec))
    monkeypatch.chdir(tmp_path)
    assert main(["run", "spec.yaml"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("function", "message"),
    [("bare", "a dict without `output` (status)"), ("bare_list", "returned a list")],
)
def test_a_bare_value_is_an_error_that_names_it(tmp_path, monkeypatch, capsys, function, message):
    from trialrun.cli.main import main

    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    case = {"name": "one", "query": "q", "correctness": {"exact_match": "x"}}
    (tmp_path / "spec.yaml").write_text(
        json.dumps({"runner": f"agent:{function}", "queries": [case]})
    )
    monkeypatch.chdir(tmp_path)
    assert main(["run", "spec.yaml"]) == 3
    assert message in capsys.readouterr().out
