"""`trialrun.testing`: the test harness for agents, and its scenarios."""

from __future__ import annotations

import pytest

from trialrun import EvalCase, LayerStatus, Step, Trace, evaluate, load_suite, read_traces
from trialrun.errors import UsageError
from trialrun.testing import (
    SCENARIOS,
    AgentType,
    BaseAgentTest,
    FakeAgent,
    compliance_report,
    render_compliance,
)

CASES = {case.name: case for case in load_suite(SCENARIOS / "verification.yaml").cases}
COMPLIANT = {trace.name: trace for trace in read_traces(SCENARIOS / "compliant.jsonl")}
NOT_COMPLIANT = {trace.name: trace for trace in read_traces(SCENARIOS / "non-compliant.jsonl")}


def test_every_scenario_has_both_runs():
    names = {
        "file-edit",
        "test-run",
        "api-call",
        "assertion",
        "quality-gates",
        "bug-fix",
        "deploy",
        "review",
    }
    assert set(CASES) == set(COMPLIANT) == set(NOT_COMPLIANT) == names


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_proves_its_work_passes(name):
    result = evaluate(CASES[name], COMPLIANT[name])
    assert result.layers["verification"].status is LayerStatus.PASS, result.layers["verification"]


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_does_not_prove_its_work_fails(name):
    result = evaluate(CASES[name], NOT_COMPLIANT[name])
    assert result.layers["verification"].status is LayerStatus.FAIL


class TestEngineer(BaseAgentTest):
    agent_type = AgentType.ENGINEER

    def test_a_scripted_run(self, mock_agent):
        steps = [
            Step.tool_call("Edit", {"file_path": "a.py"}, "ok"),
            Step.tool_call("Bash", {"command": "pytest"}, "3 passed in 0.1s"),
        ]
        mock_agent.reply("Fix it", "Fixed; all 3 tests pass.", steps)
        response = self.invoke_agent(mock_agent, "Fix it")
        assert response.raw_output == "Fixed; all 3 tests pass."
        assert response.agent_type is AgentType.ENGINEER
        assert self.verification(response).compliant
        assert mock_agent.prompts == ["Fix it"]

    def test_a_test_case_without_deepeval_is_a_trace(self):
        made = self.create_test_case("Fix it", "Fixed.")
        assert isinstance(made, Trace) and made.output == "Fixed."

    def test_agents_of_other_kinds(self):
        async def waits(prompt):
            return f"{prompt}!"

        class Answer:
            raw_output = "x"

        assert self.invoke_agent(lambda prompt: prompt.upper(), "a").raw_output == "A"
        assert self.invoke_agent(waits, "a").raw_output == "a!"
        assert self.invoke_agent(lambda prompt: Answer(), "a").raw_output == "x"
        with pytest.raises(UsageError, match="returned int"):
            self.invoke_agent(lambda prompt: 3, "a")


def test_roles():
    assert {one.value for one in AgentType} == {
        "base",
        "engineer",
        "qa",
        "ops",
        "research",
        "documentation",
        "prompt_engineer",
        "project_manager",
    }


def test_a_prompt_without_a_scripted_reply_is_an_error():
    with pytest.raises(UsageError, match="no reply is scripted for 'b'; there is one for: 'a'"):
        FakeAgent({"a": "x"})("b")
    assert FakeAgent(default="y")("b").output == "y"


def test_scripted_answers_are_given_in_order():
    agent = FakeAgent().reply("a", "one").reply("a", "two")
    assert [agent("a").output for _ in range(3)] == ["one", "two", "two"]


def test_the_compliance_report():
    summary, ledgers = compliance_report([*COMPLIANT.values(), *NOT_COMPLIANT.values()])
    assert (summary.runs, summary.compliant) == (16, 8)
    assert summary.bands["perfect"] == 8 and sum(summary.bands.values()) == 16
    assert summary.score == pytest.approx(sum(ledger.score for _, ledger in ledgers) / 16)
    text = render_compliance(NOT_COMPLIANT.values())
    assert "changed-not-exercised" in text and "tool verification 0.75" in text
    assert "8 sessions" in text and "poor" in text


def test_the_block_of_a_spec():
    case = EvalCase.from_dict(
        {
            "query": "q",
            "verification": {
                "min_compliance": 0.9,
                "tests_after_last_edit": True,
                "tools": {"edits": ["patch_doc"], "reads": ["get_doc"], "runs": ["exec"]},
                "runners": [{"name": "mine", "kind": "test", "command": "mycheck"}],
                "phrases": {"tests": ["the hamster runs"]},
            },
        }
    )
    steps = [
        Step.tool_call("patch_doc", {"doc": "a.py"}, "ok"),
        Step.tool_call("exec", {"command": "mycheck"}, "1 passed in 1s"),
    ]
    result = evaluate(case, Trace(input="q", output="The hamster runs.", steps=steps))
    assert result.layers["verification"].status is LayerStatus.PASS, result.layers["verification"]
