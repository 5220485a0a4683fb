"""Hints: keys of other tools, checks at the wrong level, numbers that are meant as texts."""

from __future__ import annotations

import pytest

from trialrun import SpecError, load_suite, load_suites


def problems_of(tmp_path, text):
    file = tmp_path / "spec.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as refusal:
        load_suite(file)
    return [line.removeprefix(f"{file}:") for line in str(refusal.value).splitlines()]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("expected_in_answer: [a]", "belongs in `correctness:`"),
        ("max_tool_calls: 3", "belongs in `path:`"),
        ("max_cost_usd: 3", "belongs in `cost:`"),
        ("min_tool_recall: 1", "belongs in `path:`"),
        ("expected_output: a", "unknown key; write `correctness: {exact_match: …}`"),
        ("assert: [a]", "unknown key; checks are in `correctness:`"),
        ("evaluation_steps: [a]", "unknown key; write them as a rubric"),
        ("question: a", "unknown key; the question is `query:`"),
        ("tagz: [a]", "unknown key; did you mean `tags`?"),
    ],
)
def test_a_key_of_a_case(tmp_path, key, words):
    text = f"queries:\n  - query: q\n    {key}\n    path: {{max_steps: 1}}\n"
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith(f"3:5: queries[0].{key.partition(':')[0]}: {words}")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("judge_config: {model: a}", "unknown key; write `judge: {model: …}`"),
        ("baseline_dir: b", "unknown key; give the folder on the command line: --baseline FOLDER"),
        ("tests: []", "unknown key; cases are in `queries:`"),
        ("prompts: []", "unknown key; the questions are in `queries:`"),
        ("providers: []", "unknown key; the agent is `runner:`, `command:` or `url:`"),
        ("forbidden_tools: [a]", "belongs in `path:` of a case, or of `defaults:`"),
    ],
)
def test_a_key_of_a_suite(tmp_path, key, words):
    text = f"{key}\nqueries: [{{query: q, path: {{max_steps: 1}}}}]\n"
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith(f"1:1: {key.partition(':')[0]}: {words}")


def test_a_file_of_prices_among_specs(tmp_path):
    (tmp_path / "prices.yaml").write_text("models: {m: {input: 1, output: 2}}\n", encoding="utf-8")
    with pytest.raises(SpecError, match="1:1: models: this looks like a file of prices"):
        load_suites(tmp_path)


@pytest.mark.parametrize("number", ["1.10", "010", "0x1F", "1e3", "+5", "30"])
def test_the_hint_keeps_the_text_as_it_is_written(tmp_path, number):
    text = f"queries:\n  - query: q\n    correctness: {{exact_match: {number}}}\n"
    (problem,) = problems_of(tmp_path, text)
    assert problem.endswith(f'; write "{number}" if the text is meant')


def test_numbers_are_plain_numbers(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text(
        "queries:\n  - query: q\n"
        "    path: {max_steps: 010, tool_args: [{tool: a, args: {b: 1.10}}]}\n"
        "    correctness: {json_schema: {minimum: 0x1F}}\n",
        encoding="utf-8",
    )
    (case,) = load_suite(file).cases
    found = [
        case.path["max_steps"],
        case.path["tool_args"][0]["args"]["b"],
        case.correctness["json_schema"]["minimum"],
    ]
    assert found == [10, 1.1, 31]
    assert [type(value) for value in found] == [int, float, int]
