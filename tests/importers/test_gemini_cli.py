"""Sessions of Gemini CLI: the old object, the journal, and what takes messages back."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces
from trialrun.importers import scan
from trialrun.importers.gemini_cli import GeminiCliImporter, _Session
from trialrun.model.trace import StepStatus, StepType

DATA = Path(__file__).parents[1] / "data" / "formats" / "gemini-cli"
HEADER = {"sessionId": "s", "projectHash": "p"}


def read(path):
    (trace,) = read_traces(path)
    return trace


def journal(tmp_path, *lines):
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join(map(json.dumps, (HEADER, *lines))), encoding="utf-8")
    return read(file)


def user(key, text):
    return {"id": key, "type": "user", "content": [{"text": text}]}


def gemini(key, text, **values):
    return {"id": key, "type": "gemini", "content": text, "model": "m", **values}


def test_the_old_form():
    trace = read(DATA / "entire-cli-small.json")
    assert trace.tool_call_sequence == ["read_file", "write_file"]
    assert len(trace.llm_calls) == 4
    assert trace.tool_calls[0].tool_result == "hello from gemini"
    assert trace.input == "add new text to test-gemini.txt"
    prompts = [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT]
    assert prompts == ['",how are you"']
    assert trace.output == 'I have added the text ",how are you" to `test-gemini.txt`.'


def test_thoughts_are_counted_beside_the_output():
    """48,965 read, of which 35,330 were cached, 70 written, 232 thoughts."""
    trace = read(DATA / "entire-cli-small.json")
    assert trace.total_tokens == 48965 + 70 + 232
    usages = [step.tokens for step in trace.llm_calls]
    assert sum(one.completion_tokens for one in usages) == 302
    assert sum(one.cached_tokens for one in usages) == 35330


def test_a_session_in_which_nothing_ran_is_not_a_trace():
    traces, problems, _ = scan(DATA / "entire-cli-warning-only.json")
    assert not traces and "in which nothing ran" in str(problems[0])
    _, problems, notes = scan(DATA)
    assert not problems and "in which nothing ran" in str(notes[0])


def test_the_journal():
    """Made against a server that counts 100 + 12 + 8 tokens for each of two calls."""
    trace = read(DATA / "made-0.61.0.jsonl")
    assert trace.input == "How warm is it in Paris?"
    assert trace.output == "Paris has 21 degrees; the folder is missing."
    assert len(trace.llm_calls) == 2 and trace.total_tokens == 240
    echo, listing = trace.tool_calls
    assert echo.parent_id == listing.parent_id == trace.llm_calls[0].id
    assert echo.status is StepStatus.SUCCESS
    assert (listing.metadata["exit_code"], listing.status) == (2, StepStatus.FAILURE)
    report = trace.metadata["imported"]
    assert report["repeated"] == {"message": 1}
    assert report["dropped"] == {"message that Gemini CLI wrote itself": 1}


def test_messages_that_were_taken_back_do_not_count(tmp_path):
    trace = journal(
        tmp_path,
        *(user("1", "One"), gemini("2", "1"), user("3", "Two"), gemini("4", "2")),
        {"$rewindTo": "3"},
        *(user("5", "Three"), gemini("6", "3")),
    )
    assert [step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT] == ["Three"]
    assert trace.output == "3"
    assert trace.metadata["imported"]["dropped"] == {"message that the user took back": 2}


def test_set_can_replace_all_messages(tmp_path):
    kept = {"$set": {"messages": [user("1", "One"), gemini("2", "1")]}}
    trace = journal(tmp_path, user("0", "Zero"), kept)
    assert (trace.input, trace.output) == ("One", "1")


def test_a_cancelled_request_without_text_leaves_the_answer(tmp_path):
    call = {"id": "c", "name": "edit", "args": {}, "status": "cancelled"}
    cancelled = {"id": "9", "type": "info", "content": "Request cancelled."}
    turn = user("3", "Two"), gemini("4", "", toolCalls=[call]), cancelled
    trace = journal(tmp_path, user("1", "One"), gemini("2", "1"), *turn)
    assert trace.output == "1"
    assert trace.metadata["interrupted"] == "the user cancelled the request"
    assert trace.tool_calls[0].status is StepStatus.FAILURE


def test_a_result_can_be_an_error(tmp_path):
    response = [{"functionResponse": {"response": {"error": "no such file"}}}]
    call = {"id": "c", "name": "read_file", "args": {}, "status": "error", "result": response}
    trace = journal(tmp_path, user("1", "One"), gemini("2", "1", toolCalls=[call]))
    assert trace.tool_calls[0].status is StepStatus.FAILURE
    assert trace.tool_calls[0].tool_result == "no such file"


def test_a_request_that_failed_has_no_answer(tmp_path):
    failed = {"id": "9", "type": "error", "content": "[API Error: quota]"}
    trace = journal(tmp_path, user("1", "One"), gemini("2", ""), failed)
    assert trace.output is None and trace.metadata["unfinished"] == "error: [API Error: quota]"
    overcome = journal(tmp_path, user("1", "One"), failed, gemini("2", "1"))
    assert overcome.output == "1"


def test_many_messages_that_were_taken_back_one_by_one():
    """100,000 times one of 100,001 messages: listing all of them each time never ends."""
    session = _Session()
    count = 100_000
    for number in range(count):
        session.line(user(str(number), "a"))
    for _ in range(count):
        session.line(user("last", "b"))
        session.line({"$rewindTo": "last"})
    session.line({"$rewindTo": "unknown"})
    assert len(session.messages) == count
    session.line({"$rewindTo": "1"})
    assert list(session.messages) == ["0"]


def test_a_journal_without_its_header(tmp_path):
    rows = [
        {"id": "1", "type": "user", "content": "2 + 2?"},
        {"id": "2", "type": "gemini", "content": "4", "model": "m", "toolCalls": []},
    ]
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    trace = read(file)
    assert (trace.input, trace.output, len(trace.llm_calls)) == ("2 + 2?", "4", 1)


def test_an_id_of_another_type_is_left_out(tmp_path):
    file = tmp_path / "session.jsonl"
    lines = GeminiCliImporter.example.splitlines()
    lines[0] = lines[0].replace('"sessionId": "s"', '"sessionId": []')
    file.write_text("\n".join(lines))
    (trace,) = read_traces(file)
    assert trace.id is None and len(trace.tool_calls) == 1
