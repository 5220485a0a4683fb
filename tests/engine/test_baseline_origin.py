"""Another agent, model, prompt or set of tools than in the baseline is said, and never red."""

from __future__ import annotations

import json

import pytest

from trialrun import EvalCase, Step, Trace
from trialrun.engine.baseline_origin import UnlikeBaselines, differences
from trialrun.model.baseline import Baseline


def made(model="gpt-4o", prompt="", agent=None, tools=None, **metadata):
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": "q"}]
    step = Step.llm_call(model, json.dumps(messages), metadata={"tools": tools} if tools else {})
    return Trace(input="q", output="a", steps=[step], agent_name=agent, metadata=metadata)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (made(), made(), []),
        (made("gpt-4o"), made("gpt-4.1"), ["model gpt-4o → gpt-4.1"]),
        (made(agent="one"), made(agent="two"), ["agent one → two"]),
        (made(agent=None), made(agent="two"), []),  # a baseline that does not say which
        (made(prompt="Be kind."), made(prompt="Be brief."), ["another prompt"]),
        (made(system_prompt="a"), made(system_prompt="b"), ["another prompt"]),
        (made(tools=["a"]), made(tools=["a", "b"]), ["tools a → a, b"]),
        (
            made(tools=[{"type": "function", "function": {"name": "a"}}]),
            made(tools=[{"name": "b"}]),
            ["tools a → b"],
        ),
        (
            made("x", "1", "one"),
            made("y", "2", "two"),
            ["agent one → two", "model x → y", "another prompt"],
        ),
    ],
)
def test_what_is_said(before, after, said):
    assert differences(before, after) == said


def test_the_text_before_a_plain_question_is_a_prompt():
    one, other = (
        Trace(input="q", output="a", steps=[Step.llm_call("m", f"{how} q")]) for how in ("x", "y")
    )
    assert differences(one, other) == ["another prompt"]
    assert differences(one, one) == []


def test_what_any_repeat_had_is_not_another():
    first = made("one")
    fields = {name: getattr(first, name) for name in Trace.__struct_fields__}
    baseline = Baseline(**fields, repeats=(made("two"),))
    assert differences(baseline, made("two")) == []
    assert differences(baseline, made("three")) == ["model one → three"]


def test_the_same_difference_in_many_cases_is_one_line():
    unlike = UnlikeBaselines()
    for name in ("a", "b"):
        unlike.add(EvalCase(query="q", name=name), made("new"), made("old"))
    unlike.add(EvalCase(query="q", name="a"), made("new"), made("new", agent="x"))
    unlike.add(EvalCase(query="q", name="c"), made("new"), None)
    assert unlike.lines() == [
        "not as in the baseline: model old → new (2 cases); this alone fails nothing"
    ]


AGENT = """
def run(question):
    step = {"type": "llm_call", "model": "MODEL", "output": question}
    return {"output": question, "steps": [step]}
"""


def test_a_run_says_it_and_passes(project):
    from tests.engine.conftest import says

    project.agent(AGENT.replace("MODEL", "model-a"))
    project.spec(says("a"), agent="bot")
    project.run()
    project.command("baseline", "save")
    assert project.run().report["warnings"] == []
    project.agent(AGENT.replace("MODEL", "model-new"))
    project.spec(says("a", regression={"same_calls": True}), agent="other-bot")
    changed = project.run("--baseline", "baselines")
    assert changed.code == 0
    assert changed.report["warnings"] == [
        "not as in the baseline: agent bot → other-bot (a); this alone fails nothing",
        "not as in the baseline: model model-a → model-new (a); this alone fails nothing",
    ]
