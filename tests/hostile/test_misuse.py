"""Invalid command lines: one message, the right exit code, and no agent is called."""

from __future__ import annotations

import json
import os

import pytest

AGENT = """
def run(question):
    open("called.txt", "a", encoding="utf-8").write(question)
    return {"output": question, "steps": [{"type": "llm_call", "cost_usd": 1.0}]}
"""


@pytest.fixture
def project(bench):
    bench.write("agent.py", AGENT)
    bench.cases({"runner": "agent:run"}, {"one": "yes", "two": "no"})
    return bench


def was_called(bench):
    return (bench.folder / "called.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("-j 0", 2, "--jobs"),
        ("-j many", 2, "--jobs"),
        ("--timeout 0", 2, "--timeout"),
        ("--timeout -1", 2, "--timeout"),
        ("--timeout soon", 2, "--timeout"),
        ("--retries -1", 2, "--retries"),
        ("--rate 0/s", 2, "2/s or 60/m"),
        ("--rate 5", 2, "2/s or 60/m"),
        ("--rate nan/s", 2, "2/s or 60/m"),
        ("--rate -1/s", 2, "2/s or 60/m"),
        ("--max-cost -1", 2, "--max-cost"),
        ("--max-memory 1", 2, "--max-memory"),
        ("--repeat 0", 2, "--repeat"),
        ("--limit 0", 2, "--limit"),
        ("--min-pass-rate 2", 2, "--min-pass-rate"),
        ("--until-decided", 2, "--min-pass-rate"),
        ("--accept-changes", 2, "--resume"),
        ("--fail-on nonsense", 2, "flaky"),
        ("--format xml", 2, "junit"),
        ("--baseline nowhere", 2, "nowhere"),
        ("--prices nowhere.yaml", 2, "nowhere.yaml"),
        ("--agent nobody", 2, "nobody"),
        ("--failed", 2, "no run of spec.yaml"),
        ("--resume --limit 2", 2, "--limit"),
        ("--resume --tag smoke", 2, "--tag"),
        ("--resume --case one", 2, "--case"),
        ("--resume --failed", 2, "--failed"),
        ("--resume --repeat 3", 2, "--repeat"),
        ("--resume", 5, "no unfinished run to resume"),
        ("--case nothing", 5, "nothing"),
        ("--tag nothing", 5, "nothing"),
    ],
)
def test_invalid_options_of_run_are_refused(project, arguments, code, message):
    done = project.run("run", "spec.yaml", *arguments.split()).expect(code, message)
    assert done.out == ""
    assert not was_called(project)


@pytest.mark.parametrize("option", ["--timeout", "--max-cost", "--min-pass-rate"])
def test_nan_is_refused_as_a_limit(project, option):
    project.run("run", "spec.yaml", option, "nan").expect(2, option)
    assert not was_called(project)


def test_a_nan_pass_rate_never_makes_a_failed_run_pass(project):
    assert project.live("--min-pass-rate", "nan").code != 0


def test_a_memory_limit_above_any_integer_type_causes_no_traceback(project):
    done = project.live("--max-memory", "99999999999999")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("target", ["nowhere/report.json", "."])
def test_a_report_that_cannot_be_written_is_refused_before_an_agent_is_called(project, target):
    project.live("-o", target).expect(2, "cannot be written")
    assert not was_called(project)


def test_a_dry_run_of_a_resume_without_a_run_is_refused(project):
    project.run("run", "spec.yaml", "--resume", "--dry-run").expect(5, "no unfinished run")


def test_a_budget_used_up_by_the_last_case_stops_nothing(project):
    project.cases({"runner": "agent:run"}, {"one": "yes"})
    done = project.live("--max-cost", "1")
    assert "--resume" not in done.err


def test_an_invalid_store_address_is_answered_with_the_right_form(project):
    project.live("--store", "postgresql://a:b@@:x/").expect(2, "user:password@host")


def test_invalid_arguments_about_recorded_runs_are_refused(project):
    project.run("run", "spec.yaml", "-q").expect(1)
    for arguments, code, message in (
        ("show nothing", 2, "no run is 'nothing'"),
        ("show latest~99", 2, "goes back too far: 1 run is recorded"),
        ("show latest~99999999999", 2, "latest~1"),
        ("show latest nobody", 2, "no case `nobody`"),
        ("compare latest", 2, "the same run"),
        ("compare latest latest", 2, "the same run"),
        ("compare latest latest~0", 2, "the same run"),
        ("compare latest~1", 2, "goes back too far"),
        ("compare baseline", 2, "baseline save"),
        ("compare latest baseline", 2, "give the baseline first"),
        ("compare latest/nobody latest", 2, "nobody"),
        ("export -o x.txt", 2, ".jsonl or .parquet"),
        ("export -o nowhere/x.jsonl", 2, "nowhere/x.jsonl: cannot be written"),
        ("export nothing", 2, "no run is 'nothing'"),
        ("prune", 2, "--keep N, --older-than 30d"),
        ("prune --older-than 3", 2, "30d, 12h or 8w"),
        ("prune --older-than -3d", 2, "30d, 12h or 8w"),
        ("prune --keep -1", 2, "--keep"),
        ("prune --older-than 99999w", 0, "0 runs deleted"),
        ("regrade nothing", 2, "no run is 'nothing'"),
        ("regrade --spec nowhere.yaml", 2, "nowhere.yaml"),
        ("baseline save nothing", 2, "no run is 'nothing'"),
        ("baseline list", 2, "baseline save"),
        ("baseline show one", 2, "baseline save"),
        ("baseline diff", 2, "baseline save"),
        ("runs --limit 0", 2, "--limit"),
        ("runs --store nowhere.db", 2, "nowhere.db does not exist"),
        ("export --store nowhere.db", 2, "nowhere.db does not exist"),
    ):
        project.run(*arguments.split()).expect(code, message)
        assert len(json.loads(project.run("runs", "--json").out)) == 1, arguments


def test_runs_are_recorded_even_when_output_cannot_be_written(project):
    """A closed stream changes no recorded status and causes no traceback."""
    closed = {"preexec_fn": lambda: os.close(1), "stdout": None}
    done = project.spawn("run", "spec.yaml", **closed)
    assert done.code in (1, 2)
    assert "Traceback" not in done.err
    full = os.open("/dev/full", os.O_WRONLY)
    done = project.spawn("run", "spec.yaml", "--format", "json", stdout=full)
    os.close(full)
    done.expect(2, "stdout cannot be written")
    silent = {"preexec_fn": lambda: os.closerange(0, 3), "stdout": None, "stderr": None}
    assert project.spawn("run", "spec.yaml", **silent).code in (1, 2)
    listed = json.loads(project.run("runs", "--json").out)
    assert [run["state"] for run in listed] == ["finished"] * 3


@pytest.mark.process
def test_a_closed_stdout_is_reported_without_python_type_names(project):
    closed = {"preexec_fn": lambda: os.close(1), "stdout": None}
    assert "NoneType" not in project.spawn("run", "spec.yaml", **closed).err


@pytest.mark.process
def test_the_posix_locale_is_supported(project):
    project.cases({"runner": "agent:run"}, {"größer 🎉": "yes ✓"})
    plain = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    project.spawn("run", "spec.yaml", env=plain).expect(0, "1 passed")
    shown = project.spawn("show", "latest", "--format", "json", env=plain).expect(0)
    assert json.loads(shown.out)["results"][0]["case"] == "größer 🎉"


def test_a_missing_home_and_temporary_folder_are_tolerated(project):
    done = project.live(env={"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "TERM": ""})
    assert done.expect_complete(["one", "two"]).code == 1
