"""A person's labels: each is for one rule, one answer and the context that the person saw."""

from __future__ import annotations

import io
import json
import sys
from hashlib import sha256

import pytest
import yaml

from tests.judge.servers import score
from trialrun.cli.main import main

AGENT = """
from pathlib import Path
from trialrun import Step, Trace

def run(question):
    returned = Path(__file__).with_name("tool").read_text()
    call = Step.tool_call("policy", {}, tool_result=returned)
    return Trace(input=question, output="You have 30 days.", steps=[call])
"""


@pytest.fixture
def project(tmp_path, monkeypatch, capsys, serve):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [part for part in sys.path if "pytest" not in part])
    server = serve(score(5))
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "tool").write_text("30 days")

    def spec(**correctness):
        case = {"name": "a", "query": "How long?", "correctness": correctness}
        judge = {"model": "m", "base_url": f"{server.url}/v1", "timeout": 60}
        written = {"runner": "agent:run", "isolate": False, "judge": judge, "queries": [case]}
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(written))

    def run(*arguments, says=""):
        capsys.readouterr()
        monkeypatch.setattr("sys.stdin", io.StringIO(says))
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    def labels(text, name="labels.csv"):
        (tmp_path / name).write_text(text)
        return run("judge", "audit", "--labels", name, "--retests", 0, "--json")

    run.spec, run.labels, run.folder, run.server = spec, labels, tmp_path, server
    return run


def table(out):
    return json.loads(out)["labels"]


FAITHFUL = {"hallucination_check": {"rule": "Every figure is in what the tools returned."}}


# What a label is about


def test_a_label_is_not_reused_if_tool_results_differ(project):
    project.spec(**FAITHFUL)
    project("run", "spec.yaml", "-q")
    project("judge", "label", says="p\n")
    (project.folder / "tool").write_text("14 days")
    project("run", "spec.yaml", "-q")
    _, out, _ = project("judge", "label", says="f\n")
    assert "1 of 1 · a #1" in out  # the person is asked again
    _, out, err = project("judge", "audit", "--labels", "labels.jsonl", "--json")
    assert table(out) == {"true_pass": 0, "false_pass": 1, "false_fail": 0, "true_fail": 0}
    assert "1 label in labels.jsonl is about other answers" in err


@pytest.mark.parametrize(
    "change", [{"scale": ["5: all"]}, {"few_shot_examples": ["so"]}, {"context_file": "tool"}]
)
def test_a_label_is_not_reused_if_the_rubric_has_changed(project, change):
    project.spec(llm_judge=[{"rule": "r"}])
    project("run", "spec.yaml", "-q")
    project("judge", "label", says="p\n")
    project.spec(
        llm_judge=[{"rule": "r", "threshold": 0.9}]
    )  # the threshold is not part of the question
    assert "1 label of" in project("judge", "label")[2]
    project.spec(llm_judge=[{"rule": "r", **change}])
    assert "0 labels of" in project("judge", "label")[2]


def old_key(rule):
    """The key of earlier versions, without the context."""
    return sha256("\0".join((rule, "How long?", "You have 30 days.")).encode()).hexdigest()[:16]


def old_label(rule):
    return json.dumps({"key": old_key(rule), "case": "a", "check": "x", "label": "pass"}) + "\n"


def test_an_old_label_is_used_only_without_context(project):
    project.spec(llm_judge=[{"rule": "kind"}], **FAITHFUL)
    project("run", "spec.yaml", "-q")
    lines = old_label("kind") + old_label(FAITHFUL["hallucination_check"]["rule"])
    code, out, err = project.labels(lines, "labels.jsonl")
    assert code == 3
    assert table(out) == {"true_pass": 1, "false_pass": 0, "false_fail": 0, "true_fail": 0}
    assert "1 label in labels.jsonl is about other answers" in err


# Labels by the name of a case

THREE = {
    "llm_judge": [{"rule": "polite"}, {"rule": "cites a source"}],
    "safety_check": {"rule": "polite"},
}


def test_a_label_applies_to_the_rule_that_it_names(project):
    project.spec(llm_judge=THREE["llm_judge"])
    project("run", "spec.yaml", "-q")
    text = "case,rule,label\na,cites a source,fail\n"
    _, out, _ = project.labels(text)
    assert table(out) == {"true_pass": 0, "false_pass": 1, "false_fail": 0, "true_fail": 0}
    _, out, _ = project.labels(text + "a,polite,pass\n")
    assert table(out) == {"true_pass": 1, "false_pass": 1, "false_fail": 0, "true_fail": 0}


def test_a_rule_of_several_lines(project):
    project.spec(llm_judge=[{"rule": "one\ntwo"}, {"rule": "three"}])
    project("run", "spec.yaml", "-q")
    _, out, _ = project.labels('case,rule,label\na,"one\ntwo",fail\n')
    assert table(out)["false_pass"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("case,label\na,pass\n", "labels.csv:2: a has several rubrics; name one with `rule`"),
        (
            "case,rule,label\na,cites,pass\n",
            "labels.csv:2: no answer of these runs matches 'a', rule 'cites'",
        ),
        ("case,label,label\na,fail,pass\n", "labels.csv:1: the column `label` occurs twice"),
        ("case,label\na,pass,pass\n", "labels.csv:2: has more cells than there are columns"),
        ("case,attempt,label\na,0,pass\n", "labels.csv:2: the attempt is '0', expected a whole"),
        ("case,attempt,label\na,x,pass\n", "labels.csv:2: the attempt is 'x', expected a whole"),
        ("case,attempt,label\na,2,pass\n", "labels.csv:2: no answer of these runs matches 'a'"),
    ],
)
def test_an_ambiguous_label_is_refused(project, text, said):
    project.spec(**THREE)
    project("run", "spec.yaml", "-q")
    asked = len(project.server.asked)
    code, _, err = project.labels(text)
    assert (code, said in err) == (2, True), err
    assert len(project.server.asked) == asked


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"case": "a", "attempt": 0, "label": "pass"}, "the attempt is 0, expected a whole number"),
        ({"case": "a", "attempt": True, "label": "pass"}, "the attempt is True, expected a whole"),
        ({"key": 5, "label": "pass"}, "the key is 5, expected text"),
        ({"case": ["a"], "label": "pass"}, "the case is ['a'], expected text"),
        ({"case": "a", "rule": 1, "label": "pass"}, "the rule is 1, expected text"),
    ],
)
def test_json_lines_follow_the_same_rules(project, line, said):
    project.spec(llm_judge=[{"rule": "r"}])
    project("run", "spec.yaml", "-q")
    code, _, err = project.labels(json.dumps(line) + "\n", "labels.jsonl")
    assert (code, f"labels.jsonl:1: {said}" in err) == (2, True), err


def test_a_label_for_a_case_with_several_answers_must_name_one(project):
    (project.folder / "agent.py").write_text(
        "import itertools\nnumbers = itertools.count()\n"
        "def run(question):\n    return f'answer {next(numbers)}'\n"
    )
    project.spec(llm_judge=[{"rule": "r"}])
    project("run", "spec.yaml", "-q", "--repeat", 2, "-j", 1)
    code, _, err = project.labels("case,label\na,fail\n")
    assert (code, "labels.csv:2: a has several answers; name one with `attempt`" in err) == (
        2,
        True,
    ), err
    _, out, _ = project.labels("case,attempt,label\na,2,fail\n")
    assert table(out)["false_pass"] == 1
