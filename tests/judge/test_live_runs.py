"""Judges in live runs: missing things are reported first, and spending is counted."""

from __future__ import annotations

import json
import sys

import pytest
import yaml

from tests.judge.servers import Reply, score
from tests.tiers import all_but_first
from trialrun.cli.main import main
from trialrun.store import open_store

PASSING = {"llm_judge": [{"rule": "kind", "threshold": 0.7}]}


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text("def run(question):\n    return question\n")

    def spec(judge, names=("a", "b", "c"), correctness=None, **top):
        queries = [
            {"name": name, "query": name, "correctness": correctness or PASSING} for name in names
        ]
        written = {"runner": "agent:run", "queries": queries, **top}
        if judge is not None:
            written["judge"] = judge
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(written))

    def run(*arguments):
        capsys.readouterr()
        code = main(
            ["run", "spec.yaml", "--format", "json", "--store", "runs.db", *map(str, arguments)]
        )
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else None, said.err

    run.spec = spec
    run.folder = tmp_path
    return run


def block(server, **given):
    return {"model": "openai:gpt-4o-mini", "base_url": f"{server.url}/v1", "timeout": 60, **given}


def test_a_second_run_of_the_same_suite_makes_no_call(project, serve):
    server = serve(score(5))
    project.spec(block(server))
    code, report, _ = project()
    assert (code, len(server.asked)) == (0, 3)
    spent = report["summary"]["judge"]
    assert spent == {"calls": 3, "cached": 0, "total_tokens": 3300, "cost_usd": 0.00063}
    assert report["summary"]["cost_usd"] is None  # the agent's cost, which it did not record
    code, report, _ = project()
    assert (code, len(server.asked)) == (0, 3)
    assert report["summary"]["judge"] == {
        "calls": 0,
        "cached": 3,
        "total_tokens": 0,
        "cost_usd": 0.0,
    }
    project("--no-judge-cache")
    assert len(server.asked) == 6


def test_repeats_are_never_served_from_the_cache(project, serve):
    server = serve(score(5))
    project.spec(block(server), names=["a"])
    project()
    project("--repeat", 3)
    assert len(server.asked) == 4


def test_every_verdict_is_in_the_report_and_on_record(project, serve, capsys):
    server = serve(score(4))
    project.spec(block(server), names=["a"])
    _, report, _ = project()
    (check,) = report["results"][0]["layers"]["correctness"]["checks"]
    (verdict,) = check["verdicts"]
    assert (verdict["rule"], verdict["score"], verdict["passed"]) == ("kind", 4.0, True)
    (vote,) = verdict["votes"]
    assert (vote["model"], vote["rationale"]) == ("openai:gpt-4o-mini", "it says so")
    main(["show", "latest", "--format", "json", "--store", "runs.db"])
    again = json.loads(capsys.readouterr().out)
    assert again["results"] == report["results"]


def test_a_judge_that_is_down_is_an_error_without_a_verdict(project, serve):
    server = serve(Reply(status=400))
    project.spec(block(server))
    code, report, _ = project()
    assert code == 3
    assert {row["status"] for row in report["results"]} == {"error"}
    message = report["results"][0]["layers"]["correctness"]["checks"][0]["message"]
    assert "the judge answered 400" in message


def test_a_flip_by_the_judge_has_the_judge_as_source(project, serve):
    """The same answer, another verdict."""
    server = serve(score(5), score(1), score(1))
    (project.folder / "agent.py").write_text(
        "def run(question):\n"
        "    return {'output': question, 'steps': [], 'recorded': ['tool_calls']}\n"
    )
    project.spec(block(server), names=["a"])
    _, report, _ = project("--repeat", 2, "-j", 1)
    (case,) = report["stability"]
    assert [flip["source"] for flip in case["flips"]] == ["judge"]


def test_what_the_judge_costs_counts_towards_the_budget(project, serve):
    server = serve(score(5))
    (project.folder / "agent.py").write_text(
        "def run(question):\n"
        "    return {'output': question, 'steps': [], 'recorded': ['tokens', 'costs']}\n"
    )
    project.spec(block(server), names=list("abcdef"))
    code, _, err = project("--max-cost", 0.0004, "-j", 1)
    assert code == 3
    assert "--max-cost: $0.00042 of $0.0004 are spent" in err
    assert len(server.asked) == 2
    unpriced = block(server, model="openai:unknown-model")
    project.spec(unpriced, names=list("abc"))
    _, _, err = project("--max-cost", 1, "-j", 1)
    assert "the cost of the judge of a is unknown" in err


# Missing things are reported before the first case runs


def refused(project):
    code, report, err = project()
    assert (code, report) == (2, None)
    assert "Traceback" not in err
    with open_store(str(project.folder / "runs.db")) as store:  # an empty run is not recorded
        assert store.runs() == []
    return err


@pytest.mark.parametrize(
    ("variable", "model"),
    all_but_first(
        pytest.mark.provider,
        [
            ("OPENAI_API_KEY", "openai:gpt-4o-mini"),
            ("ANTHROPIC_API_KEY", "anthropic:claude-haiku-4-5"),
            ("GOOGLE_API_KEY", "google:gemini-2.5-flash"),
        ],
    ),
)
def test_a_missing_key_is_named(project, monkeypatch, variable, model):
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv(variable, raising=False)
    project.spec({"model": model})
    err = refused(project)
    assert model in err
    assert variable in err
    assert "Agent('test')" not in err  # advice for those who call the library in code


def test_a_missing_package_is_named(project, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.setitem(sys.modules, "pydantic_ai.exceptions", None)
    project.spec({"model": "openai:gpt-4o-mini"})
    assert "pip install '.[judge]'" in refused(project)


@pytest.mark.parametrize("model", ["opnai:gpt-4o", "gpt-4o", "unknown:x"])
def test_an_unknown_provider_is_refused(project, model):
    project.spec({"model": model})
    assert f"the judge {model} cannot be used" in refused(project)


def test_a_model_name_as_function_gets_advice(project):
    project.spec("openai:gpt-4o-mini")
    assert "write judge: {model: 'openai:gpt-4o-mini'}" in refused(project)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("own_judges:missing", "missing"),
        ("nowhere:judge", "nowhere"),
        ("own_judges:NUMBER", "not a function"),
    ],
)
def test_invalid_judge_functions_are_refused(project, judge, said, monkeypatch):
    (project.folder / "own_judges.py").write_text("NUMBER = 5\n")
    monkeypatch.delitem(sys.modules, "own_judges", raising=False)
    monkeypatch.setattr(sys, "path", [part for part in sys.path if "pytest" not in part])
    project.spec(judge)
    assert said in refused(project)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ({"modle": "x"}, "did you mean"),
        ({"model": "x", "samples": 0}, "samples"),
        ({"model": "x", "temperature": 3}, "temperature"),
        ({"model": "x", "api_key": "sk-1"}, "unknown key"),
        ({"model": "x", "timeout": 0}, "timeout"),
        ({"models": []}, "models"),
        ({"model": "x", "models": ["y"]}, "either `model` or `models`"),
    ],
)
def test_invalid_judge_blocks_are_refused(project, judge, said):
    project.spec(judge)
    assert said in refused(project)


def test_a_missing_context_file_is_refused(project):
    rubric = {"llm_judge": [{"rule": "r", "context_file": "facts.md"}]}
    project.spec({"model": "m", "base_url": "http://127.0.0.1:1/v1"}, correctness=rubric)
    err = refused(project)
    assert "spec.yaml:" in err
    assert "facts.md cannot be read: No such file" in err


def test_rubrics_without_a_judge_stop_the_run(project):
    project.spec(None)
    code, _, err = project()
    assert code == 2
    assert "the spec has rubrics and names no judge" in err


def test_recorded_traces_are_judged_concurrently(project, serve, capsys):
    server = serve(Reply('{"rationale": "", "score": 5}', delay=1))
    names = [f"case-{number}" for number in range(20)]
    project.spec(block(server, max_concurrency=10), names=names)
    traces = "".join(
        json.dumps({"name": name, "input": name, "output": "fine"}) + "\n" for name in names
    )
    (project.folder / "traces.jsonl").write_text(traces)
    assert main(["score", "spec.yaml", "traces.jsonl", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["case"] for row in report["results"]] == names
    assert server.most_at_once == 10


def test_a_changed_judge_or_context_is_refused_by_resume(project, serve):
    """`--resume` refuses verdicts that were given by another judge or with another context."""
    server = serve(score(5))
    rubric = {"llm_judge": [{"rule": "r", "context_file": "facts.md"}]}
    (project.folder / "facts.md").write_text("one")
    (project.folder / "agent.py").write_text(
        "def run(question):\n    assert question != 'b'\n    return question\n"
    )
    project.spec(block(server), names=["a", "b", "c"], correctness=rubric)
    project("--fail-fast", "-j", 1)
    (project.folder / "facts.md").write_text("two")
    code, _, err = project("--resume")
    assert (code, "finished cases were changed" in err) == (2, True), err
