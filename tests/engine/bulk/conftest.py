"""A pool of traces with everything that matching has to tell apart, and a spec for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from trialrun import Step, TokenUsage, Trace, write_traces

SPEC = """\
queries:
  - {name: one, query: first?, tags: [a], correctness: {exact_match: "1"}}
  - {name: two, query: second?, tags: [a, b], correctness: {exact_match: "2"}}
  - {name: three, query: third?, correctness: {exact_match: "3"}, trace: third.json}
  - {name: four, query: fourth?, correctness: {exact_match: "4"}}
"""
OTHER = """\
queries:
  - {name: one, query: another first?, correctness: {exact_match: "I"}}
  - {name: five, query: second?, correctness: {exact_match: "2"}}
"""


def answer(output, number, **given):
    """A trace with one model call, a cost and a day."""
    call = Step.llm_call(
        f"model-{number % 2}", tokens=TokenUsage(prompt_tokens=number), cost_usd=0.25
    )
    given.setdefault("input", "first?")
    return Trace(
        id=f"t{number}",
        output=output,
        steps=[call],
        started_at=datetime(2026, 7, 1 + number % 3, 10, tzinfo=UTC),
        **given,
    )


def pool():
    """Traces matched by name and by input, by neither, and those that another one replaces."""
    traces = []
    for number in range(40):
        traces += [
            answer("1", number, name="one"),
            answer("x" if number % 4 == 0 else "2", 100 + number, input="second?"),
            answer("I", 200 + number, name="one", input="another first?"),
            answer("1", 300 + number, input="first?"),  # `one` has traces of its name
            answer(None, 400 + number, name="two", input="elsewhere?")
            if number == 39
            else answer("?", 400 + number, input=f"nobody asked {number}"),
        ]
    return traces


@pytest.fixture
def place(tmp_path):
    """A folder with the specs and the pool, with two lines that cannot be read."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "spec.yaml").write_text(SPEC)
    (tmp_path / "specs" / "other.yaml").write_text(OTHER)
    write_traces([Trace(input="third?", output="3")], tmp_path / "specs" / "third.json")
    folder = tmp_path / "traces"
    folder.mkdir()
    write_traces(pool(), folder / "pool.jsonl")
    lines = (folder / "pool.jsonl").read_bytes().splitlines(keepends=True)
    lines.insert(70, b'{"input": "first?", "outp\n')
    lines.insert(20, b"\n")
    lines.append(b'{"input": "second?", "output": "2"')  # cut off, without a line break
    (folder / "pool.jsonl").write_bytes(b"".join(lines))
    for number in range(3):
        write_traces([answer("1", 500 + number, name="one")], folder / f"single-{number}.json")
    return tmp_path
