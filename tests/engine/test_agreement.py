"""Command line, library, stored run, regrade and score come to the same verdicts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import trialrun
from trialrun import Trace, load_suite, read_traces, registry, write_traces
from trialrun.cli.main import main
from trialrun.engine.score import score
from trialrun.model.evidence import TIMINGS

ROOT = Path(trialrun.__file__).parent
WRITTEN = Path(__file__).parents[1] / "data" / "written_by_0_1" / "project"
LIVE = [
    ROOT / "demo" / "support.yaml",
    ROOT / "demo" / "rubrics.yaml",
    WRITTEN / "spec.yaml",
    *(
        pytest.param(WRITTEN / f"{name}.yaml", marks=pytest.mark.slow, id=name)
        for name in ("judged", "stricter", "two")
    ),
]


def verdict(status, error, layers):
    """Statuses only: durations differ from run to run, and so do messages that state them."""
    return status, bool(error), layers


def verdicts(run):
    """By library: the verdict of each attempt, and of each check in it."""
    return {
        (one.suite_name, one.agent, one.case_name, one.attempt): verdict(
            one.status.value,
            one.error,
            {
                name: [(check.name, check.status.value) for check in layer.checks]
                for name, layer in one.layers.items()
            },
        )
        for one in run.results
    }


def printed(capsys, *command):
    """By command: the same from its JSON report, and the exit code."""
    capsys.readouterr()
    code = main([*map(str, command), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    return code, {
        (row["suite"], row.get("agent"), row["case"], row["attempt"]): verdict(
            row["status"],
            row["error"],
            {
                name: [(check["name"], check["status"]) for check in layer["checks"]]
                for name, layer in row["layers"].items()
            },
        )
        for row in report["results"]
    }


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of a sample's folder, as the working folder."""

    def copy(spec):
        folder = tmp_path / "project"
        shutil.copytree(spec.parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.chdir(folder)
        return spec.name

    return copy


@pytest.mark.parametrize("spec", LIVE, ids=lambda one: one.stem)
def test_all_ways_to_run_a_suite_agree(spec, copied, capsys):
    name = copied(spec)
    trialrun.run(name)  # the agent of one sample gives another answer the first time
    library = trialrun.run(name, repeat=2)
    wanted, code = verdicts(library), library.exit_code()
    assert len(wanted) >= 2
    assert printed(capsys, "run", name, "--repeat", 2) == (code, wanted)
    stored = trialrun.run(name, repeat=2, store="library.db")
    assert (stored.exit_code(), verdicts(stored)) == (code, wanted)
    for store in (".trialrun/runs.db", "library.db"):
        assert printed(capsys, "show", "latest", "--store", store) == (code, wanted)
        assert printed(capsys, "regrade", "latest", "--store", store) == (code, wanted)


SCORED = [
    (ROOT / "demo" / "support.yaml", "traces.jsonl"),
    (ROOT / "scenarios" / "verification.yaml", "compliant.jsonl"),
    (ROOT / "scenarios" / "verification.yaml", "non-compliant.jsonl"),
]


@pytest.mark.parametrize(("spec", "traces"), SCORED, ids=lambda one: Path(one).stem)
def test_recorded_traces_are_judged_alike_by_score_evaluate_and_run(spec, traces, copied, capsys):
    name = copied(spec)
    code, wanted = printed(capsys, "score", name, traces)
    by_input = {trace.input.strip(): trace for trace in read_traces(traces)}
    by_input |= {trace.name: trace for trace in read_traces(traces) if trace.name}
    suite = load_suite(name)
    known = {
        case.name: by_input.get(case.name) or by_input[case.input.strip()] for case in suite.cases
    }
    for (_, _, case_name, _), verdict_ in wanted.items():
        case = next(case for case in suite.cases if case.name == case_name)
        one = trialrun.evaluate(case, known[case_name])
        assert verdict_[0] == one.status.value, case_name

    questions = {case.input: known[case.name] for case in suite.cases}

    def replay(question):
        return questions[question].to_dict()

    live = trialrun.run(suite, agent=replay)
    statuses = {key[2]: value[0] for key, value in wanted.items()}
    assert {one.case_name: one.status.value for one in live.results} == statuses
    assert live.exit_code() == code


EXAMPLES = [
    pytest.param(kind, example, id=f"{kind.key}-{number}")
    for kind in registry.all_checks()
    for number, example in enumerate(kind.examples)
    # A rubric needs a judge, `state` the functions that it names, others a baseline.
    if not kind.judged and kind.key != "state" and example.baseline() is None
]


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_every_example_of_a_check_has_one_verdict(kind, example, tmp_path):
    """In code, from a file by `score`, and from a live agent by `run`."""
    block = {"query": "question", kind.layer: example.block, **example.case}
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps({"queries": [block]}), encoding="utf-8")
    suite = load_suite(spec)
    trace = Trace.from_dict({**example.trace().to_dict(), "input": suite.cases[0].input})
    write_traces([trace], tmp_path / "t.jsonl")
    in_code = trialrun.evaluate(suite.cases[0], trace)
    (scored,) = score([suite], [tmp_path / "t.jsonl"]).results
    assert found_in(scored) == found_in(in_code)
    if TIMINGS not in kind.needs:  # a live run is timed by itself
        (live,) = trialrun.run(suite, agent=lambda question: trace.to_dict()).results
        assert found_in(live) == found_in(in_code)


def found_in(result):
    checks = [(check.name, check.status, check.message) for _, check in result.checks()]
    return result.status, result.error, checks
