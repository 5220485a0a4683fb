"""What was asked is part of what is judged: answers to another question are not comparable."""

from __future__ import annotations

import json

import pytest

from tests.engine.conftest import says
from trialrun import EvalCase, Step, Trace, load_suite, write_traces
from trialrun.engine.asked import asked_in, difference
from trialrun.engine.score import score

SPEC = """\
{top}
queries:
  - {{name: install, query: "How do I install it?", correctness: {{exact_match: "pip"}}}}
"""


def scored(folder, traces, top="", spec=SPEC, **options):
    folder.mkdir(exist_ok=True)
    (folder / "spec.yaml").write_text(spec.format(top=top))
    write_traces(traces, folder / "traces.jsonl")
    return score([load_suite(folder / "spec.yaml")], [folder / "traces.jsonl"], **options)


def errors(run):
    return [result.error for result in run.results]


@pytest.mark.parametrize("text", ["something else", "", "how do i install it?"])
def test_a_trace_of_the_same_name_that_answers_another_question_is_not_judged(tmp_path, text):
    run = scored(tmp_path, [Trace(name="install", input=text, output="pip")])
    assert run.exit_code() == 3
    (error,) = errors(run)
    assert error.startswith("not comparable: the trace of this name answers another question")
    assert "`match: name`" in error


@pytest.mark.parametrize("top", ["match: name", "match: all"])
def test_the_suite_may_say_that_inputs_differ(tmp_path, top):
    trace = Trace(name="install", input="something else", output="pip")
    assert scored(tmp_path, [trace], top).exit_code() == 0


@pytest.mark.parametrize(("top", "code"), [("", 3), ("match: name", 0)])
def test_a_conversation_does_not_answer_one_question(tmp_path, top, code):
    """Its answer is to what the user said last, and not to the question of the case."""
    steps = [Step.llm_call("m", output="no"), Step.human_input("Please say pip.")]
    trace = Trace(name="install", input="How do I install it?", output="pip", steps=steps)
    run = scored(tmp_path, [trace], top)
    assert run.exit_code() == code
    assert top or "is a conversation of 2 turns" in errors(run)[0]


@pytest.mark.parametrize("name", ["install", None])
def test_white_space_around_a_question_does_not_matter(tmp_path, name):
    trace = Trace(name=name, input="  How do I install it?\n", output="pip")
    assert scored(tmp_path, [trace]).exit_code() == 0


def test_a_masked_question_is_that_question(tmp_path):
    secret = "sk-ant-api03-" + "k3J9x" * 8
    spec = SPEC.replace("How do I install it?", f"Use {secret} now")
    masked = Trace(name="install", input="Use [redacted] now", output="pip")
    assert scored(tmp_path, [masked], spec=spec).exit_code() == 0
    other = Trace(name="install", input="Take [redacted] now", output="pip")
    assert scored(tmp_path, [other], spec=spec).exit_code() == 3


def test_one_of_several_attempts_that_answers_another_question_is_an_error(tmp_path):
    traces = [
        Trace(name="install", input=text, output="pip")
        for text in ("How do I install it?", "else", "How do I install it?")
    ]
    run = scored(tmp_path, traces)
    assert [(one.attempt, one.status.value) for one in run.results] == [
        (1, "pass"),
        (2, "error"),
        (3, "pass"),
    ]
    assert run.exit_code() == 3


TURNS = """\
{top}
queries:
  - name: refund
    turns:
      - {{query: "I want my money back"}}
      - {{query: "Order 12", correctness: {{exact_match: "Done"}}}}
"""


@pytest.mark.parametrize("name", ["refund", None])
@pytest.mark.parametrize("said", ["Order 13", ""])
def test_every_turn_of_a_conversation_is_compared(tmp_path, name, said):
    def talk(text):
        steps = [Step.human_input(text, metadata={"answered": "Which order?"})]
        return Trace(name=name, input="I want my money back", output="Done", steps=steps)

    assert scored(tmp_path, [talk(" Order 12 ")], spec=TURNS).exit_code() == 0
    run = scored(tmp_path, [talk(said)], spec=TURNS)
    assert run.exit_code() == 3
    assert "another question in turn 2" in errors(run)[0]
    assert scored(tmp_path, [talk(said)], "match: all", TURNS).exit_code() == 0


def test_a_trace_that_the_case_names_is_judged_with_a_warning(tmp_path):
    spec = SPEC.replace("name: install,", "name: install, trace: one.json,")
    write_traces([Trace(input="something else", output="pip")], tmp_path / "one.json")
    run = scored(tmp_path, [Trace(input="x", output="y")], spec=spec)
    assert run.exit_code() == 0
    assert any("one.json, which `trace` names, answers another" in text for text in run.warnings)


def two_suites(folder, first, second, *traces, top=""):
    for name, query in (("a", first), ("b", second)):
        spec = (
            f"{top}\nqueries:\n  - {{name: x, query: {query}, correctness: {{exact_match: ok}}}}\n"
        )
        (folder / f"{name}.yaml").write_text(spec)
    write_traces(traces, folder / "traces.jsonl")
    suites = [load_suite(folder / f"{name}.yaml") for name in "ab"]
    run = score(suites, [folder / "traces.jsonl"])
    return {one.suite_name: one.status.value for one in run.results}, run.exit_code()


def answer(text):
    return Trace(name="x", input=text, output="ok")


def test_a_trace_serves_the_case_that_asks_its_question(tmp_path):
    """Two suites have a case of one name: each needs a trace of its question."""
    assert two_suites(tmp_path, "one", "one", answer("one")) == ({"a": "pass", "b": "pass"}, 0)
    assert two_suites(tmp_path, "one", "two", answer("one")) == ({"a": "pass", "b": "error"}, 3)
    both = (answer("one"), answer("two"))
    assert two_suites(tmp_path, "one", "two", *both) == ({"a": "pass", "b": "pass"}, 0)
    neither = two_suites(tmp_path, "one", "two", answer("three"), top="match: name")
    assert neither == ({"a": "error", "b": "error"}, 3)


# Stored runs


def contains(query, term, name="x"):
    return {"name": name, "query": query, "correctness": {"expected_in_answer": [term]}}


def test_a_stored_answer_to_another_question_is_not_regraded(project):
    project.spec(says("a", "a", name="x"), says("b"))
    assert project.run().code == 0
    project.spec(says("another question", "a", name="x"), says("b"))
    again = project.command("regrade", "--format", "json")
    assert (again.code, again.by_case) == (3, {"x": "error", "b": "pass"})
    assert "not comparable: the stored run answers another question" in again.errors[0]
    project.spec(says("another question", "a", name="x"), says("b"), match="name")
    assert project.command("regrade", "latest~1", "--format", "json").code == 0


def test_regrading_applies_changed_checks(project):
    project.spec(says("a"))
    assert project.run().code == 0
    project.spec(says("a", "never said"))
    assert project.command("regrade", "--format", "json").statuses == ["fail"]


def test_a_changed_turn_is_another_question(project):
    def talk(second):
        turns = [{"query": "a"}, {"query": second, "correctness": {"expected_in_answer": ["b"]}}]
        project.spec({"name": "x", "turns": turns})

    project.agent("def run(question, history=()):\n    return question\n")
    talk("b")
    assert project.run().code == 0
    talk("b, please")
    assert project.command("regrade", "--format", "json").code == 3


def test_a_secret_in_a_question_does_not_hide_a_change(project):
    first, second = ("sk-ant-api03-" + letters * 8 for letters in ("k3J9x", "q8W2z"))
    project.spec(contains(f"Use {first}", "Use"))
    assert project.run().code == 0
    assert project.command("regrade", "--format", "json").code == 0
    project.spec(contains(f"Use {second}", "Use"))
    assert project.command("regrade", "--format", "json").code == 3


def test_a_baseline_of_another_question_is_not_used(project):
    project.spec(says("a", name="x", path={"match_mode": "subset"}))
    project.run()
    assert project.command("baseline", "save").code == 0
    project.spec(says("b", name="x", path={"match_mode": "subset"}))
    ended = project.run()
    assert (ended.code, ended.by_case) == (3, {"x": "error"})
    assert "not comparable: the baseline" in ended.errors[0]
    compared = project.command("compare", "baseline", "latest~1", "--json")
    assert json.loads(compared.out)["not_comparable"] == []


# Comparisons of runs


def compared(project, *options):
    done = project.command("compare", "latest~1", "latest", "--json", *options)
    return done.code, json.loads(done.out)


FAIL_ON = ("--fail-on", "regression", "--fail-on", "worse")


def test_a_loosened_check_does_not_hide_a_broken_agent(project):
    project.spec(contains("a", "30 days"), contains("b", "b", "b"))
    project.agent("def run(question):\n    return question + ' 30 days'\n")
    project.run()
    project.spec(contains("a", "e"), contains("b", "b", "b"))
    project.agent("def run(question):\n    return question + ' never'\n")
    project.run()
    code, found = compared(project, *FAIL_ON)
    assert (code, found["compared"], found["broke"]) == (3, 1, 0)
    (case,) = found["not_comparable"]
    assert (case["case"], case["error"]) == ("x", "correctness.expected_in_answer changed")
    assert found["sentence"].endswith("; 1 case is not comparable")
    assert {change["case"] for change in found["changes"]} == {"x", "b"}  # the behaviour
    assert compared(project)[0] == 0
    shown = project.command("compare", "latest~1", "latest").out
    assert "not comparable (1): x (correctness.expected_in_answer changed)" in shown


def test_a_case_that_broke_comes_before_one_that_is_not_comparable(project):
    project.spec(says("a", name="x"), says("b"))
    project.run()
    project.spec(says("a", "e", name="x"), says("b"))
    project.agent("def run(question):\n    return 'e'\n")
    project.run()
    assert compared(project, *FAIL_ON)[0] == 1


def test_another_question_is_not_compared_at_all(project):
    project.spec(says("a", name="x"))
    project.run()
    project.spec(says("b", name="x"))
    project.run()
    code, found = compared(project, *FAIL_ON)
    assert (code, found["compared"], found["changes"]) == (3, 0, [])
    assert 'the question was "a", and is "b"' in found["not_comparable"][0]["error"]
    assert found["sentence"].startswith("not comparable: the one case")


def test_further_and_stricter_checks_are_said_and_compared(project):
    project.spec(says("a", path={"max_tool_calls": 5}))
    project.run()
    project.spec(says("a", path={"max_tool_calls": 2, "max_loops": 1}))
    project.run()
    code, found = compared(project, *FAIL_ON)
    assert (code, found["compared"], found["not_comparable"]) == (0, 1, [])
    assert found["stricter"][0]["error"] == "path.max_tool_calls stricter, path.max_loops added"
    shown = project.command("compare", "latest~1", "latest").out
    assert "with more or stricter checks (1): a (path.max_tool_calls stricter" in shown


def asked(**blocks):
    return asked_in(EvalCase.from_dict({"query": "q", **blocks}))


OLD = {"correctness": {"expected_in_answer": ["a", "b"]}, "path": {"max_steps": 5}}


@pytest.mark.parametrize(
    ("path", "correctness", "checks"),
    [
        ({"max_steps": 5}, {"expected_in_answer": ["b", "a", "c"]}, ()),
        ({"max_steps": 5}, {"expected_in_answer": ["a"]}, ("correctness.expected_in_answer",)),
        ({"max_steps": 6}, {"expected_in_answer": ["a", "b"]}, ("path.max_steps",)),
        ({"max_steps": 4}, {"expected_in_answer": ["a", "b"]}, ()),
        ({"max_loops": 5}, {"expected_in_answer": ["a", "b"]}, ("path.max_steps",)),
        ({"max_steps": {"value": 5, "severity": "fail"}}, {"expected_in_answer": ["a", "b"]}, ()),
        (
            {"max_steps": 5},
            {"expected_in_answer": {"value": ["a", "b"], "severity": "warn"}},
            ("correctness.expected_in_answer",),
        ),
        (
            {"max_steps": 5},
            {"any_expected_in_answer": ["a", "b"]},
            ("correctness.expected_in_answer",),
        ),
    ],
)
def test_which_changes_loosen_a_check(path, correctness, checks):
    found = difference(asked(**OLD), asked(path=path, correctness=correctness))
    assert found.question is None
    assert tuple(text.split()[0] for text in found.checks) == checks
    assert bool(found.stricter) is (not checks or "max_loops" in path or "any" in str(correctness))


def test_fewer_alternatives_are_stricter():
    some = asked(correctness={"any_expected_in_answer": ["a", "b"]})
    fewer = asked(correctness={"any_expected_in_answer": ["a"]})
    assert difference(some, fewer).stricter
    assert difference(fewer, some).checks


def test_a_run_of_an_older_version_says_that_nothing_is_recorded(project):
    import sqlite3

    project.spec(says("a"))
    project.run()
    project.spec(says("a", "A"))
    project.run()
    with sqlite3.connect(project.folder / ".trialrun/runs.db") as raw:
        raw.execute("DELETE FROM trialrun_asked")
    code, found = compared(project)
    assert (code, found["not_recorded"]) == (0, 1)
    assert "what was asked is not recorded" in project.command("compare", "latest~1").out
