"""Scoring recorded traces: matching, attempts, baselines, and a result for every case."""

from __future__ import annotations

import pytest

from trialrun import NothingSelected, Step, Trace, load_suite, write_traces
from trialrun.engine.baseline_lookup import file_key
from trialrun.engine.score import score

SPEC = """\
queries:
  - {name: one, query: first?, tags: [a], correctness: {exact_match: "1"}}
  - {name: two, query: second?, tags: [a, b], correctness: {exact_match: "2"}}
  - {name: three, query: third?, correctness: {exact_match: "3"}, trace: third.json}
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "spec.yaml").write_text(SPEC)
    write_traces([Trace(input="anything", output="3")], tmp_path / "third.json")
    return tmp_path


def run(place, traces=(), **options):
    write_traces(traces, place / "traces.jsonl")
    paths = [place / "traces.jsonl"] if traces else []
    result = score([load_suite(place / "spec.yaml")], paths, **options)
    found = {(r.case_name, r.attempt): r.status.value for r in result.results}
    return result, found


def test_traces_are_matched_by_path_then_name_then_input(place):
    result, found = run(
        place,
        [
            Trace(input="second?", output="wrong", name="one"),
            Trace(input="second?", output="2"),
            Trace(input="third?", output="wrong", name="three"),
        ],
    )
    # `three` names its trace. The trace named `one` answers the question of `two`.
    assert found == {("one", 1): "error", ("two", 1): "pass", ("three", 1): "pass"}
    assert result.exit_code() == 3


def test_several_traces_of_a_case_are_attempts(place):
    _, found = run(place, [Trace(input="first?", output=text) for text in ("1", "x", "1")])
    assert found[("one", 1)] == "pass"
    assert found[("one", 2)] == "fail"
    assert found[("one", 3)] == "pass"


def test_a_case_without_a_trace_is_an_error(place):
    result, found = run(place, [Trace(input="first?", output="1")])
    assert found[("two", 1)] == "error"
    assert result.exit_code() == 3
    assert result.planned == len({r.case_name for r in result.results}) == 3


def test_a_trace_without_a_case_is_a_warning(place):
    result, _ = run(place, [Trace(input="fourth?", output="1", name="four")])
    assert any('belongs to no case: "four"' in warning for warning in result.warnings)


def test_a_filter_selects_cases_and_does_not_orphan_the_traces_of_others(place):
    traces = [Trace(input="first?", output="1"), Trace(input="second?", output="2")]
    result, found = run(place, traces, tags=["b"])
    assert found == {("two", 1): "pass"}
    assert (result.planned, result.warnings, result.exit_code()) == (1, [], 0)
    assert set(run(place, traces, names=["t*"])[1]) == {("two", 1), ("three", 1)}


@pytest.mark.parametrize("options", [{"tags": ["nope"]}, {"names": ["nope"]}])
def test_a_filter_that_selects_nothing(place, options):
    with pytest.raises(NothingSelected, match=r"none of the 3 cases has the .*'nope'"):
        run(place, **options)


def test_a_spec_without_cases(place):
    (place / "spec.yaml").write_text("queries: []\n")
    with pytest.raises(NothingSelected, match="no cases"):
        run(place)


def test_a_named_trace_that_is_missing_or_damaged_is_an_error_of_its_case(place):
    (place / "third.json").write_text('{"input": "q", "out')
    result, found = run(place, [Trace(input="first?", output="1")])
    assert found[("three", 1)] == "error"
    assert "cut off" in result.results[2].error
    (place / "third.json").unlink()
    result, found = run(place, [Trace(input="first?", output="1")])
    assert found[("three", 1)] == "error"
    assert "no such file" in result.results[2].error


def test_one_bad_trace_is_reported_and_the_others_are_evaluated(place):
    file = place / "mixed.jsonl"
    good = Trace(input="first?", output="1").to_json()
    file.write_bytes(good + b'\n{"input": "second?", "outp\n' + good + b"\n")
    result = score([load_suite(place / "spec.yaml")], [file])
    assert [r.status.value for r in result.results] == ["pass", "pass", "error", "pass"]
    assert any(f"{file}:2: " in warning for warning in result.warnings)
    assert result.exit_code() == 3


# Baselines

WITH_PATH = "queries:\n  - {name: NAME, query: q, path: {match_mode: strict}}\n"


def baseline_status(place, name, folder=None):
    spec = place / "spec.yaml"
    spec.write_text(WITH_PATH.replace("NAME", name))
    write_traces([Trace(input="q", output="a", steps=[Step.tool_call("x")])], place / "t.jsonl")
    return score([load_suite(spec)], [place / "t.jsonl"], baselines=folder).results[0]


def save(path, *tools):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_traces([Trace(input="q", output="a", steps=[Step.tool_call(t) for t in tools])], path)


def test_a_baseline_is_found_by_suite_and_case(place):
    save(place / "baselines" / "spec" / "one.json", "x")
    assert baseline_status(place, "one").status.value == "pass"
    save(place / "baselines" / "spec" / "one.json", "y")
    assert baseline_status(place, "one").status.value == "warn"
    assert baseline_status(place, "other").layers["path"].checks[0].status.value == "unknown"


def test_a_folder_of_baselines_may_be_given(place):
    save(place / "elsewhere" / "spec" / "one.json", "x")
    assert baseline_status(place, "one", place / "elsewhere").status.value == "pass"


def test_a_strange_name_stays_inside_the_folder(place):
    name = "../../pwned"
    save(place / "pwned.json", "y")
    save(place / "baselines" / "spec" / f"{file_key(name)}.json", "x")
    assert baseline_status(place, name).status.value == "pass"


def test_a_damaged_baseline_is_an_error_and_not_a_pass(place):
    file = place / "baselines" / "spec" / "one.json"
    save(file, "x")
    file.write_bytes(file.read_bytes()[:20])
    result = baseline_status(place, "one")
    assert result.status.value == "error"
    assert "the baseline cannot be read" in result.error


def test_a_baseline_that_is_named_and_missing_is_an_error(place):
    spec = place / "spec.yaml"
    spec.write_text(
        "queries:\n  - {name: a, query: q, baseline: gone.json, path: {max_steps: 9}}\n"
    )
    write_traces([Trace(input="q", output="a")], place / "t.jsonl")
    result = score([load_suite(spec)], [place / "t.jsonl"]).results[0]
    assert result.status.value == "error"
    assert "gone.json does not exist" in result.error


@pytest.mark.parametrize(
    "name", ["../x", "CON", "con", "a/b", ".hidden", "x" * 300, "🚀", "Ä", "", "a.b", "A"]
)
def test_a_file_key_is_safe(name):
    key = file_key(name)
    assert key.isascii() and key == key.lower() and 0 < len(key) <= 80
    assert not set(key) & set("/\\.: ") and key not in ("con", "nul")


def test_similar_names_have_different_keys():
    names = ["a", "A", "a ", "caf\u00e9", "cafe\u0301", "a/b", "a-b", "x" * 300, "x" * 301]
    assert len({file_key(name).lower() for name in names}) == len(names)


def test_a_user_s_prices_come_first(place):
    from trialrun import TokenUsage
    from trialrun.spec.load import load_prices

    (place / "prices.yaml").write_text("models: {own-model: {input: 2.0, output: 4.0}}\n")
    (place / "spec.yaml").write_text(
        "prices: prices.yaml\nqueries:\n  - {name: a, query: q, cost: {max_cost_usd: 4.0}}\n"
    )
    step = Step.llm_call("own-model", tokens=TokenUsage(1_000_000, 500_000))
    write_traces([Trace(input="q", output="a", steps=[step])], place / "t.jsonl")
    result = score([load_suite(place / "spec.yaml")], [place / "t.jsonl"]).results[0]
    assert (result.status.value, result.cost_usd) == ("pass", 4.0)
    dearer = load_prices(place / "prices.yaml")
    dearer.models["own-model"] = type(dearer.models["own-model"])(input=3.0, output=4.0)
    result = score([load_suite(place / "spec.yaml")], [place / "t.jsonl"], prices=dearer).results[0]
    assert (result.status.value, result.cost_usd) == ("warn", 5.0)


def broken_and_unfinished(place):
    """Ten traces of `one`: seven answers, two without one, and one line that is cut off."""
    traces = [Trace(input="first?", output="1")] * 7 + [Trace(input="first?", output=None)] * 2
    write_traces([*traces, Trace(input="second?", output="2")], place / "traces.jsonl")
    with (place / "traces.jsonl").open("a") as file:
        file.write('{"input": "first?", "outp\n')
    return [place / "traces.jsonl"]


@pytest.mark.parametrize(("allowed", "code"), [(None, 3), (0.25, 3), (0.28, 0), (1.0, 0)])
def test_unreadable_traces_and_those_without_an_answer_may_be_allowed(place, allowed, code):
    paths = broken_and_unfinished(place)  # 3 of 11 traces
    suites = [load_suite(place / "spec.yaml")]
    run = score(suites, paths, names=["one", "two"], allow_incomplete=allowed)
    assert (run.unreadable, run.incomplete_traces, run.traces) == (1, 2, 11)
    assert run.exit_code() == code


def test_a_case_without_a_trace_is_not_allowed_by_a_share(place):
    run, _ = run_with_share(place, [Trace(input="first?", output="1")])
    assert run.exit_code() == 3  # nothing was unreadable: the trace of `two` is missing


def run_with_share(place, traces):
    return run(place, traces, names=["one", "two"], allow_incomplete=1.0)


def test_a_failure_and_another_question_are_not_allowed_by_a_share(place):
    wrong = [Trace(input="first?", output="x"), Trace(input="second?", output="2")]
    assert run_with_share(place, wrong)[0].exit_code() == 1
    other = [Trace(input="first?", output="1"), Trace(name="two", input="else", output="2")]
    assert run_with_share(place, other)[0].exit_code() == 3


def test_a_case_without_any_verdict_is_not_allowed_by_a_share(place):
    """Never exit code 0 where a selected case has no verdict, whatever share is allowed."""
    silent = [Trace(input="first?", output="1"), Trace(input="second?", output=None)]
    assert run_with_share(place, silent)[0].exit_code() == 3
    write_traces([Trace(input="first?", output="1")], place / "traces.jsonl")
    with (place / "traces.jsonl").open("a") as file:
        file.write('{"input": "second?", "outp\n')
    suites = [load_suite(place / "spec.yaml")]
    ended = score(suites, [place / "traces.jsonl"], names=["one", "two"], allow_incomplete=1.0)
    assert ended.exit_code() == 3


def test_the_share_counts_every_unreadable_trace(place):
    """Only the first hundred are listed; the others count all the same."""
    write_traces([Trace(input="first?", output="1")] * 10, place / "traces.jsonl")
    with (place / "traces.jsonl").open("a") as file:
        file.write("x\n" * 1000)
    suites = [load_suite(place / "spec.yaml")]
    run = score(suites, [place / "traces.jsonl"], names=["one"], allow_incomplete=0.95)
    assert (run.unreadable, run.traces) == (1000, 1010)
    assert run.exit_code() == 3
