"""Both ways of reading a trace give the same: straight into types, and by way of plain values."""

import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.model.made_traces import read, text
from trialrun import Step, TokenUsage, Trace
from trialrun.errors import TraceError
from trialrun.model import trace_format
from trialrun.model.trace_format import decode, decode_with_care

DATA = Path(__file__).parents[1] / "data"
SOUND = (
    b'{"input":"q","output":"a","steps":[{"type":"llm_call","id":"1","tokens":{"prompt_tokens":3,'
    b'"completion_tokens":4}},{"type":"tool_call","tool_name":"f","tool_args":{"a":1}}]}'
)


def test_made_texts_are_read_alike_in_both_ways():
    found = Counter()
    for seed in range(2500):
        made = text(seed)
        first = read(decode, made)
        assert first == read(decode_with_care, made), (seed, made)
        is_typed = trace_format._decode_typed(made) is not None
        found["typed" if is_typed else first[0]] += 1
    # Each sort of text is among them: read straight, read with care, refused.
    assert min(found["typed"], found["trace"], found["error"]) > 200, found


def test_given_recordings_are_read_alike_in_both_ways():
    lines = [
        line
        for file in sorted(DATA.rglob("*.jsonl"))
        for line in file.read_bytes().splitlines()
        if b'"input"' in line
    ]
    assert len(lines) > 20
    for line in lines:
        assert read(decode, line) == read(decode_with_care, line)


@pytest.mark.parametrize(
    ("place", "other"),
    [
        (b'"a":1', b'"a":1,"a":2'),
        (b'"output":"a"', b'"output":"a","output":"b"'),
        (b'"completion_tokens":4', b'"completion_tokens":4,"completion_tokens":5'),
        (b'"a":1', b'"a\\u0022":1,"a\\u0022":2'),
    ],
)
def test_a_key_that_is_given_twice_is_refused(place, other):
    assert trace_format._decode_typed(SOUND) is not None
    with pytest.raises(TraceError, match="is given twice"):
        decode(SOUND.replace(place, other))


def test_what_a_constructor_completes_is_complete_after_reading_too():
    trace = decode(SOUND)[0]
    assert [step.id for step in trace.steps] == ["1", "2"]
    assert trace.total_tokens == 7
    trace.add_step(Step.tool_call("g", id="1x"))
    trace.add_step(Step.tool_call("h"))
    assert [step.id for step in trace.steps] == ["1", "2", "1x", "4"]


def test_constructors_check_in_other_threads_while_one_decodes():
    stop, refused, read_wrongly = threading.Event(), [], []

    def decodes():
        while not stop.is_set():
            if decode(SOUND)[0].total_tokens != 7:
                read_wrongly.append(1)

    threads = [threading.Thread(target=decodes) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(3000):
        try:
            TokenUsage(prompt_tokens=-1)
        except TraceError:
            refused.append(1)
    stop.set()
    for thread in threads:
        thread.join()
    assert (len(refused), read_wrongly) == (3000, [])


def test_after_reading_constructors_check_again():
    decode(SOUND)
    with pytest.raises(TraceError):
        decode(b'{"input": 1}')
    with pytest.raises(TraceError):
        Step.tool_call("")
    with pytest.raises(TraceError):
        Trace(input=None)
