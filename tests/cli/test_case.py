"""`trialrun case from-trace`: from a recorded run or a file of traces to a case."""

from __future__ import annotations

import json

import pytest

from tests.engine.conftest import project, says  # noqa: F401

AGENT = """
def run(question):
    steps = [{"type": "tool_call", "tool_name": "find", "tool_args": {"id": 12}}]
    return {"output": f"{question} costs 20 EUR", "steps": steps}
"""


def test_a_case_from_a_stored_run(project):  # noqa: F811
    project.agent(AGENT)
    project.spec({"name": "a", "query": "a", "path": {"max_tool_calls": 9}})
    project.run()
    made = project.command("case", "from-trace", "latest", "a")
    assert (made.code, made.err) == (0, "")
    (project.folder / "made.yaml").write_text(made.out)
    assert project.command("validate", "made.yaml").code == 0
    with (project.folder / "made.yaml").open("a") as spec:
        spec.write("runner: an_agent:run\n")
    assert project.run(spec="made.yaml").by_case == {"a": "pass"}


def test_a_case_from_a_file_is_added_to_a_spec(project):  # noqa: F811
    trace = {"input": "q", "output": "a 12", "steps": []}
    (project.folder / "t.json").write_text(json.dumps(trace))
    assert project.command("case", "from-trace", "t.json", "mine", "-o", "s.yaml").code == 0
    scored = project.command("score", "s.yaml", "t.json", "--format", "json")
    assert (scored.code, scored.by_case) == (0, {"mine": "pass"})
    again = project.command("case", "from-trace", "t.json", "mine", "-o", "s.yaml")
    assert (again.code, "already" in again.err) == (2, True)


def test_one_of_several_traces_is_named(project):  # noqa: F811
    traces = [{"name": name, "input": "q", "output": name, "steps": []} for name in ("one", "two")]
    (project.folder / "t.jsonl").write_text("\n".join(map(json.dumps, traces)))
    assert "name: two" in project.command("case", "from-trace", "t.jsonl", "two").out
    for given, said in (([], "give one CASE: one, two"), (["twoo"], "did you mean `two`")):
        refused = project.command("case", "from-trace", "t.jsonl", *given)
        assert (refused.code, said in refused.err) == (2, True)


def test_an_attempt_that_did_not_pass_is_said(project):  # noqa: F811
    project.agent(AGENT)
    project.spec(says("a", "other"))
    project.run()
    made = project.command("case", "from-trace", "latest", "a")
    assert (made.code, "attempt 1 of a did not pass" in made.err) == (0, True)


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (["latest"], 2, "give a CASE of run"),
        (["latest", "b"], 2, "has no case `b`"),
        (["latest", "a"], 2, "has an answer"),
        (["gone.json"], 2, "gone.json"),
        (["2020"], 2, "2020"),
    ],
)
def test_what_is_refused(project, given, code, said):  # noqa: F811
    project.agent("def run(question):\n    return 1 / 0")
    project.spec(says("a"))
    project.run()
    refused = project.command("case", "from-trace", *given)
    assert (refused.code, said in refused.err) == (code, True), refused.err
