"""The command line: what it prints to which stream, and its exit codes."""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import jsonschema_rs
import pytest
import yaml

from tests.watchdog import WALL_SECONDS
from trialrun import Step, Trace, __version__, write_traces
from trialrun.cli.group import _COMMANDS
from trialrun.cli.main import main

SPEC = """\
queries:
  - {name: one, query: first?, tags: [a], correctness: {exact_match: "1"}}
  - {name: two, query: second?, path: {max_steps: 1}}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(SPEC)
    write_traces(
        [
            Trace(input="first?", output="1"),
            Trace(input="second?", output="x", steps=[Step.tool_call("a"), Step.tool_call("b")]),
        ],
        tmp_path / "t.jsonl",
    )
    return tmp_path


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"trialrun {__version__}\n"
    assert main(["--version", "--help"]) == 0


def test_the_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    assert version("trialrun") == __version__


def test_demo_shows_each_verdict(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    words = {line.split()[0] for line in out.splitlines() if line[0] != " "}
    assert words == {"PASS", "WARN", "FAIL", "ERROR", "✓", "1", "5"}


def test_the_copy_of_the_demo_has_the_runs_that_the_demo_judges(place, capsys):
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert main(["demo", "--copy", "demo"]) == 0
    said = capsys.readouterr().err
    assert "trialrun score demo/support.yaml demo/traces.jsonl" in said
    assert "trialrun run demo/support.yaml" in said
    assert main(["score", "demo/support.yaml", "demo/traces.jsonl"]) == 1
    assert capsys.readouterr().out == shown


def test_what_comes_next_works_when_typed(tmp_path, monkeypatch, capsys):
    program = tmp_path / "bin" / "trialrun"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for called, path, typed in (
        ("bin/trialrun", "/nowhere", "bin/trialrun"),  # as `make demo` does
        (str(program), str(program.parent), "trialrun"),  # as a shell does that finds it
        ("/elsewhere/trialrun", str(program.parent), "/elsewhere/trialrun"),
        ("/x/trialrun/__main__.py", "/nowhere", f"{sys.executable} -m trialrun"),
    ):
        monkeypatch.setattr(sys, "argv", [called, "demo"])
        monkeypatch.setenv("PATH", path)
        assert main(["demo"]) == 0
        assert capsys.readouterr().err.endswith(f"Next: {typed} init\n"), called


def test_init_writes_a_spec_that_is_valid_and_does_not_overwrite(place, capsys):
    assert main(["init"]) == 0
    assert main(["validate"]) == 0
    assert capsys.readouterr().out == "trialrun.yaml: ok: 2 cases, 22 checks\n"
    assert main(["init"]) == 2
    assert "already exists" in capsys.readouterr().err
    assert main(["init", "--force"]) == 0


def test_score_exit_codes(place, capsys):
    assert main(["score", "spec.yaml", "t.jsonl"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("2 cases: 1 passed, 1 warned")
    assert err == ""
    assert main(["score", "spec.yaml", "t.jsonl", "--strict"]) == 1
    assert main(["score", "spec.yaml"]) == 3
    assert main(["score", "spec.yaml", "t.jsonl", "--tag", "zzz"]) == 5
    assert main(["score", "none.yaml", "t.jsonl"]) == 2
    assert main(["score", "spec.yaml", "none.jsonl"]) == 2
    assert main(["score", "spec.yaml", "t.jsonl", "--baseline", "nowhere"]) == 2
    assert main(["score"]) == 2


def test_stdout_carries_only_the_report(place, capsys):
    write_traces([Trace(input="stray", output="1")], place / "stray.jsonl")
    main(["score", "spec.yaml", "t.jsonl", "stray.jsonl", "--format", "json"])
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["summary"]["planned"] == 2
    assert "warning: a trace belongs to no case" in err
    main(["score", "spec.yaml", "t.jsonl", "stray.jsonl", "--quiet"])
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), err) == (1, "")


@pytest.mark.parametrize(
    ("name", "start"), [("r.json", "{"), ("r.xml", "<?xml"), ("r.txt", "2 cases"), ("r.md", "## ")]
)
def test_the_ending_of_a_report_file_chooses_its_format(place, capsys, name, start):
    assert main(["score", "spec.yaml", "t.jsonl", "-o", name]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith("2 cases: 1 passed, 1 warned") and lines[1].startswith("WARN")
    assert lines[-1] == f"report written to {name}"
    assert (place / name).read_text().startswith(start)


def test_an_unwritable_report_is_an_error(place, capsys):
    assert main(["score", "spec.yaml", "t.jsonl", "-o", "no/such/folder.json"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_the_case_option_selects_one_case(place, capsys):
    assert main(["score", "spec.yaml", "t.jsonl", "--case", "two", "--format", "json"]) == 0
    assert [r["case"] for r in json.loads(capsys.readouterr().out)["results"]] == ["two"]


def test_validate_names_every_mistake_of_every_file(place, capsys):
    (place / "bad.yaml").write_text("queris: []\nagnet: x\n")
    assert main(["validate", "spec.yaml", "bad.yaml"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "error: bad.yaml:1:1: queris: unknown key; did you mean `queries`?",
        "error: bad.yaml:2:1: agnet: unknown key; did you mean `agent`?",
    ]


def test_validate_of_a_spec_without_cases(place, capsys):
    (place / "empty.yaml").write_text("agent: x\n")
    assert main(["validate", "empty.yaml"]) == 5
    assert "no cases" in capsys.readouterr().err


def test_checks_and_metrics_are_listed_in_full(capsys):
    from trialrun import registry

    main(["checks"])
    assert set(registry.names(registry.CHECKS)) <= set(capsys.readouterr().out.split())
    main(["metrics"])
    assert set(registry.names(registry.METRICS)) <= set(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", list(_COMMANDS))
def test_every_command_has_a_help(name, capsys):
    assert main([name, "--help"]) == 0
    assert f"Usage: trialrun {name}" in capsys.readouterr().out


def test_every_check_and_metric_can_be_explained(capsys):
    from trialrun import registry

    for name in {
        *registry.names(registry.CHECKS),
        *registry.names(registry.METRICS),
        "min_tool_recall",
        "normalize",
    }:
        assert main(["explain", name]) == 0
        assert len(capsys.readouterr().out) > 100
    main(["explain", "max_cost_multiplier"])
    assert "2.0 to 3.0" in capsys.readouterr().out
    assert main(["explain", "max_lops"]) == 2
    assert "did you mean `max_loops`?" in capsys.readouterr().err


def test_a_misspelt_command_gets_a_suggestion(capsys):
    assert main(["scroe"]) == 2
    assert "did you mean `score`?" in capsys.readouterr().err


def test_the_schema_agrees_with_the_validation_of_specs(capsys, place):
    from importlib.resources import files

    from trialrun.cli.init import TEMPLATE

    main(["schema"])
    schema = json.loads(capsys.readouterr().out)
    validator = jsonschema_rs.validator_for(schema)
    demo = (files("trialrun") / "demo" / "support.yaml").read_text()
    for text in (TEMPLATE, demo, SPEC):
        document = yaml.load(text, Loader=yaml.CSafeLoader)
        assert list(validator.iter_errors(document)) == []
    for wrong in (
        {"queris": []},
        {"queries": [{"query": "q", "path": {"max_tool_call": 1}}]},
        {"queries": [{"query": "q", "path": {"max_tool_calls": "1"}}]},
        {"queries": [{"query": "q", "path": {"max_tool_calls": {"value": 1, "severty": "x"}}}]},
        {"queries": [{"query": "q", "correctness": {"llm_judge": [{"threshold": 0.5}]}}]},
        {"metrics": ["step_cuont"]},
    ):
        assert not validator.is_valid(wrong), wrong
    for right in (
        {"queries": [{"query": "q", "path": {"max_tool_calls": {"value": 1, "severity": "warn"}}}]},
        {"queries": [{"query": "q", "path": None}]},
        {"defaults": {"path": {"max_loops": None}}},
        {"metrics": ["step_count", "mine.metrics:Own", {"name": "duration", "max": 5}]},
        {"queries": [{"turns": [{"query": "q", "cost": {"max_llm_calls": 3}}]}]},
    ):
        assert validator.is_valid(right), right


def test_a_pipe_that_breaks_inside_a_command_is_an_error(monkeypatch, capsys):
    """Not exit 0, as where the reader of stdout went away."""
    from trialrun.cli import validate

    def breaks(**given):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(validate.command, "callback", breaks)
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # click replaces both
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    assert main(["validate", "spec.yaml"]) == 3
    assert "a connection to another process broke" in capsys.readouterr().err


def test_a_closed_stdout_causes_no_traceback():
    command = [sys.executable, "-m", "trialrun", "checks"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait(timeout=WALL_SECONDS)


def test_colour_only_on_terminals_without_no_color_and_ci(monkeypatch):
    from trialrun.reports.views.consoles import wants_colour

    for name in ("NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    assert wants_colour(True) and not wants_colour(False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(True)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("CI", "true")
    assert not wants_colour(True)
