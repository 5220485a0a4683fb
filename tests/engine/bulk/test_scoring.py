"""Scoring chunk by chunk: equal to judging all traces at once, however they are split."""

from __future__ import annotations

import msgspec
import pytest

from trialrun import Trace, load_suite, write_traces
from trialrun.engine.asked import another_question
from trialrun.engine.bulk import chunks, local
from trialrun.engine.bulk.scoring import Bulk, on_this_machine, score_in_bulk
from trialrun.engine.bulk.work import Options
from trialrun.engine.evaluate import evaluate
from trialrun.importers import scan
from trialrun.model.results import Tally
from trialrun.spec.load import load_suites


def scored(place, size=None, jobs=1, paths=("traces",), **options):
    bulk = Bulk(
        load_suites(place / "specs"),
        [place / path for path in paths],
        Options(**options),
        chunk_size=size,
    )
    return score_in_bulk(bulk, engine=on_this_machine(jobs)).run


def rows(run):
    return [
        (r.suite_name, r.case_name, r.attempt, r.trace_id, r.status, r.error, r.cost_usd)
        for r in run.results
    ]


def by_hand(place):
    """Status of each attempt, by the rules and nothing else: all traces at once, no index."""
    traces = scan(place / "traces")[0]
    suites = load_suites(place / "specs")
    cases = [(suite, case) for suite in suites for case in suite.cases]
    found = {}
    for suite, case in cases:
        if case.trace is not None:
            mine = scan(place / "specs" / case.trace)[0]
        else:
            names = {one.name for _, one in cases if one.trace is None}
            namesakes = [one for _, one in cases if one.name == case.name]
            mine = [
                trace
                for trace in traces
                if trace.name == case.name
                and (
                    len(namesakes) == 1
                    or trace.input == case.input
                    or all(trace.input != one.input for one in namesakes)
                )
            ]
            mine = mine or [
                trace for trace in traces if trace.name not in names and trace.input == case.input
            ]
        statuses = []
        for trace in mine:
            wrong = case.trace is None and another_question(suite, case, trace, "it")
            statuses.append("error" if wrong else evaluate(case, trace).status.value)
        found[(suite.name, case.name)] = statuses or ["error"]
    return found


def test_all_at_once_is_what_the_rules_say(place):
    found = {}
    for result in scored(place).results:
        found.setdefault((result.suite_name, result.case_name), []).append(result.status.value)
    assert found == by_hand(place)
    assert found[("spec", "one")] == ["pass"] * 43
    assert found[("spec", "two")] == ["error"]  # a trace of its name, on another question
    assert found[("other", "five")].count("fail") == 10


def test_traces_without_a_case_and_those_that_others_replace_are_said(place):
    warnings = scored(place).warnings
    strays = [text for text in warnings if text.startswith("a trace belongs to no case")]
    assert strays[0] == 'a trace belongs to no case: "t400", input "nobody asked 0"'
    assert len(strays) == 39
    assert (
        "40 traces belong to no case: the input is that of one, but there are traces of that name"
        in warnings
    )


@pytest.mark.parametrize("size", [150, 700, 4096, 20_000])
def test_however_the_files_are_split_the_results_are_the_same(place, size):
    whole, split = scored(place), scored(place, size)
    assert isinstance(whole.results, list) and not isinstance(split.results, list)
    assert rows(split) == rows(whole)
    assert split.warnings == whole.warnings
    assert msgspec.structs.replace(split, results=[]) == msgspec.structs.replace(whole, results=[])
    for one, other in zip(split.results, whole.results, strict=True):
        assert one.layers.keys() == other.layers.keys()
        assert [(layer, check) for layer, check in one.checks()] == [
            (layer, check) for layer, check in other.checks()
        ]
        assert (one.metrics, one.question, one.answer) == (
            other.metrics,
            other.question,
            other.answer,
        )


def test_the_totals_are_those_of_the_results(place):
    run = scored(place, 2000)
    tally = Tally()
    for result in run.results:
        tally.add(result)
    assert run.tally.statuses == tally.statuses
    assert (run.tally.attempts, run.tally.cases) == (tally.attempts, tally.cases)
    assert run.tally.known_cost_usd == pytest.approx(tally.known_cost_usd)
    assert run.planned == run.tally.cases == 6


def test_broken_lines_have_their_numbers_in_the_whole_file(place):
    run = scored(place, 1500)
    broken = [text for text in run.warnings if "(not judged)" in text]
    places = [text.partition(": ")[0].rpartition("pool.jsonl:")[2] for text in broken]
    assert places == ["72", "203"]
    assert (run.unreadable, run.traces) == (2, 205)


def test_processes_give_the_same_rows_in_the_same_order(place, monkeypatch):
    asked = []
    pool = local.judge_in_processes

    def in_processes(*given):
        asked.append(given)
        return pool(*given)

    monkeypatch.setattr("trialrun.engine.bulk.scoring.judge_in_processes", in_processes)
    monkeypatch.setattr("trialrun.engine.bulk.scoring.can_fork", lambda: True)
    assert rows(scored(place, 5000, jobs=2)) == rows(scored(place, 5000))
    assert asked


def test_few_traces_need_no_process(place, monkeypatch):
    monkeypatch.setattr("trialrun.engine.bulk.scoring.judge_in_processes", None)
    assert scored(place, jobs=8).planned == 6


def test_chunks_do_not_depend_on_where_the_folder_is(place, tmp_path):
    one = chunks.plan_chunks([place / "traces"], size=3000)
    moved = tmp_path / "elsewhere"
    (place / "traces").rename(moved)
    other = chunks.plan_chunks([moved], size=3000)
    assert len(one.chunks) > 5
    assert one.digest([f"{place / 'traces'}/"]) == other.digest([f"{moved}/"])
    (moved / "single-1.json").write_text('{"input": "longer than before", "output": "1"}')
    changed = chunks.plan_chunks([moved], size=3000)
    assert changed.digest([f"{moved}/"]) != one.digest([f"{place / 'traces'}/"])


def test_a_sample_is_the_same_however_the_files_are_split(place):
    whole, split = scored(place, sample=0.3), scored(place, 900, sample=0.3)
    assert rows(split) == rows(whole)
    assert split.warnings == whole.warnings
    ids = {result.trace_id for result in whole.results if result.trace_id is not None}
    more = {result.trace_id for result in scored(place, sample=0.6).results}
    assert 20 < len(ids) < 60
    assert ids <= more


def test_a_case_of_which_no_trace_is_in_the_sample_is_not_planned(place):
    run = scored(place, sample=1e-9)
    # `four` has no trace at all, and `three` names its own: both are still reported.
    assert [(r.case_name, r.status.value) for r in run.results] == [
        ("three", "pass"),
        ("four", "error"),
    ]
    assert run.planned == 2
    assert "203 traces are not in the sample; 4 cases" in run.warnings[-1]


def test_a_process_that_dies_is_replaced_and_nothing_is_counted_twice(tmp_path, monkeypatch):
    (tmp_path / "spec.yaml").write_text(
        'queries:\n  - {name: a, query: q, correctness: {exact_match: "1"}}\n'
    )
    traces = [Trace(id=str(number), input="q", output="1") for number in range(200)]
    write_traces(traces, tmp_path / "t.jsonl")
    bulk = Bulk([load_suite(tmp_path / "spec.yaml")], [tmp_path / "t.jsonl"], chunk_size=2000)
    mark, judge = tmp_path / "died", local.make_part

    def dies_once(scorer, chunk, folder):
        if chunk.number == 2 and not mark.exists():
            mark.touch()
            local.os._exit(9)
        return judge(scorer, chunk, folder)

    monkeypatch.setattr(local, "make_part", dies_once)
    monkeypatch.setattr("trialrun.engine.bulk.scoring.can_fork", lambda: True)
    run = score_in_bulk(bulk, engine=on_this_machine(2)).run
    assert mark.exists()
    assert [result.trace_id for result in run.results] == [trace.id for trace in traces]
