"""A case without a baseline: skipped and counted, or unknown with `--require-baseline`."""

from __future__ import annotations

import pytest

import trialrun
from tests.engine.conftest import says
from trialrun import EvalCase, Trace, UsageError, evaluate
from trialrun.model.results import CheckStatus, LayerStatus

GATE = {"same_calls": True, "same_errors": True}


def test_without_a_baseline_checks_are_skipped_and_cases_counted(project):
    project.spec(says("a", regression=GATE), says("b", regression=GATE), says("c"))
    done = project.run("--repeat", 2)
    assert done.code == 0
    assert done.report["summary"]["without_baseline"] == 2
    shown = project.command("show", "latest")
    assert "3 cases, 6 attempts: 6 passed · 2 cases without a baseline" in shown.out


def test_one_line_names_all_checks_that_were_skipped(project):
    project.spec(says("a", regression=GATE, cost={"max_cost_multiplier": 2}))
    out = project.command("run", "spec.yaml").out
    assert out.count("skipped") == 1
    assert (
        "max_cost_multiplier, same_calls, same_errors skipped: no baseline to compare with; "
        "`trialrun baseline save` makes one" in out
    )


def test_a_required_baseline_makes_them_unknown(project):
    project.agent("def run(question):\n    return {'output': question, 'steps': []}")
    project.spec(says("a", regression=GATE), says("b"))
    done = project.run("--require-baseline")
    assert (done.code, done.by_case) == (3, {"a": "error", "b": "pass"})
    assert done.report["summary"]["without_baseline"] == 0
    assert done.report["summary"]["unknown_checks"] == 2
    # A run that is judged again is judged by the same options.
    assert project.command("regrade", "latest", "--format", "json").code == 3
    project.run()
    project.command("baseline", "save")
    assert project.run("--require-baseline").code == 0


def test_a_baseline_that_was_deleted_since_is_missing(project):
    project.spec(says("a", regression=GATE))
    project.run()
    project.command("baseline", "save")
    (project.folder / "baselines" / "spec" / "a.json").unlink()
    assert project.run().code == 0
    assert project.run("--require-baseline").code == 3


def test_score_takes_the_option_too(project):
    project.spec(says("a", regression=GATE), runner=None)
    (project.folder / "t.json").write_text('{"input": "a", "output": "a", "steps": []}')
    score = ["score", "spec.yaml", "t.json"]
    assert project.command(*score).code == 0
    assert "1 case without a baseline" in project.command(*score).out
    assert project.command(*score, "--require-baseline").code == 3


def test_a_resumed_run_still_requires_it(project):
    project.spec(says("a", "x"), says("b", regression=GATE))
    assert project.run("--require-baseline", "--fail-fast", "-j", 1).code == 1
    assert project.run("--resume").by_case == {"a": "fail", "b": "error"}


def test_from_python(project):
    case = {"query": "a", "correctness": {"exact_match": "a"}, "regression": GATE}
    assert trialrun.run(case, lambda question: question).passed
    done = trialrun.run(case, lambda question: question, require_baseline=True)
    assert done.exit_code() == 3
    with pytest.raises(UsageError, match="require_baseline: expected true or false"):
        trialrun.run(case, lambda question: question, require_baseline="no")


def test_a_multiplier_without_a_baseline_is_unknown_too():
    case = EvalCase.from_dict({"query": "q", "cost": {"max_cost_multiplier": 2, "max_cost_usd": 1}})
    trace = Trace(input="q", output="a", steps=[trialrun.Step.llm_call("m", cost_usd=0.1)])
    assert evaluate(case, trace).status is LayerStatus.PASS
    result = evaluate(case.with_options(None, True), trace)
    assert result.status is LayerStatus.WARN  # the severity of the check
    by_name = {check.name: check.status for check in result.layers["cost"].checks}
    assert by_name == {
        "max_cost_multiplier": CheckStatus.UNKNOWN,
        "max_cost_usd": CheckStatus.PASS,
    }
    assert evaluate(case.with_options(None, True), trace, trace).status is LayerStatus.PASS
