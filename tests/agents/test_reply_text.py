"""What is an answer in the stdout of a command or the body of a reply, and what is not."""

from __future__ import annotations

import json

import pytest

from trialrun.agents.base import Failure
from trialrun.agents.running.answers import from_returned
from trialrun.agents.running.reply_text import from_body, from_printed

STEPS = [{"type": "tool_call", "tool_name": "s", "tool_result": "30 days"}]
ANSWER = {"output": "I do not know", "steps": STEPS}
LINE = json.dumps(ANSWER)
QUOTA = '{"error": "quota of 30 days exceeded"}'

MIXED = {
    "a log line before": f"INFO loading model\n{LINE}",
    "a log line after": f"{LINE}\nINFO done",
    "a log line around": f"INFO {LINE} took 3 s",
    "a time before": f"2026-01-01T00:00:00 {LINE}",
    "a colour around": f"\x1b[32m{LINE}\x1b[0m",
    "an event stream": f"data: {LINE}\n\ndata: [DONE]\n",
    "a fence": f"```json\n{json.dumps(ANSWER, indent=2)}\n```",
    "a sentence and a fence": f"Here it is:\n```json\n{LINE}\n```\nBye",
    "a list": f"[{LINE}]",
    "a list that is cut off": f"[{LINE}, ",
    "a repr": str(ANSWER),
    "JSON lines": f"{LINE}\n{LINE}",
    "JSON lines, an error first": f"{QUOTA}\n{json.dumps({'text': 'fine'})}",
    "JSON lines, an error last": f'{{"level": "info"}}\n{QUOTA}',
    "an error behind a log line": f"WARN retrying\n{QUOTA}",
    "an error at the end of a log line": f"12:00 ERROR {QUOTA}",
    "an error as an event": f"event: error\ndata: {QUOTA}",
    "an error that is not the first key": 'noise\n{"status": 429, "error": "quota of 30 days"}',
    "an error in a list": f"[{QUOTA}]",
    "pretty-printed, a line before": f"noise\n{json.dumps(ANSWER, indent=2)}",
    "an envelope": json.dumps({"result": ANSWER}),
    "a text with JSON in it": json.dumps(LINE),
    "a log line with such a text": f"got {json.dumps(LINE)}",
    "steps without output": json.dumps({"answer": "I do not know", "steps": STEPS}),
    "cut off": LINE[:60],
    "cut off before output": '{"answer": "I do no',
    "JavaScript's console.log": "{\n  output: 'no',\n  steps: [ { text: '30 days' } ]\n}",
    "Java's toString": "{output=I do not know, steps=[30 days]}",
    "Ruby's inspect": '{:output=>"I do not know", :steps=>["30 days"]}',
    "Go's %v": "map[output:I do not know steps:[30 days]]",
    "a dataclass": "Result(output='I do not know', steps=['30 days'])",
    "messages": '[{"role": "assistant", "content": "no"}, {"role": "tool", "content": "30 days"}]',
    "output twice": '{"output": "no", "output": "30 days"}',
    "NaN beside the output": '{"output": "30 days", "score": NaN}',
}


@pytest.mark.parametrize("printed", MIXED.values(), ids=list(MIXED))
def test_json_of_an_answer_and_something_else_is_an_error(printed):
    found = from_printed(printed)
    assert isinstance(found, Failure)
    assert isinstance(from_body(printed, is_json=False, path=None), Failure)
    assert isinstance(from_body(printed, is_json=True, path=None), Failure)


def test_the_message_says_where_logs_belong():
    found = from_printed(f"INFO loading\n{LINE}")
    assert "line 2" in found.message
    assert "logs to stderr" in found.message
    assert '{"output": "the text"}' in found.message


PLAIN = [
    "You have 30 days.",
    "```json\n{\"price\": 3}\n```",
    '{"price": 3}\nThat is all.',
    '{"a": 1, "a": 2}',
    "{output} cut",
    "The output: 3 files, error: none.",
    'Answer with "error" or "output", said Ann.',
    'A reply such as {"error": "x"} means that it failed.',
    'Set "error": true in it and go on.',
    "call f(output) for the output",
    '"quoted"',
    "42",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_text_is_the_answer_as_it_is(text):
    assert from_printed(text + "\n") == {"output": text}


@pytest.mark.parametrize(
    "text",
    [
        '{"price": 3}',
        '{"ouput": "no", "steps": [{"type": "reasoning", "reasoning_text": "30 days"}]}',
        '{"answer": "I do not know", "context": "30 days"}',
        '{"ok": true, "error": null, "items": []}',
        "[1, 2]",
        '[{"name": "a"}]',
        '{"type": "user", "content": "30 days"}\n{"type": "result", "result": "I do not know"}\n',
    ],
)
def test_json_without_output_is_not_an_answer(text):
    found = from_printed(text)
    assert isinstance(found, Failure)
    assert "output" in found.message


def test_a_structured_answer_is_given_under_output():
    assert from_printed('{"output": [{"price": 3}]}') == {"output": [{"price": 3}]}


@pytest.mark.parametrize("text", [text for text in PLAIN if text[:1] not in "{["])
def test_a_reply_of_plain_text_is_the_answer(text):
    assert from_body(text, is_json=False, path=None) == {"output": text}


def test_a_byte_order_mark_is_not_part_of_the_answer():
    assert from_printed("\ufeff" + LINE) == ANSWER
    assert from_printed("\ufeffhello\r\n") == {"output": "hello"}
    assert from_body("\ufeff" + LINE, is_json=True, path=None) == ANSWER
    assert isinstance(from_printed("\ufeff"), Failure)


@pytest.mark.parametrize("is_json", [True, False])
def test_json_is_read_as_json_whatever_the_reply_calls_it(is_json):
    assert from_body(LINE, is_json, None) == ANSWER
    assert "error: quota of 30" in from_body(QUOTA, is_json, None).message
    assert "set `answer:`" in from_body('{"text": "30 days"}', is_json, None).message
    assert "an object with `output`" in from_body('["30 days"]', is_json, None).message


def test_an_error_beside_the_path_of_the_answer_is_an_error():
    both = '{"text": "30 days", "error": {"code": "overloaded"}}'
    assert "overloaded" in from_body(both, is_json=True, path="text").message
    assert from_body('{"text": "a", "error": null}', True, "text") == {"output": "a"}


@pytest.mark.parametrize(
    "page",
    [
        "<!DOCTYPE html><html><body>502 for 30 days</body></html>",
        "\n <html lang=en>30 days",
        "<HTML>30 days",
        '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">\n<html>30 days',
        "<!-- 30 days --><html>",
        "<head><title>30 days</title></head>",
    ],
)
def test_an_html_page_is_an_error(page):
    assert "HTML page" in from_body(page, is_json=False, path=None).message


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "\ufeff \r\n"])
def test_nothing_is_not_an_answer(text):
    assert isinstance(from_printed(text), Failure)
    assert isinstance(from_body(text, is_json=False, path=None), Failure)


def test_a_dict_that_a_function_made_a_text_is_an_error():
    for text in (LINE, f"[{LINE}]", str(ANSWER)):
        assert "return the dict itself" in from_returned(text).message
    assert from_returned('{"price": 3}') == {"output": '{"price": 3}'}
    assert "the agent reported an error: quota" in from_returned({"error": "quota"}).message


@pytest.mark.parametrize(
    "piece",
    ['{"error": }x', "{ ", '"\\', "word(output ", "```\n", '{"error":x\n', '"error": x\n', "\n"],
)
def test_the_search_is_linear(piece):
    # A search of quadratic time would take hours.
    from_printed("x " + piece * (4_000_000 // len(piece)))
