"""A resumed run is evaluated with the options that it began with, and cases are not confused."""

from __future__ import annotations

import json

import pytest

from tests.engine.conftest import says

FAIL_FAST = ("--fail-fast", "-j", 1)


def test_names_that_are_equal_after_masking_stay_two_cases(project):
    cases = [says("no", "yes", name="ask cust-1"), says("b", name="ask cust-22")]
    project.spec(*cases, says("c", name="ask cust-333"), redact=["cust-[0-9]+"])
    assert project.run(*FAIL_FAST).code == 1
    project.forget_calls()
    resumed = project.run("--resume")
    assert sorted(project.calls) == ["b", "c"]
    assert resumed.statuses == ["fail", "pass", "pass"]
    again = project.command("regrade", "--format", "json")
    assert again.statuses == ["fail", "pass", "pass"]
    with project.store() as store:
        names = [case.case for case in store.plan(store.find_run("latest").id)]
    assert names == ["ask [redacted]", "ask [redacted] (2)", "ask [redacted] (3)"]


def test_options_that_change_verdicts_are_kept(project):
    """The run fails because of its baseline; resumed without the option, it must still fail."""
    step = {"type": "llm_call", "model": "m", "cost_usd": 0.01, "tokens": {"prompt_tokens": 1}}
    folder = project.folder / "kept" / "spec"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.json").write_text(
            json.dumps({"input": name, "output": name, "steps": [step]})
        )
    cost = {"max_cost_multiplier": {"value": 1.5, "severity": "fail"}}
    project.agent(
        f"def run(q):\n    return {{'output': q, 'steps': [{ {**step, 'cost_usd': 0.05} }]}}\n"
    )
    project.spec(says("a", cost=cost), says("b", cost=cost))
    begun = project.run("--baseline", project.folder / "kept", *FAIL_FAST)
    assert (begun.code, begun.statuses) == (1, ["fail", "error"])
    refused = project.run("--resume", "--baseline", project.folder)
    assert (refused.code, "was started with --baseline" in refused.err) == (2, True)
    assert project.run("--resume").statuses == ["fail", "fail"]


def test_another_baseline_is_a_change(project):
    trace = {"input": "a", "output": "a", "steps": []}
    for name, extra in (("one", {}), ("two", {"metadata": {"x": 1}})):
        (project.folder / f"{name}.json").write_text(json.dumps({**trace, **extra}))
    project.spec(says("a", "b", baseline="one.json"), says("c"))
    assert project.run(*FAIL_FAST).code == 1
    project.spec(says("a", "b", baseline="two.json"), says("c"))
    assert project.run("--resume").code == 2
    project.spec(says("a", "b", baseline="one.json"), says("c"))
    (project.folder / "one.json").write_text(json.dumps({**trace, "output": "other"}))
    assert project.run("--resume").code == 2


def test_gates_and_strictness_are_kept(project):
    case = says("a", path={"max_steps": 5})  # unknown for a text answer: a warning
    project.spec(says("b", "c", name="first"), {**case, "name": "second"})
    assert project.run("--strict", *FAIL_FAST).code == 1
    project.spec(says("b", "c", name="first"), {**case, "name": "second"})
    with project.store() as store:
        assert store.runs()[0].settings["given"] == {"strict": True}


def test_a_warning_under_strict_does_not_pass_with_a_pass_rate(project):
    project.spec(says("a", path={"max_steps": 5}))
    assert project.run("--min-pass-rate", 1).code == 0
    assert project.run("--min-pass-rate", 1, "--strict").code == 1


def test_only_agents_with_open_attempts_are_started(project):
    agents = {"good": {"runner": "an_agent:run"}, "worse": {"runner": "an_agent:missing"}}
    project.spec(says("a", "x"), says("b"), agents=agents)
    assert project.run("--agent", "good", *FAIL_FAST).code == 1
    assert project.run("--resume").statuses == ["fail", "pass"]
    assert project.run("--limit", 1).statuses == ["fail"]


def test_a_missing_runner_leaves_no_run(project):
    project.spec(says("a"))
    assert project.run().code == 0
    project.spec(says("a"), runner="an_agent:missing")
    assert project.run().code == 2
    with project.store() as store:
        assert len(store.runs()) == 1


@pytest.mark.parametrize("option", [("--fail-fast",), ("--max-cost", "0.001")])
def test_a_stop_after_the_last_attempt_is_ignored(project, option):
    project.spec(says("a", "x"))
    done = project.run(*option)
    assert "--resume" not in done.err
    with project.store() as store:
        assert store.runs()[0].state == "finished"


def test_failed_looks_at_each_cases_last_verdict(project):
    project.spec(says("a", "x"), says("b"))
    assert project.run().code == 1
    assert project.run("--case", "b").code == 0
    project.forget_calls()
    assert project.run("--failed").code == 1
    assert project.calls == ["a"]


def test_teardown_always_runs(project):
    undone = {"teardown": ["sh", "-c", "echo x >> $TRIALRUN_PROJECT/torn"]}
    project.spec(
        says("a", **undone),
        says("b", setup=["false"], **undone),
        says("c", teardown=["sh", "-c", "echo why >&2; exit 4"]),
    )
    done = project.run("-j", 1)
    assert (project.folder / "torn").read_text() == "x\nx\n"
    assert any("c: teardown failed: exit 4: why" in text for text in done.report["warnings"])


PRICES = "models: {{m: {{input: {}, output: 1}}}}\n"
STEP = (
    '{"type": "llm_call", "model": "m", "tokens": {"prompt_tokens": 1000, "completion_tokens": 1}}'
)


def stopped_after_one(project, *arguments, **top):
    """A run of two cases, stopped after the first one."""
    project.agent(
        f"""
        def run(question):
            return {{"output": question, "steps": [{STEP}]}}
        """
    )
    project.spec(says("a", cost={"max_cost_usd": 5}), says("b", "x"), **top)
    stopped = project.run("-j", 1, "--limit", 2, "--max-cost", "0.0000001", *arguments)
    assert stopped.statuses == ["pass", "error"], stopped.err
    return stopped


@pytest.mark.parametrize("given", ["spec", "option"])
def test_a_run_is_not_resumed_after_its_prices_changed(project, given):
    (project.folder / "prices.yaml").write_text(PRICES.format(1))
    top = {"prices": "prices.yaml"} if given == "spec" else {}
    arguments = ["--prices", "prices.yaml"] if given == "option" else []
    stopped_after_one(project, *arguments, **top)
    (project.folder / "prices.yaml").write_text(PRICES.format(2_000_000))
    refused = project.run("--resume")
    assert refused.code == 2
    assert "1 finished case was changed" in refused.err
    (project.folder / "prices.yaml").write_text(PRICES.format(1))
    assert project.run("--resume").code != 2


def test_a_run_is_not_resumed_after_a_recorded_trace_changed(project):
    trace = project.folder / "a.json"
    trace.write_text('{"input": "a", "output": "a"}')
    project.agent("def run(question):\n    return question\n")
    project.spec(says("a", "x", trace="a.json"), says("b"))
    assert project.run("-j", 1, "--fail-fast").statuses == ["fail", "error"]
    trace.write_text('{"input": "a", "output": "x"}')
    refused = project.run("--resume")
    assert (refused.code, "1 finished case was changed" in refused.err) == (2, True)
