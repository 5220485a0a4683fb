"""Run, score and regrade give the same verdicts for the same answers and spec."""

from __future__ import annotations

import json
import sys

import pytest
import yaml

from tests.judge.servers import VERDICT, Reply, score
from trialrun.cli.main import main

RUBRIC = {"llm_judge": [{"rule": "kind", "threshold": 0.7}]}


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [part for part in sys.path if "pytest" not in part])
    monkeypatch.delenv("ANTHROPIC_API_KEY")  # makes its models unusable
    (tmp_path / "agent.py").write_text("def run(question):\n    return question\n")

    def spec(server, queries, **judge):
        block = {"model": "m", "base_url": f"{server.url}/v1", "timeout": 60, **judge}
        written = {"runner": "agent:run", "judge": block, "queries": queries}
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(written))

    def traces(*texts, name=None):
        lines = [
            {"input": text, "output": text} | ({"name": name} if name else {}) for text in texts
        ]
        (tmp_path / "traces.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    def report(*arguments):
        code, out, err = run(*arguments, "--format", "json")
        assert out, err
        rows = json.loads(out)["results"]
        return code, {row["case"]: row for row in rows}

    run.spec, run.traces, run.report, run.folder = spec, traces, report, tmp_path
    return run


# The cache


def test_attempts_at_a_case_are_not_served_from_the_cache(project, serve):
    """Otherwise all attempts would get the last verdict, and the second run would pass."""
    server = serve(score(5), score(1), score(5))
    project.spec(server, [{"name": "a", "query": "q", "correctness": RUBRIC}], max_concurrency=1)
    project.traces("q", "q", "q", name="a")
    assert project("score", "spec.yaml", "traces.jsonl")[0] == 1
    server.script = [score(5), score(1), score(5)]
    assert project("score", "spec.yaml", "traces.jsonl")[0] == 1
    assert len(server.asked) == 6


def test_a_case_with_one_attempt_is_served_from_the_cache(project, serve):
    server = serve(score(5))
    queries = [{"name": name, "query": name, "correctness": RUBRIC} for name in ("a", "b")]
    project.spec(server, queries)
    project.traces("a", "b", "b")
    project("score", "spec.yaml", "traces.jsonl")
    project("score", "spec.yaml", "traces.jsonl")
    assert len(server.asked) == 3 + 2


@pytest.mark.parametrize("command", ["run", "score"])
def test_concurrent_cases_with_the_same_question_share_one_verdict(project, serve, command):
    """Otherwise one passes and one fails, and with the cache both pass the next time."""
    replies = iter([Reply(VERDICT % 1, delay=0.3)])
    server = serve(answer=lambda sent: next(replies, score(5)))
    queries = [{"name": name, "query": "same", "correctness": RUBRIC} for name in "abcd"]
    project.spec(server, queries)
    project.traces("same")
    arguments = {"run": ["run", "spec.yaml"], "score": ["score", "spec.yaml", "traces.jsonl"]}
    for _ in range(2):
        code, rows = project.report(*arguments[command])
        assert (code, {row["status"] for row in rows.values()}) == (1, {"fail"})
        assert len(server.asked) == 1


def test_a_failure_is_shared_by_all_waiting_cases(project, serve):
    """Otherwise each case would wait for all the retries of the cases before it."""
    server = serve(Reply(status=400, delay=0.2))
    queries = [{"name": name, "query": "same", "correctness": RUBRIC} for name in "abcd"]
    project.spec(server, queries)
    project.traces("same")
    code, rows = project.report("score", "spec.yaml", "traces.jsonl")
    assert (code, {row["status"] for row in rows.values()}) == (3, {"error"})
    assert len(server.asked) == 1
    assert sorted(row["judge"]["calls"] for row in rows.values()) == [0, 0, 0, 1]
    project("score", "spec.yaml", "traces.jsonl")
    assert len(server.asked) == 2  # it is not cached


# Rubrics after a long table

ROWS = 210


@pytest.fixture
def long(project):
    """A spec whose first 210 cases are in a table."""
    (project.folder / "rows.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(ROWS)))
    project.traces(*(f"q {n}" for n in range(ROWS)), "hi")

    def spec(server, in_table, last):
        table = {"name": "t-{{n}}", "query": "q {{n}}", "cases_from": "rows.csv"}
        queries = [table | {"correctness": in_table}, {"name": "z", "query": "hi"} | last]
        project.spec(server, queries)

    return spec


FREE = {"expected_in_answer": ["{{n}}"]}


def test_a_rubric_late_in_a_table_is_judged_in_every_command(project, long, serve):
    server = serve(score(1))
    long(server, FREE, {"correctness": {"llm_judge": [{"rule": "r"}]}})
    for arguments in (["score", "spec.yaml", "traces.jsonl"], ["run", "spec.yaml"], ["regrade"]):
        code, rows = project.report(*arguments, "--no-judge-cache")
        assert (code, rows["z"]["status"], len(rows)) == (1, "fail", ROWS + 1), arguments
    assert len(server.asked) == 3


UNUSABLE = {"correctness": {"llm_judge": [{"rule": "r", "model": "anthropic:x"}]}}


def test_an_unusable_model_is_reported_before_any_call(project, long, serve):
    server = serve(score(5))
    long(server, {"llm_judge": [{"rule": "r {{n}}"}]}, UNUSABLE)
    code, out, err = project("score", "spec.yaml", "traces.jsonl")
    assert (code, out, server.asked) == (2, "", [])
    assert "the judge anthropic:x cannot be used" in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_late_in_a_table_an_unusable_model_is_an_error_of_its_case(project, long, serve):
    server = serve(score(5))
    long(server, {"llm_judge": [{"rule": "r {{n}}"}]}, UNUSABLE)
    for arguments in (["run", "spec.yaml"], ["regrade"]):
        code, rows = project.report(*arguments)
        assert (code, rows["z"]["status"], rows["t-0"]["status"]) == (3, "error", "pass")
        assert "anthropic:x cannot be used" in rows["z"]["error"]


def test_a_regrade_that_cannot_begin_leaves_no_run(project, serve):
    server = serve(score(5))
    case = {"name": "a", "query": "q", "correctness": RUBRIC}
    project.spec(server, [case])
    project("run", "spec.yaml")
    project.spec(server, [case | UNUSABLE])
    code, _, err = project("regrade")
    assert (code, "anthropic:x cannot be used" in err) == (2, True), err
    _, out, _ = project("runs", "--json")
    assert len(json.loads(out)) == 1
