"""Traces as JSON: round trips, and tolerance for files of other tools."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from trialrun import Step, StepStatus, TokenUsage, Trace, TraceError, TraceStatus, TraceWarning
from trialrun.model.evidence import NOT_GIVEN
from trialrun.model.trace import EVIDENCE
from trialrun.model.trace_format import decode, from_plain

texts = some.text(some.characters(exclude_categories=["Cs"]), max_size=20)
values = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**53), 2**53) | texts,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
counts = some.integers(0, 10**6)
amounts = some.floats(0, 1e6, allow_nan=False)
steps = some.one_of(
    some.builds(
        Step.llm_call,
        texts,
        texts,
        texts,
        some.none() | some.builds(TokenUsage, counts, counts),
        cost_usd=some.none() | amounts,
    ),
    some.builds(
        Step.tool_call,
        texts.filter(bool),
        some.dictionaries(texts, values, max_size=3),
        values,
        status=some.sampled_from(StepStatus),
        duration_ms=some.none() | amounts,
        metadata=some.dictionaries(texts, values, max_size=2),
    ),
    some.builds(Step.reasoning, texts),
)
traces = some.builds(
    Trace,
    input=texts,
    output=some.none() | texts,
    name=some.none() | texts,
    status=some.sampled_from(TraceStatus),
    steps=some.lists(steps, max_size=5),
    duration_ms=some.none() | amounts,
    recorded=some.sets(some.sampled_from(sorted(EVIDENCE))),
    metadata=some.dictionaries(texts, values, max_size=2),
)


@given(traces)
def test_writing_and_reading_gives_equal_bytes(trace):
    written = trace.to_json()
    again, notes = decode(written)
    assert notes == []
    assert again == trace
    assert again.to_json() == written
    assert Trace.from_dict(json.loads(written)).to_json() == written
    assert Trace.from_dict(trace.to_dict()).to_json() == written


def test_the_smallest_trace_is_an_input():
    trace = Trace.from_json(b'{"input": "q"}')
    assert trace == Trace(input="q", recorded=frozenset())
    assert trace.output is None


def test_a_file_without_steps_did_not_record_them():
    assert Trace.from_json(b'{"input": "q", "duration_ms": 5}').recorded == {"timings"}
    assert Trace.from_json(b'{"input": "q", "steps": null}').recorded == frozenset()
    given = Trace.from_json(b'{"input": "q", "steps": []}')
    assert given.recorded == {"tool_calls", "tool_args", "tool_results"} | {
        "handoffs",
        "retrievals",
        "reasoning",
    }
    assert Trace.from_json(given.to_json()).steps is not NOT_GIVEN
    assert Trace.from_json(Trace(input="q").to_json()).steps is NOT_GIVEN


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('{"input": "q", "step": []}', "'step' is not a field; did you mean 'steps'?"),
        ('{"input": "q", "answer": "x"}', "'answer' is not a field; did you mean 'output'?"),
    ],
)
def test_a_misspelt_field_gets_a_note(text, note):
    _, notes = decode(text)
    assert notes == [note]


def test_the_documented_format_is_read():
    trace = Trace.from_dict(
        {
            "input": "q",
            "output": "a",
            "steps": [
                {
                    "type": "tool_call",
                    "tool_name": "search",
                    "tool_args": {"q": "x"},
                    "tool_result": ["r"],
                    "status": "success",
                },
                {
                    "type": "llm_call",
                    "model": "m",
                    "tokens": {"prompt_tokens": 3, "completion_tokens": 4},
                    "cost_usd": 0.5,
                    "duration_ms": 12,
                },
            ],
        }
    )
    assert trace.tool_call_sequence == ["search"]
    assert (trace.total_tokens, trace.total_cost_usd, trace.total_duration_ms) == (7, 0.5, 12)


def test_the_format_version_is_always_written():
    assert json.loads(Trace(input="q").to_json())["format_version"] == 2


def test_unknown_fields_are_kept_in_the_metadata():
    trace, notes = from_plain(
        {
            "input": "q",
            "region": "eu",
            "metadata": {"kept": 1},
            "steps": [
                {
                    "type": "llm_call",
                    "model": "m",
                    "vendor": "x",
                    "tokens": {"prompt_tokens": 1, "completion_tokens": 0, "audio_tokens": 9},
                }
            ],
        }
    )
    assert notes == ["steps[0].tokens: not counted: audio_tokens; kept in the metadata"]
    assert trace.metadata == {"region": "eu", "kept": 1}
    assert trace.steps[0].metadata == {"vendor": "x", "tokens": {"audio_tokens": 9}}
    assert trace.steps[0].tokens == TokenUsage(1)


@pytest.mark.parametrize("bad", ["-5", "NaN", "Infinity", "-Infinity", "1e999", "9" * 400, "2.5"])
def test_an_unusable_count_makes_the_usage_of_the_call_unknown(bad):
    text = (
        '{"input": "q", "output": "a", "steps": [{"type": "llm_call", "model": "m", "tokens": '
        f'{{"prompt_tokens": {bad}, "completion_tokens": 3}}}}]}}'
    )
    with pytest.warns(TraceWarning, match=r"steps\[0\]\.tokens\.prompt_tokens: .* left unknown"):
        trace = Trace.from_json(text)
    assert trace.steps[0].tokens is None
    assert trace.total_tokens is None


@pytest.mark.parametrize("bad", ["-0.5", "NaN", "Infinity", "1e999", "9" * 400])
def test_an_unusable_cost_is_left_out(bad):
    text = f'{{"input": "q", "steps": [{{"type": "llm_call", "model": "m", "cost_usd": {bad}}}]}}'
    with pytest.warns(TraceWarning, match=r"steps\[0\]\.cost_usd"):
        trace = Trace.from_json(text)
    assert trace.total_cost_usd is None


def test_an_unusable_duration_makes_the_timing_unrecorded():
    plain = {
        "input": "q",
        "steps": [
            {"type": "reasoning", "duration_ms": -1},
            {"type": "reasoning", "duration_ms": 50},
        ],
    }
    with pytest.warns(TraceWarning, match="duration_ms"):
        trace = Trace.from_dict(plain)
    assert "timings" not in trace.recorded
    assert trace.total_duration_ms is None


def test_a_lone_surrogate_is_kept_as_its_escape():
    with pytest.warns(TraceWarning, match="surrogate"):
        trace = Trace.from_json('{"input": "q", "output": "x\\ud800y"}')
    assert trace.output == "x\\ud800y"
    assert Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"input": "q"', "cut off"),
        (b'{"input": "q', "cut off"),
        (b'{"input": "\xff"}', "not UTF-8: byte 0xff at offset 11"),
        (b'{"input": "a\x00b"}', "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"input": "q", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b"[]", "a list"),
        (b'"text"', "text"),
        (b"{}", "`input` is missing"),
        (b'{"input": 5}', "`input`"),
        (b'{"input": "q", "steps": [{"type": "toolcall"}]}', "`steps[0].type`"),
        (b'{"input": "q", "steps": [{"type": "tool_call"}]}', "tool_name"),
        (b'{"input": "q", "steps": {}}', "`steps`"),
        (b'{"input": "q", "format_version": 3}', "format_version"),
        (b'{"input": "q", "recorded": ["nothing"]}', "recorded"),
        (b'{"input": "q", "steps": [{"type": "llm_call", "cost_usd": "free"}]}', "cost_usd"),
    ],
)
def test_unreadable_traces_are_refused_with_the_reason(text, message):
    with pytest.raises(TraceError) as refusal:
        Trace.from_json(text)
    assert message in str(refusal.value)


@given(some.binary(max_size=200))
def test_any_bytes_give_a_trace_or_a_trace_error(data):
    try:
        trace, _ = decode(data)
    except TraceError:
        return
    assert isinstance(trace, Trace)


def test_a_trace_written_by_evaldeck_is_read():
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 0}
    step = {"id": "f35ed7fe", "type": "llm_call", "timestamp": "2026-01-01T10:00:00.5"}
    step |= {"status": "success", "model": "gpt-4o", "input": "i", "output": "o", "tokens": usage}
    step |= {"tool_name": None, "tool_args": None, "tool_result": None, "reasoning_text": None}
    step |= {"parent_id": None, "error": None, "duration_ms": None, "metadata": {}}
    trace, notes = from_plain(
        {
            "id": "1a2b3c4d",
            "input": "q",
            "output": "a",
            "status": "success",
            "steps": [step],
            "started_at": "2026-01-01T10:00:00",
            "completed_at": "2026-01-01T10:00:02",
            "duration_ms": 2000.0,
            "metadata": {},
            "framework": None,
            "agent_name": None,
        }
    )
    assert notes == []
    assert (trace.total_tokens, trace.total_duration_ms) == (150, 2000.0)
    assert trace.total_cost_usd == pytest.approx(100 * 2.5e-6 + 50 * 10e-6)


@pytest.mark.parametrize(
    ("error", "text"),
    [("broke", "broke"), ({"code": 5}, '{"code":5}'), (["x"], '["x"]'), (True, "true")],
)
def test_an_error_beside_an_answer_is_kept_as_text(error, text):
    steps = [{"type": "tool_call", "tool_name": "a", "error": error}]
    trace, notes = from_plain({"input": "q", "output": "a", "error": error, "steps": steps})
    assert (trace.output, trace.error, trace.steps[0].error, notes) == ("a", text, text, [])


@pytest.mark.parametrize("nothing", [None, False, {}, [], 0])
def test_an_error_of_nothing_is_none(nothing):
    trace, _ = from_plain({"input": "q", "output": "a", "error": nothing})
    assert trace.error is None
