"""`trialrun accept`: what changed is shown, then it is the baseline; never by itself, not in CI."""

from __future__ import annotations

import pytest

from tests.engine.conftest import project  # noqa: F401
from tests.engine.refunds import begin, case, does, saved

GATE = {"same_calls": True, "same_arguments": True, "same_errors": True}


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def gated(project):  # noqa: F811
    """A project with a baseline of one attempt, whose agent refunds ten times as much now."""
    begin(project, case(regression=GATE))
    project.command("baseline", "save")
    does(project, amount=200)
    assert project.run().code == 1
    return project


def file(project):  # noqa: F811
    return project.folder / "baselines" / "spec" / "refund.json"


def amount(project):  # noqa: F811
    return saved(project)["steps"][3]["tool_args"]["amount"]


def test_the_change_is_shown_and_accepted(gated):
    before = file(gated).read_text()
    done = gated.command("accept")
    assert done.code == 0
    assert done.out == "refund: baselines/spec/refund.json\n  issue_refund: amount 20 → 200\n"
    assert "1 baseline accepted" in done.err
    # The diff of the file is the change, and nothing else but times.
    after = file(gated).read_text().splitlines()
    changed = [
        (old.strip(), new.strip())
        for old, new in zip(before.splitlines(), after, strict=True)
        if old != new and "duration" not in old
    ]
    assert changed == [('"amount": 20,', '"amount": 200,')]
    assert gated.run().code == 0
    assert "nothing to accept" in gated.command("accept").err


def test_a_dry_run_only_shows(gated):
    before = file(gated).read_bytes()
    done = gated.command("accept", "--dry-run")
    assert (done.code, "amount 20 → 200" in done.out, done.err) == (0, True, "")
    assert file(gated).read_bytes() == before


@pytest.mark.parametrize("value", ["true", "1", "True"])
def test_it_refuses_in_ci(gated, monkeypatch, value):
    monkeypatch.setenv("CI", value)
    refused = gated.command("accept")
    assert (refused.code, refused.out) == (2, "")
    assert "nothing is accepted in CI" in refused.err
    assert amount(gated) == 20


def test_ci_may_say_that_it_is_none(gated, monkeypatch):
    monkeypatch.setenv("CI", "false")
    assert gated.command("accept").code == 0


def test_it_refuses_what_fails_otherwise(gated):
    does(gated, amount=200, answer="no")
    gated.run()
    refused = gated.command("accept")
    assert refused.code == 1
    assert "refund: refused: correctness · expected_in_answer fail: " in refused.out
    assert "amount 20 → 200" in refused.out
    assert amount(gated) == 20


def test_it_refuses_what_is_unknown_otherwise(project):  # noqa: F811
    checks = {"max_total_tokens": {"value": 9, "severity": "fail"}}
    begin(project, case(regression=GATE))
    project.command("baseline", "save")
    does(project, amount=200)
    project.spec(case(regression=GATE, cost=checks))
    assert project.run().code in (1, 3)
    refused = project.command("accept", "refund")
    assert refused.code == 1
    assert "refused: cost · max_total_tokens unknown" in refused.out
    assert amount(project) == 20


def test_it_refuses_an_agent_that_crashed(gated):
    gated.agent("def run(question):\n    return 1 / 0")
    gated.run()
    refused = gated.command("accept", "refund")
    assert (refused.code, "refused: the agent crashed" in refused.out) == (1, True)


def test_failed_calls_need_an_option(gated):
    does(gated, fails=True)
    gated.run()
    refused = gated.command("accept")
    assert (refused.code, "refund: refused: a call failed" in refused.out) == (1, True)
    assert "issue_refund fails now: " in refused.out
    assert 'issue_refund failed: "the bank is closed"' in refused.err
    assert gated.command("accept", "--allow-errors").code == 0


def test_a_higher_cost_is_accepted_too(project):  # noqa: F811
    begin(project, case(cost={"max_cost_multiplier": {"value": 3, "severity": "fail"}}))
    project.command("baseline", "save", "--no-gate")
    does(project, cost=0.1)
    assert project.run().code == 1
    done = project.command("accept")
    assert (done.code, "max_cost_multiplier: 10.00 times the baseline" in done.out) == (0, True)
    assert project.run().code == 0


def test_only_the_named_cases_are_accepted(project):  # noqa: F811
    cases = [case(name, regression=GATE) for name in ("one", "two", "three")]
    begin(project, *cases)
    project.command("baseline", "save")
    does(project, amount=200)
    project.run()
    done = project.command("accept", "one", "three")
    assert (done.code, "2 baselines accepted" in done.err) == (0, True)
    assert project.run().by_case == {"one": "pass", "two": "fail", "three": "pass"}
    unknown = project.command("accept", "four")
    assert (unknown.code, "has no case four" in unknown.err) == (2, True)


def test_an_earlier_run_may_be_accepted(gated):
    does(gated, amount=300)
    gated.run()
    assert "amount 20 → 200" in gated.command("accept", "--run", "latest~1").out
    assert amount(gated) == 200


def test_a_case_without_a_baseline_is_saved_not_accepted(project):  # noqa: F811
    begin(project, case(regression=GATE))
    refused = project.command("accept", "refund")
    assert refused.code == 1
    assert "it has no baseline yet; `trialrun baseline save --case refund`" in refused.out
    nothing = project.command("accept")
    assert nothing.code == 0
    assert "has a baseline; `trialrun baseline save` makes one" in nothing.err


def test_where_nothing_differs_that_is_said(project):  # noqa: F811
    begin(project, case(regression=GATE))
    project.command("baseline", "save")
    project.spec(case(regression=GATE), case("other", regression=GATE))
    project.run()
    nothing = project.command("accept")
    assert nothing.code == 0
    assert "differs from its baseline; 1 case without a baseline\n" in nothing.err


def test_rules_stay_where_one_attempt_cannot_show_what_varies(project):  # noqa: F811
    begin(project, case(regression=GATE), repeat=3, varies=True)
    project.command("baseline", "save")
    text = file(project).read_text().replace('"amount": "exact"', '"amount": {"within": 5}')
    file(project).write_text(text)
    does(project, amount=200, varies=True)
    assert project.run().code == 1
    done = project.command("accept")
    assert "taken from 1 attempt, the baseline before from 3" in done.err
    rules = saved(project)["regression"]["arguments"]
    assert rules["lookup_order"]["wording"] == "same_type"
    assert rules["issue_refund"]["amount"] == {"within": 5.0}
    assert project.run().code == 0


def test_the_file_that_a_case_names_is_written(project):  # noqa: F811
    begin(project)
    project.command("baseline", "save")
    file(project).rename(project.folder / "kept.json")
    does(project, amount=200)
    project.spec(case(regression=GATE, baseline="kept.json"))
    assert project.run().code == 1
    assert "refund: kept.json\n" in project.command("accept").out
    assert project.run().code == 0
    assert not file(project).exists()


def test_another_question_is_not_accepted(gated):
    gated.spec(case(regression=GATE) | {"query": "Refund order 13."})
    refused = gated.command("accept", "refund")
    assert (refused.code, "answers another question" in refused.out) == (1, True)
    assert amount(gated) == 20


def test_a_baseline_that_cannot_be_read_is_said(gated):
    file(gated).write_text("{")
    refused = gated.command("accept")
    assert (refused.code, "refund: refused: the baseline cannot be read" in refused.out) == (
        1,
        True,
    )
