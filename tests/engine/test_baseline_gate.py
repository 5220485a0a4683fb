"""The first save of a suite adds the gate to its spec; no later one does."""

from __future__ import annotations

import os

from tests.engine.refunds import begin, case, does

SPEC = """\
# Refunds.
runner: an_agent:run      # ours

queries:
  - {name: refund, query: Refund order 12., correctness: {expected_in_answer: [refunded]}}
"""
GATED = SPEC.replace(
    "queries:",
    """\
defaults:
  regression:
    same_calls: true
    same_arguments: true
    same_order: true
    same_errors: true
  cost:
    max_cost_multiplier: {value: 3, severity: fail}

queries:""",
)


def write(project, text=SPEC, name="spec.yaml"):
    (project.folder / name).write_text(text)
    return project.folder / name


def test_the_first_save_adds_the_lines_and_shows_them(project):
    begin(project)
    spec = write(project)
    project.run()
    done = project.command("baseline", "save")
    assert spec.read_text() == GATED
    assert "added to spec.yaml, so that `run` and `score` compare with the baselines:" in done.err
    for line in GATED.splitlines():
        if line not in SPEC.splitlines():
            assert f"  {line}\n" in done.err
    assert project.run().code == 0
    does(project, amount=200)
    red = project.command("run", "spec.yaml")
    assert (red.code, "issue_refund: amount 20 → 200" in red.out) == (1, True)
    does(project, cost=0.1)
    red = project.command("run", "spec.yaml")
    assert (red.code, "10.00 times the baseline" in red.out) == (1, True)


def test_a_later_save_never_adds_them_again(project):
    begin(project)
    spec = write(project)
    project.run()
    project.command("baseline", "save")
    spec.write_text(SPEC)  # a person took them out
    project.run()
    done = project.command("baseline", "save")
    assert (spec.read_text(), "added to" in done.err) == (SPEC, False)


def test_no_gate_leaves_the_spec_alone(project):
    begin(project)
    spec = write(project)
    project.run()
    done = project.command("baseline", "save", "--no-gate")
    assert (done.code, spec.read_text(), "regression" in done.err) == (0, SPEC, False)


def test_a_spec_with_a_regression_key_stays(project):
    begin(project, case(regression={"same_calls": True}))
    before = (project.folder / "spec.yaml").read_text()
    done = project.command("baseline", "save")
    assert ((project.folder / "spec.yaml").read_text(), "added" in done.err) == (before, False)


def test_links_and_modes_stay(project):
    begin(project)
    real = write(project, name="real.yaml")
    real.chmod(0o640)
    (project.folder / "spec.yaml").unlink()
    (project.folder / "spec.yaml").symlink_to(real)
    project.run()
    project.command("baseline", "save")
    assert (project.folder / "spec.yaml").is_symlink()
    assert real.read_text() == GATED
    assert real.stat().st_mode & 0o777 == 0o640


def refused(project, why):
    done = project.command("baseline", "save")
    assert done.code == 0
    assert "nothing is compared with the baselines yet: " in done.err
    assert why in done.err
    assert (
        "add these lines to it:\n  defaults:\n    regression:\n      same_calls: true\n" in done.err
    )
    return done


def test_a_read_only_spec_is_left_alone(project):
    begin(project)
    spec = write(project)
    project.run()
    spec.chmod(0o444)
    refused(project, "the file is read-only")
    assert spec.read_text() == SPEC


def test_flow_style_is_left_alone(project):
    begin(project)
    text = SPEC.replace("\nqueries", "\ndefaults: {path: {max_steps: 99}}\nqueries")
    spec = write(project, text)
    project.run()
    refused(project, "spec.yaml was not changed: its `defaults` are written in flow style")
    assert spec.read_text() == text


def test_tables_are_left_alone(project):
    begin(project)
    (project.folder / "t.csv").write_text("n\n12\n")
    cases = "{cases_from: t.csv, name: 'o{{n}}', query: 'Order {{n}}.', path: {max_steps: 9}}"
    text = f"runner: an_agent:run\nqueries:\n  - {cases}\n"
    spec = write(project, text)
    assert project.run().code == 0
    refused(project, "its cases come from a table")
    assert spec.read_text() == text


def test_a_spec_that_is_gone_is_said(project):
    begin(project)
    (project.folder / "spec.yaml").unlink()
    refused(project, "it cannot be read: ")


def test_a_folder_that_cannot_be_written_is_said(project, monkeypatch):
    begin(project)
    spec = write(project)
    project.run()
    replace = os.replace

    def full(source, target, **given):
        if str(target).endswith(".yaml"):
            raise OSError(28, "No space left on device")
        return replace(source, target, **given)

    monkeypatch.setattr(os, "replace", full)
    refused(project, "No space left on device")
    assert spec.read_text() == SPEC


def test_each_suite_of_a_folder_gets_it_in_its_file(project):
    begin(project)
    (project.folder / "specs").mkdir()
    agent = (project.folder / "an_agent.py").read_text()
    (project.folder / "specs" / "an_agent.py").write_text(agent)
    (project.folder / "does.json").rename(project.folder / "specs" / "does.json")
    files = [write(project, name=f"specs/{name}.yaml") for name in ("one", "two")]
    assert project.run(spec="specs").code == 0
    project.command("baseline", "save")
    assert [file.read_text() for file in files] == [GATED, GATED]


def test_checks_that_the_runs_cannot_decide_are_left_out(project):
    project.agent(
        """
        def run(question):
            step = {"type": "tool_call", "tool_name": "t", "tool_args": {}}
            return {"output": "refunded", "steps": [step]}
        """
    )
    spec = write(project)
    project.run()
    done = project.command("baseline", "save")
    assert "max_cost_multiplier" not in spec.read_text()
    assert "same_errors: true" in spec.read_text()
    assert "did not record what it needs: max_cost_multiplier" in done.err
    assert project.run().code == 0


def test_a_gate_that_the_runs_cannot_decide_is_said(project):
    project.agent("def run(question):\n    return {'output': 'refunded', 'steps': []}")
    write(project, GATED)
    project.run()
    done = project.command("baseline", "save")
    assert done.err.endswith(
        "spec.yaml: unknown in later runs, too, unless they record what it needs: "
        "max_cost_multiplier\n"
    )
    assert project.run().code == 3


def test_runs_without_tool_calls_are_not_gated(project):
    project.agent("def run(question):\n    return 'refunded'")
    spec = write(project)
    project.run()
    done = project.command("baseline", "save")
    assert (done.code, spec.read_text()) == (0, SPEC)
    assert "the saved runs did not record their tool calls" in done.err
