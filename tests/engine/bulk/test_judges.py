"""Rubrics in bulk: asked in one process, chunk after chunk, each trace once."""

from __future__ import annotations

import pytest

from trialrun import Trace, load_suite, write_traces
from trialrun.engine.bulk.output import parts_of
from trialrun.engine.bulk.scoring import Bulk, on_this_machine, score_in_bulk, score_to_file

SPEC = """\
queries:
  - {name: one, query: first?, correctness: {llm_judge: [{rule: "The answer is polite."}]}}
  - {name: two, query: second?, correctness: {exact_match: "2"}}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(SPEC)
    named = [Trace(id=f"a{n}", name="one", input="first?", output="thanks") for n in range(20)]
    by_input = [Trace(id=f"b{n}", input="first?", output="thanks") for n in range(5)]
    second = [Trace(id=f"c{n}", input="second?", output="2") for n in range(10)]
    write_traces([*by_input, *named, *second], tmp_path / "t.jsonl")
    return tmp_path


def bulk_of(place, size, judge):
    suite = load_suite(place / "spec.yaml")
    suite.judge = judge
    return Bulk([suite], [place / "t.jsonl"], chunk_size=size)


@pytest.mark.parametrize("size", [500, 10**9])
def test_each_trace_is_judged_once_however_the_file_is_split(place, size):
    asked = []

    def judge(request):
        asked.append(request.answer)
        return 5 if len(asked) % 4 else 1

    run = score_in_bulk(bulk_of(place, size, judge), engine=on_this_machine(2)).run
    found = [(result.trace_id, result.case_name) for result in run.results]
    assert found == [(f"a{n}", "one") for n in range(20)] + [(f"c{n}", "two") for n in range(10)]
    assert len(asked) == 20  # not about those that traces of the name replace
    assert run.tally.judge is not None and run.tally.judge.calls == 20
    assert run.exit_code() == 1


def test_a_judge_without_any_trace_is_not_asked(place):
    write_traces([Trace(input="second?", output="2")], place / "t.jsonl")
    run = score_in_bulk(bulk_of(place, None, "nothing:here")).run
    assert [result.status.value for result in run.results] == ["error", "pass"]


def test_judged_rows_are_resumed(place):
    calls = []

    def judge(request):
        calls.append(request)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return 5

    output = place / "rows.jsonl"
    with pytest.raises(KeyboardInterrupt):
        score_to_file(bulk_of(place, 500, judge), output, engine=on_this_machine(1))
    before = len(list(parts_of(output).glob("[0-9]*.json")))
    assert before > 0 and not output.exists()
    found = score_to_file(
        bulk_of(place, 500, judge), output, engine=on_this_machine(1), resume=True
    )
    assert found is not None and found.run.tally.attempts == 30
    assert found.run.exit_code() == 0


def test_a_judged_run_is_recorded_with_the_trace_of_each_row(place):
    from trialrun.engine.bulk.record import Target
    from trialrun.store import open_store

    with open_store(str(place / "runs.db")) as store:
        bulk = bulk_of(place, 500, lambda request: 5)
        found = score_in_bulk(bulk, target=Target(store, "spec.yaml"))
        stored = list(store.attempts(found.run.run_id))
    pairs = [(one.result.trace_id, one.trace.id) for one in stored]
    assert len(pairs) == 30
    assert all(one == other for one, other in pairs)
