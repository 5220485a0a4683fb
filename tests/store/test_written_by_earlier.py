"""Stores, baselines, reports and judge files that trialrun 0.1 wrote are still read.

The files are in tests/data/written_by_0_1, with a README that says how they were made. What is
expected here follows from the example project: which answer its agent gives to which case.
"""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from trialrun.cli.main import main
from trialrun.store import open_store

WRITTEN = Path(__file__).parent.parent / "data" / "written_by_0_1"
MADE_IN = "/srv/example/shop"
DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]

# The runs, from the newest to the oldest.
DAMAGED, BY_MODEL, JUDGED, REGRADED, KILLED, STOPPED, FINISHED = (
    f"latest~{back}" if back else "latest" for back in range(7)
)
STRANGE = 'C:\\temp "50%" \N{GRINNING FACE}'
CASES = ["refund", "hours", "delivery", "crash", "coin", STRANGE]


class Example:
    """The example project in a new folder, with a store that an earlier version wrote."""

    def __init__(self, folder, location, capsys):
        self.folder = folder
        self.location = location
        self._capsys = capsys

    def command(self, *arguments):
        """The exit code, stdout and stderr of a command."""
        self._capsys.readouterr()
        code = main([*arguments])
        printed = self._capsys.readouterr()
        return code, printed.out, printed.err

    def report(self, *arguments, code=0):
        """What a command printed as JSON."""
        found, out, err = self.command(*arguments)
        assert found == code, out + err
        return json.loads(out)

    def statuses(self, report):
        """The statuses of each case's attempts."""
        found = {}
        for result in report["results"]:
            found.setdefault(result["case"], []).append(result["status"])
        return found

    @property
    def asked(self):
        file = self.folder / "asked.txt"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def copy_example(tmp_path, monkeypatch, capsys, request):
    """Returns a function that copies the example project and one of its stores to a new folder."""
    folder = tmp_path / "shop"
    shutil.copytree(WRITTEN / "project", folder)
    shutil.copytree(WRITTEN / "verdicts", folder / "verdicts")
    for name in ("judge-audit.json", "labels.jsonl"):
        shutil.copy(WRITTEN / name, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.setenv("TRIALRUN_JUDGE_CACHE", str(folder / "verdicts"))
    for module in ("shop_agent", "shop_judge"):
        monkeypatch.delitem(sys.modules, module, raising=False)

    def example(database, name):
        if database == "sqlite":
            location = str(folder / "runs.db")
            shutil.copy(WRITTEN / f"{name}.db", location)
            with closing(sqlite3.connect(location)) as connection, connection:
                change = "UPDATE trialrun_runs SET spec_key = replace(spec_key, ?, ?)"
                connection.execute(change, (MADE_IN, str(folder)))
        else:
            location = request.getfixturevalue("postgres_url")
            dump = (WRITTEN / f"{name}.sql").read_text(encoding="utf-8")
            with psycopg.connect(location) as connection:
                connection.execute(dump.replace(MADE_IN, str(folder)))
        monkeypatch.setenv("TRIALRUN_STORE", location)
        return Example(folder, location, capsys)

    return example


@pytest.fixture(params=DATABASES)
def example(request, copy_example):
    return copy_example(request.param, "runs")


@pytest.fixture(params=DATABASES)
def first_revision(request, copy_example):
    """A store of the first schema, with a stopped run and a killed run."""
    return copy_example(request.param, "runs-0001")


def test_runs_are_listed(example):
    rows = example.report("runs", "--json")
    listed = [(row["spec"], row["kind"], row["state"], row["planned"]) for row in rows]
    assert listed == [
        ("stricter.yaml", "run", "finished", 2),
        ("asked_model.yaml", "run", "finished", 1),
        ("judged.yaml", "run", "finished", 2),
        ("stricter.yaml", "regrade", "finished", 6),
        ("two.yaml", "run", "cut off", 6),
        ("spec.yaml", "run", "stopped", 6),
        ("spec.yaml", "run", "finished", 6),
    ]
    assert [row["repeat"] for row in rows] == [1, 1, 1, 3, 1, 1, 3]
    assert [row["attempts"] for row in rows] == [
        {"fail": 1, "pass": 1},
        {"pass": 1},
        {"pass": 1, "fail": 1},
        {"pass": 3, "fail": 3, "error": 12},
        {"pass": 1},
        {"pass": 1, "fail": 1},
        {"pass": 8, "warn": 3, "fail": 4, "error": 3},
    ]
    assert rows[3]["source"] == rows[6]["id"]
    assert [row["source"] for row in rows if row["kind"] == "run"] == [None] * 6
    assert rows[4]["finished_at"] is None
    assert all(row["created_at"].startswith("2026-11-18T02:3") for row in rows)
    assert len(example.report("runs", "spec.yaml", "--json")) == 2


def test_every_record_can_be_read(example):
    with open_store(create=False) as store:
        run = store.find_run(FINISHED)
        assert run.trialrun == "0.1.0"
        assert run.settings["jobs"] == 1
        assert run.created_at.tzinfo is UTC
        assert datetime(2026, 11, 18, 2, 33, tzinfo=UTC) < run.created_at < run.finished_at
        plan = list(store.plan(run.id))
        assert [case.case for case in plan] == CASES
        assert {(case.suite, case.agent) for case in plan} == {("spec", "shop")}
        assert plan[0].tags == ("quick", "money")
        assert store.recorded(run.id) == {
            0: [(1, "pass"), (2, "pass"), (3, "pass")],
            1: [(1, "fail"), (2, "fail"), (3, "fail")],
            2: [(1, "warn"), (2, "warn"), (3, "warn")],
            3: [(1, "error"), (2, "error"), (3, "error")],
            4: [(1, "fail"), (2, "pass"), (3, "pass")],
            5: [(1, "pass"), (2, "pass"), (3, "pass")],
        }
        attempts = list(store.attempts(run.id))
        assert len(attempts) == 18
        for made in attempts:
            if made.position == 3:
                assert made.trace.error == "RuntimeError: the order service is down"
                assert "Traceback" in made.trace.metadata["printed"]
                continue
            assert (made.result.cost_usd, made.result.total_tokens) == (0.25, 120)
            assert [step.type for step in made.trace.steps] == ["tool_call", "llm_call"]
            arguments = made.trace.steps[0].tool_args
            assert math.isinf(arguments["limit"])
            assert arguments["half"] == "\\ud83d"  # escaped between the agent and the run
            assert made.trace.steps[0].tool_result == ["30 days", None]
        assert attempts[-1].trace.output == "It is in C:\\temp, 50% of it \N{GRINNING FACE}"
        assert {len(asked) for asked in store.fingerprints(run.id).values()} == {1}
        costs = store.costs(run.spec_key)
        assert costs["spec", "shop", "refund"] == [0.25] * 4  # one in the stopped run


def test_a_damaged_record_of_an_earlier_version_is_named(example):
    code, out, _ = example.command("show", DAMAGED, "--format", "json")
    report = json.loads(out)
    assert example.statuses(report) == {"refund": ["fail"], "hours": ["error"]}
    assert code == 1
    assert "case 'hours', attempt 1 is damaged" in report["results"][1]["error"]


def test_a_run_is_shown_as_in_the_report_of_that_version(copy_example):
    """Fields may be added to a report; every earlier field is still there with the same value."""
    example = copy_example("sqlite", "runs")
    before = json.loads((WRITTEN / "report.json").read_text(encoding="utf-8"))
    now = example.report("show", before["run"], "--format", "json", code=1)
    assert example.statuses(before) == {
        "refund": ["pass"] * 3,
        "hours": ["fail"] * 3,
        "delivery": ["warn"] * 3,
        "crash": ["error"] * 3,
        "coin": ["fail", "pass", "pass"],
        STRANGE: ["pass"] * 3,
    }
    for report in (before, now):
        report.pop("trialrun")
    assert missing(before, now) == []


def missing(before, now, place=""):
    """The places where a value of the first report is not in the second."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            one
            for key, value in before.items()
            for one in missing(value, now.get(key, "nothing"), f"{place}.{key}")
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [
            one
            for number, pair in enumerate(zip(before, now, strict=True))
            for one in missing(*pair, f"{place}[{number}]")
        ]
    return [] if before == now else [place]


def test_the_junit_reports_of_that_version_and_of_this_one_name_the_same_cases(copy_example):
    from junitparser import JUnitXml

    example = copy_example("sqlite", "runs")
    run = json.loads((WRITTEN / "report.json").read_text(encoding="utf-8"))["run"]
    assert example.command("show", run, "-o", "now.xml", "-q")[0] == 1

    def rows(path):
        return [
            (case.classname, case.name, [type(one).__name__ for one in case.result])
            for suite in JUnitXml.fromfile(str(path))
            for case in suite
        ]

    before = rows(WRITTEN / "report.xml")
    assert rows(example.folder / "now.xml") == before
    outcomes = [kind for *_, results in before for kind in results]
    assert (len(before), outcomes.count("Failure"), outcomes.count("Error")) == (18, 4, 3)


def test_runs_can_be_compared(example):
    found = example.report("compare", FINISHED, REGRADED, "--json")
    # The stricter spec expects 14 days (refund was right before) and ten (hours was wrong): 3 each.
    counts = ("compared", "broke", "fixed", "pairs", "pairs_broke", "pairs_fixed")
    assert [found[name] for name in counts] == [2, 1, 1, 6, 3, 3]
    assert found["test"]["p_two_sided"] == 1.0
    cost = next(one for one in found["measures"] if one["name"] == "cost_usd")
    assert (cost["before"], cost["after"]) == (0.25, 0.25)


def test_a_stopped_run_can_be_resumed(example):
    report = example.report(
        "run", "spec.yaml", "--resume", "-j", "1", "--retries", "0", "--format", "json", code=1
    )
    assert example.asked == ["delivery", "crash", "coin", "path"]
    assert example.statuses(report) == {
        "refund": ["pass"],
        "hours": ["fail"],
        "delivery": ["warn"],
        "crash": ["error"],
        "coin": ["fail"],  # the first answer of the agent is tails
        STRANGE: ["pass"],
    }
    rows = example.report("runs", "--json")
    assert (len(rows), rows[5]["state"]) == (7, "finished")


def test_a_killed_run_can_be_resumed(example):
    report = example.report("run", "two.yaml", "--resume", "-j", "1", "--format", "json")
    assert sorted(example.asked) == ["delivery", "delivery", "refund", "wait", "wait"]
    assert example.statuses(report) == {
        "refund": ["pass"] * 2,
        "wait": ["pass"] * 2,
        "delivery": ["pass"] * 2,
    }
    compared = example.report("compare", f"{KILLED}/small", f"{KILLED}/large", "--json")
    cost = next(one for one in compared["measures"] if one["name"] == "cost_usd")
    assert (cost["before"], cost["after"]) == (0.25, 0.5)


def test_a_run_can_be_regraded(example):
    report = example.report("regrade", FINISHED, "--format", "json", code=1)
    assert example.statuses(report) == {
        "refund": ["pass"] * 3,
        "hours": ["fail"] * 3,
        "delivery": ["warn"] * 3,
        "crash": ["error"] * 3,
        "coin": ["fail", "pass", "pass"],
        STRANGE: ["pass"] * 3,
    }
    assert example.asked == []
    compared = example.report("compare", "latest~7", "latest", "--json")
    assert (compared["broke"], compared["fixed"]) == (0, 0)


def test_runs_can_be_added_and_deleted(example):
    example.report("run", "stricter.yaml", "-j", "1", "--format", "json", code=1)
    assert len(example.report("runs", "--json")) == 8
    code, out, err = example.command("prune", "--keep", "2")
    assert code == 0, out + err
    rows = example.report("runs", "--json")
    # The runs that are not finished are kept: they may be resumed.
    kept = [row["spec"] for row in rows if row["state"] == "finished"]
    assert kept == ["stricter.yaml", "stricter.yaml"]


def test_saved_baselines_can_be_used(copy_example):
    example = copy_example("sqlite", "runs")
    # Only in this test: a run is not resumed if the baseline of a finished case has changed.
    shutil.copytree(WRITTEN / "baselines", example.folder / "baselines")
    code, listed, _ = example.command("baseline", "list")
    assert code == 0
    for name in ("refund", "delivery", "coin"):
        assert f"baselines/spec/{name}.json" in listed
    found = example.report("compare", "baseline", FINISHED, "--json")
    # Of the four baselines only `coin` differs: it was saved from a pass, and failed at first.
    assert [found[name] for name in ("compared", "broke", "fixed")] == [4, 1, 0]
    # Saved again, they have all passing repeats and the rules for arguments; then nothing changes.
    code, out, err = example.command("baseline", "save", FINISHED)
    assert (code, "4 baselines written" in out + err) == (0, True)
    files = {file: file.read_bytes() for file in (example.folder / "baselines").rglob("*.json")}
    code, out, err = example.command("baseline", "save", FINISHED)
    assert (code, len(files)) == (0, 4)
    assert "0 baselines written, 4 unchanged" in out + err
    assert {file: file.read_bytes() for file in files} == files


def test_the_audit_and_the_labels_of_a_judge_can_be_read(copy_example):
    from trialrun.judge.audits import read_audits

    example = copy_example("sqlite", "runs")
    (audit,) = read_audits(example.folder / "judge-audit.json")
    assert (audit["answers"], audit["verdicts"], audit["identity"]) == (2, 2, "shop_judge:judge")
    assert audit["facts"] == {"true_pass": 1, "true_fail": 1, "false_pass": 0, "false_fail": 0}
    found = example.report("judge", "audit", JUDGED, "--labels", "labels.jsonl", "--json", code=3)
    # The judge passes `30 days`, which was labelled pass, and fails `ten`, which was labelled fail.
    assert found["labels"] == {"true_pass": 1, "true_fail": 1, "false_pass": 0, "false_fail": 0}


def test_a_cached_verdict_of_a_model_is_reused(copy_example):
    """The address of that model is unreachable: without the cache file there is no verdict."""
    example = copy_example("sqlite", "runs")
    report = example.report("regrade", BY_MODEL, "--format", "json")
    assert example.statuses(report) == {"refund": ["pass"]}
    assert report["summary"]["judge"]["cached"] == 1


def test_a_store_of_the_first_schema_is_migrated(first_revision):
    rows = first_revision.report("runs", "--json")
    assert [(row["spec"], row["kind"], row["source"], row["state"]) for row in rows] == [
        ("two.yaml", "run", None, "cut off"),
        ("spec.yaml", "run", None, "stopped"),
    ]
    assert [row["attempts"] for row in rows] == [{"pass": 1}, {"pass": 1, "fail": 1}]
    report = first_revision.report("regrade", "latest~1", "--format", "json", code=1)
    assert first_revision.statuses(report)["refund"] == ["pass"]
    assert first_revision.report("runs", "--json")[0]["kind"] == "regrade"
    first_revision.report("run", "two.yaml", "--resume", "-j", "1", "--format", "json")
