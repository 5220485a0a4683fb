"""The evidence of an audit: new verdicts, distinct answers, and the file of its own judge."""

from __future__ import annotations

import json
import sys

import pytest
import yaml

from tests.judge.servers import score
from trialrun.cli.main import main


def is_right(sent):
    return "right" in sent["messages"][-1]["content"].split("[begin answer")[1]


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [part for part in sys.path if "pytest" not in part])

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def write(folder, judge, queries, file="spec.yaml"):
    folder.mkdir(exist_ok=True)
    (folder / "agent.py").write_text("def run(question):\n    return question\n")
    written = {"runner": "agent:run", "judge": judge, "queries": queries}
    (folder / file).write_text(yaml.safe_dump(written))


def asking(texts, rules=("it is right",), prefix=""):
    correctness = {"expected_in_answer": ["right"], "llm_judge": [{"rule": rule} for rule in rules]}
    return [
        {"name": f"{prefix}{number}", "query": text, "correctness": correctness}
        for number, text in enumerate(texts)
    ]


TEXTS = [f"{'right' if number % 2 else 'wrong'} {number}" for number in range(44)]


def block(server, model="m", **given):
    return {"model": model, "base_url": f"{server.url}/v1", "timeout": 60, **given}


# New verdicts


@pytest.mark.slow
def test_a_changed_judge_is_not_audited_by_its_cached_verdicts(serve, command, tmp_path):
    generous = []
    server = serve(answer=lambda sent: score(5 if generous or is_right(sent) else 1))
    write(tmp_path, block(server), asking(TEXTS))
    command("run", "spec.yaml", "-q")
    assert command("judge", "audit")[0] == 0
    generous.append(True)
    code, out, _ = command("judge", "audit", "--json")
    found = json.loads(out)
    # 22 wrong answers, all of which it passes now.
    assert found["facts"] == {"true_pass": 22, "false_pass": 22, "false_fail": 0, "true_fail": 0}
    assert (code, found["verdict"], found["passes"]) == (1, "unreliable", 44)
    # Each is judged once, three more times, and once with padding.
    assert found["calls"] == 44 * (1 + 3 + 1)


def test_one_retest_is_compared_with_the_first_verdict(serve, command, tmp_path):
    replies = iter([score(5), score(5), score(1)])  # by the run; by the audit
    server = serve(answer=lambda sent: next(replies, score(5)))
    write(tmp_path, block(server), asking(["right"]))
    command("run", "spec.yaml", "-q")
    _, out, _ = command("judge", "audit", "--retests", 1, "--json")
    retest = json.loads(out)["retest"]
    assert (retest["verdicts"], retest["flipped"]) == (1, 1)


# Distinct answers


def test_one_answer_under_many_rules_is_one_answer(serve, command, tmp_path):
    server = serve(answer=lambda sent: score(5 if is_right(sent) else 1))
    rules = [f"rule {number}" for number in range(20)]
    write(tmp_path, block(server), asking(["right", "wrong"], rules))
    command("run", "spec.yaml", "-q")
    code, out, _ = command("judge", "audit")
    assert code == 3, out
    assert "40 verdicts on 2 answers" in out
    assert "0 of 20 (0%) on 1 answer, 20 are needed: needs calibration" in out
    assert "0 of 40 (0%) on 2 answers, 20 are needed: needs calibration" in out
    (tmp_path / "labels.csv").write_text(
        "case,rule,label\n"
        + "".join(f"{case},{rule},{'pf'[case]}\n" for case in (0, 1) for rule in rules)
    )
    code, out, _ = command("judge", "audit", "--labels", "labels.csv", "--json")
    found = json.loads(out)
    assert (code, found["labels"]["true_pass"], found["labels"]["true_fail"]) == (3, 20, 20)
    assert found["label_answers"] == {"passed": 1, "failed": 1, "total": 2}


@pytest.mark.drill
def test_the_same_answers_in_two_suites_are_the_same_answers(serve, command, tmp_path):
    server = serve(answer=lambda sent: score(5 if is_right(sent) else 1))
    for name in ("one", "two"):
        write(tmp_path / name, block(server), asking(TEXTS[:30]))  # 15 of them wrong
    command("run", ".", "-q")
    code, out, _ = command("judge", "audit", "--json")
    found = json.loads(out)
    assert (found["verdicts"], found["answers"], found["fact_answers"]["failed"]) == (60, 30, 15)
    assert (code, found["verdict"]) == (3, "needs calibration")


# The audit file


def test_an_audit_is_kept_only_beside_the_specs_of_its_answers(serve, command, tmp_path):
    server = serve(score(5))
    write(tmp_path / "x", block(server), asking(["right"]))
    without_rubric = {"query": "hi", "correctness": {"expected_in_answer": ["hi"]}}
    write(tmp_path / "y", block(server, "other"), [without_rubric])
    precious = '{"identity": "other", "verdict": "trustworthy"}'
    (tmp_path / "y" / "judge-audit.json").write_text(precious)
    command("run", ".", "-q")
    command("judge", "audit")
    assert (tmp_path / "x" / "judge-audit.json").exists()
    assert (tmp_path / "y" / "judge-audit.json").read_text() == precious


@pytest.mark.drill
def test_two_specs_in_one_folder_have_separate_audits(serve, command, tmp_path):
    server = serve(answer=lambda sent: score(5 if is_right(sent) else 1))
    for model in ("one", "two"):
        judge = block(server, model, require_audit=True)
        write(tmp_path, judge, asking(TEXTS), f"{model}.yaml")
    file = tmp_path / "judge-audit.json"
    for model in ("one", "two", "one"):
        command("run", f"{model}.yaml", "-q")
        code, _, err = command("judge", "audit")
        assert code == 0, err
    kept = json.loads(file.read_text())
    assert [one["judge"] for one in kept] == ["one", "two"]
    for model in ("one", "two"):
        command("run", f"{model}.yaml", "-q")
        _, out, _ = command("show", "latest", "--format", "json")
        statuses = {row["status"] for row in json.loads(out)["results"]}
        assert statuses == {"pass", "fail"}, model
    # Neither counts for a third judge.
    write(tmp_path, block(server, "three", require_audit=True), asking(["right"]), "three.yaml")
    code, out, _ = command("run", "three.yaml")
    assert (code, "is about one at" in out, "and two at" in out) == (3, True, True), out


@pytest.mark.parametrize("before", ["{", "[1]", '{"verdict": "trustworthy"}', '"text"'])
def test_a_file_without_a_valid_audit_is_replaced(serve, command, tmp_path, before):
    server = serve(score(5))
    write(tmp_path, block(server), asking(["right"]))
    command("run", "spec.yaml", "-q")
    (tmp_path / "judge-audit.json").write_text(before)
    command("judge", "audit")
    assert json.loads((tmp_path / "judge-audit.json").read_text())["judge"] == "m"
