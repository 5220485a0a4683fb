"""Judge audits with figures computed by hand: the judge's scores are scripted."""

from __future__ import annotations

import json
import sys

import pytest
import yaml

from trialrun.cli.main import main
from trialrun.measures.agreement import Confusion
from trialrun.model.audit import (
    NEEDS_CALIBRATION,
    TRUSTWORTHY,
    UNRELIABLE,
    Answers,
    Audit,
    Retest,
    Sensitivity,
)

# Repeats the question. The judge reads its scores from the answer, one for each time it is asked
# in this order: `5,5,5,5`; with padding, the score after the bar: `5,5,5,5|4`.
PROJECT = {
    "agent.py": "def run(question):\n    return question\n",
    "judges.py": """
import collections
from trialrun.engine.judge_audit import PADDING

asked = collections.Counter()

def judge(request):
    answer = request.answer
    padded = answer.endswith(PADDING)
    plain, _, after = answer.removesuffix(PADDING).split()[0].partition("|")
    if padded:
        return {"score": int(after or plain[0]), "rationale": "padded"}
    asked[answer] += 1
    scores = plain.split(",")
    return {"score": int(scores[min(asked[answer], len(scores)) - 1]), "rationale": "scripted"}
""",
}


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "judges", raising=False)  # the module counts its calls
    monkeypatch.setattr(sys, "path", [part for part in sys.path if "pytest" not in part])
    for name, text in PROJECT.items():
        (tmp_path / name).write_text(text)

    def spec(answers, judge="judges:judge", **top):
        queries = [
            {
                "name": f"case-{number}",
                "query": answer,
                "correctness": {
                    "expected_in_answer": ["right"],
                    "llm_judge": [{"rule": "it is right", "threshold": 0.7}],
                },
            }
            for number, answer in enumerate(answers)
        ]
        top = {"runner": "agent:run", "judge": judge, "queries": queries, **top}
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(top))

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    run.spec = spec
    run.folder = tmp_path
    return run


ANSWERS = [
    "5,5,5,5 right",  # stable, and the facts agree
    "5,5,1,5 right",  # flips
    "4,4,4,4 wrong",  # passed by the judge, failed by a fact
    "1,1,1,1 wrong",  # both fail it
    "2,2,2,2 right",  # failed by the judge alone
    "5,5,5,5|4 right",  # the score moves with padding, the verdict does not
    "5,5,5,5|2 right",  # both move
]


def test_what_is_counted(project):
    project.spec(ANSWERS)
    project("run", "spec.yaml", "--no-judge-cache", "-j", "1")
    code, out, _ = project("judge", "audit", "--json")
    found = json.loads(out)
    assert code == 3
    assert found["verdict"] == NEEDS_CALIBRATION
    assert (found["verdicts"], found["answers"], found["without_verdict"]) == (7, 7, 0)
    assert found["facts"] == {"true_pass": 4, "false_pass": 1, "false_fail": 1, "true_fail": 1}
    # The function stays in this process: the first call of the audit is its second call.
    assert found["retest"] == {"verdicts": 7, "flipped": 1, "times": 3, "answers": 7}
    padding, order = found["sensitivity"]
    assert (padding["answers"], padding["score_moved"], padding["verdict_moved"]) == (7, 2, 1)
    assert padding["mean_move"] == pytest.approx((-1 - 3) / 7)
    assert (order["name"], order["answers"]) == ("the order of the context", 0)
    (wrong,) = found["disagreements"]
    assert (wrong["case"], wrong["score"]) == ("case-2", 4.0)
    assert wrong["against"] == 'expected_in_answer: not in the answer: "right"'
    assert found.pop("masked") == 0  # of the report: the file is for `require_audit`
    assert json.loads((project.folder / "judge-audit.json").read_text()) == found


def test_the_report_is_readable(project):
    project.spec(ANSWERS)
    project("run", "spec.yaml")
    code, out, err = project("judge", "audit", "latest", "--retests", "0")
    assert code == 3
    assert out.startswith("needs calibration: judges:judge")
    assert "passed what a fact failed" in out
    assert 'case-2 #1: score 4 for "it is right"' in out
    assert "flips on the same answer                   nothing to measure it by" in out
    assert "audit written to" in err


def test_labels_are_compared_with_verdicts(project):
    project.spec(ANSWERS)
    project("run", "spec.yaml")
    rows = "".join(
        f"case-{number},{'fail' if number in (2, 3, 5) else 'pass'}\n" for number in range(7)
    )
    (project.folder / "labels.csv").write_text(f"case,label\n{rows}")
    _, out, _ = project("judge", "audit", "--labels", "labels.csv", "--json")
    # The judge passes 0, 1, 2, 5, 6 and fails 3, 4.
    expected = {"true_pass": 3, "false_pass": 2, "false_fail": 1, "true_fail": 1}
    assert json.loads(out)["labels"] == expected
    _, out, _ = project("judge", "audit", "--labels", "labels.csv")
    # p_o = 4/7, p_e = (5·4 + 2·3)/49 = 26/49, κ = (28 − 26)/(49 − 26) = 2/23 = 0.087.
    assert "57% of 7 labels, κ 0.09 (" in out
    assert 'case-5 #1: score 5 for "it is right"; a person\'s label: fail' in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("case,label\ncase-0,maybe\n", "labels.csv:2: the label is 'maybe', expected pass or fail"),
        ("case,label\nnosuch,pass\n", "labels.csv:2: no answer of these runs matches 'nosuch'"),
        (
            "case,label\ncase-0,pass\ncase-0,fail\n",
            "labels.csv:3: case-0 has a different label earlier in the file",
        ),
        ("case,verdict\ncase-0,pass\n", "has no column `label`"),
    ],
)
def test_invalid_labels_are_refused(project, text, said):
    project.spec(ANSWERS)
    project("run", "spec.yaml")
    (project.folder / "labels.csv").write_text(text)
    code, _, err = project("judge", "audit", "--labels", "labels.csv")
    assert (code, said in err) == (2, True), err


def test_label_asks_for_each_answer_once(project, monkeypatch):
    import io

    project.spec(ANSWERS[:4])
    project("run", "spec.yaml")
    monkeypatch.setattr("sys.stdin", io.StringIO("p\nwhat?\nf\ns\nq\n"))
    code, out, err = project("judge", "label")
    assert code == 0
    assert "2 labels of 4 in labels.jsonl" in err
    assert out.count("rule: it is right") == 4
    assert "score" not in out  # the judge's verdict would influence the person
    lines = [
        json.loads(line) for line in (project.folder / "labels.jsonl").read_text().splitlines()
    ]
    assert [(line["case"], line["label"]) for line in lines] == [
        ("case-0", "pass"),
        ("case-1", "fail"),
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    _, out, _ = project("judge", "label")
    assert "1 of 2 · case-2" in out
    _, out, _ = project("judge", "audit", "--labels", "labels.jsonl", "--json")
    assert json.loads(out)["labels"]["true_pass"] == 1


def test_a_judge_that_always_raises_is_not_audited(project):
    project.spec(ANSWERS[:2], judge="broken_judge:judge")
    (project.folder / "broken_judge.py").write_text(
        "def judge(request):\n    raise RuntimeError('the index is gone')\n"
    )
    project("run", "spec.yaml")
    code, _, err = project("judge", "audit", "--retests", "0")
    assert code == 3
    assert "no verdict" in err and "RuntimeError: the index is gone" in err
    assert not (project.folder / "judge-audit.json").exists()


def test_without_rubrics_there_is_nothing_to_audit(project):
    project.spec([])
    case = {"name": "a", "query": "q", "correctness": {"expected_in_answer": ["q"]}}
    (project.folder / "spec.yaml").write_text(
        yaml.safe_dump({"runner": "agent:run", "queries": [case]})
    )
    project("run", "spec.yaml")
    code, _, err = project("judge", "audit")
    assert (code, "nothing to audit" in err) == (5, True)


# The verdict on the judge


def made(**given):
    base = {
        "judge": "m",
        "identity": "m",
        "prompt_version": "1",
        "runs": ["r"],
        "verdicts": 40,
        "answers": 40,
        "without_verdict": 0,
        "passes": 20,
        "facts": Confusion(true_pass=20, true_fail=20),
        "retest": retest(40, 0),
        "labels": Confusion(),
        "sensitivity": [moved(40, 0, 0)],
    }
    found = {**base, **given}
    for name in ("fact", "label"):  # one answer each
        table = found[f"{name}s"]
        failed = table.total - table.passed
        found.setdefault(f"{name}_answers", Answers(table.passed, failed, table.total))
    return Audit(**found)


def retest(verdicts, flipped):
    return Retest(verdicts=verdicts, flipped=flipped, times=3, answers=verdicts)


def moved(verdicts, scores, moves):
    return Sensitivity(
        name="padding",
        verdicts=verdicts,
        score_moved=scores,
        verdict_moved=moves,
        answers=verdicts,
    )


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, TRUSTWORTHY),
        ({"facts": Confusion(20, 1, 0, 19)}, TRUSTWORTHY),  # 1 of 20 is the limit
        ({"facts": Confusion(20, 2, 0, 18)}, NEEDS_CALIBRATION),
        ({"facts": Confusion(20, 5, 0, 15)}, UNRELIABLE),
        ({"facts": Confusion(20, 0, 0, 19)}, NEEDS_CALIBRATION),  # too few failures
        ({"facts": Confusion()}, NEEDS_CALIBRATION),  # no facts
        ({"retest": retest(40, 2)}, TRUSTWORTHY),
        ({"retest": retest(40, 3)}, NEEDS_CALIBRATION),
        ({"retest": retest(40, 9)}, UNRELIABLE),
        ({"retest": Retest()}, NEEDS_CALIBRATION),  # flips were not measured
        ({"sensitivity": [moved(40, 9, 9)]}, UNRELIABLE),
        ({"sensitivity": [moved(40, 40, 0)]}, TRUSTWORTHY),
        ({"without_verdict": 1}, NEEDS_CALIBRATION),
        ({"passes": 40}, NEEDS_CALIBRATION),  # the same verdict for everything
        ({"passes": 0}, NEEDS_CALIBRATION),
        ({"sensitivity": [moved(0, 0, 0)]}, NEEDS_CALIBRATION),  # not measured
        ({"facts": Confusion(), "labels": Confusion(19, 0, 0, 1)}, NEEDS_CALIBRATION),
        # Labels alone can show that a judge is trustworthy, or that it is not.
        ({"facts": Confusion(), "labels": Confusion(20, 1, 1, 18)}, TRUSTWORTHY),
        ({"labels": Confusion(10, 10, 10, 10)}, UNRELIABLE),
        ({"labels": Confusion(20, 5, 4, 16)}, NEEDS_CALIBRATION),
        # Full agreement on 20 labels: the lower end of κ is 0.68 for halves, 0.57 for 15 and 5.
        ({"facts": Confusion(), "labels": Confusion(10, 0, 0, 10)}, TRUSTWORTHY),
        ({"facts": Confusion(), "labels": Confusion(15, 0, 0, 5)}, NEEDS_CALIBRATION),
        # Many rules on one answer do not count as many answers.
        ({"fact_answers": Answers(19, 19, 38)}, NEEDS_CALIBRATION),
        (
            {
                "facts": Confusion(),
                "labels": Confusion(20, 0, 0, 20),
                "label_answers": Answers(20, 4, 20),
            },
            NEEDS_CALIBRATION,
        ),
    ],
)
def test_the_verdict_on_the_judge(given, verdict):
    assert made(**given).verdict == verdict


# An audit may be required


def model_spec(project, server, **given):
    judge = {"model": "local", "base_url": f"{server.url}/v1", "require_audit": True, **given}
    project.spec(["right"], judge=judge)


def test_an_unaudited_judge_gives_no_verdict_and_is_not_called(project, serve):
    from tests.judge.servers import score

    server = serve(score(5))
    model_spec(project, server)
    code, out, _ = project("run", "spec.yaml")
    assert code == 3
    assert "llm_judge unknown: the judge is not audited: " in out
    assert "run `trialrun judge audit`" in out
    assert server.asked == []
    # The answers are stored: the judge can be audited on them, and they can be regraded.
    project("judge", "audit")
    assert server.asked
    code, out, _ = project("regrade")
    assert "says: needs calibration" in out
    file = project.folder / "judge-audit.json"
    trusted = json.loads(file.read_text()) | {"verdict": "trustworthy"}
    file.write_text(json.dumps(trusted))
    assert project("regrade")[0] == 0
    model_spec(project, server, temperature=0.5)
    code, out, _ = project("regrade")
    assert (code, "temperature 0, prompt 2, not local" in out) == (3, True), out
    file.write_text("{")
    assert project("regrade")[0] == 3


CLAIMING = """
from trialrun import Step, Trace

CHANGE = {"file_path": "/app/a.py", "old_string": "x", "new_string": "y"}
EDIT = Step.tool_call("Edit", CHANGE, "ok")
TESTED = Step.tool_call("Bash", {"command": "cd /app && pytest -q"}, "3 passed in 0.1s")

def run(question):
    says = f"All tests pass. The importer is compatible with {question}."
    return Trace(input=question, output=says, steps=[EDIT, TESTED])

def judge(request):
    return 5
"""


def test_statements_that_no_rule_decides_are_audited_by_labels_alone(project):
    (project.folder / "claiming.py").write_text(CLAIMING)
    block = {"no_unsupported_claims": True, "claims": "judge"}
    facts = {"expected_in_answer": ["right"]}
    queries = [
        {"name": name, "query": name, "verification": block, "correctness": facts}
        for name in ("Avro", "Parquet")
    ]
    spec = {"runner": "claiming:run", "judge": "claiming:judge", "queries": queries}
    (project.folder / "spec.yaml").write_text(yaml.safe_dump(spec))
    project("run", "spec.yaml", "--no-judge-cache")
    (project.folder / "labels.csv").write_text("case,label\nAvro,pass\nParquet,fail\n")
    _, out, err = project("judge", "audit", "--labels", "labels.csv", "--json")
    found = json.loads(out)
    assert (found["verdicts"], found["answers"]) == (2, 2), err
    # The answers lack "right", but that says nothing about one statement in them.
    assert sum(found["facts"].values()) == 0
    assert found["labels"] == {"true_pass": 1, "false_pass": 1, "false_fail": 0, "true_fail": 0}
