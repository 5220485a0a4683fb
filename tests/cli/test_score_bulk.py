"""`trialrun score` on many traces: rows, sums, samples, shards, a store."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.engine.bulk.conftest import OTHER, SPEC, answer, pool
from trialrun import write_traces
from trialrun.cli.main import main
from trialrun.engine.bulk import chunks


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "spec.yaml").write_text(SPEC.replace(", trace: third.json", ""))
    (tmp_path / "specs" / "other.yaml").write_text(OTHER)
    write_traces([*pool(), answer("3", 900, input="third?")], tmp_path / "t.jsonl")
    monkeypatch.setattr(chunks, "SMALLEST", 5000)  # so that these few traces are several chunks
    return tmp_path


def rows(file):
    return [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]


def test_rows_and_what_is_said(place, capfd):
    assert main(["score", "specs", "t.jsonl", "-o", "rows.jsonl", "-j", "2"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "FAIL  other · five" in err and "PASS" not in err  # only what is not green is shown
    assert "6 cases, 123 attempts: 111 passed, 10 failed, 2 in error" in err
    assert "123 rows written to rows.jsonl" in err
    assert len(rows("rows.jsonl")) == 123
    assert sorted(one.name for one in place.iterdir()) == ["rows.jsonl", "specs", "t.jsonl"]


def test_jobs_change_nothing(place):
    for jobs in "12":
        main(["score", "specs", "t.jsonl", "-q", "-o", f"{jobs}.jsonl", "-j", jobs])
    assert (place / "1.jsonl").read_bytes() == (place / "2.jsonl").read_bytes()


def test_reports_are_those_of_all_results_in_the_order_of_the_cases(place, capfd):
    main(["score", "specs", "t.jsonl", "-q", "--format", "json", "-j", "1"])
    split = json.loads(capfd.readouterr().out)
    chunks.SMALLEST = 10**9
    main(["score", "specs", "t.jsonl", "-q", "--format", "json", "-j", "1"])
    assert split == json.loads(capfd.readouterr().out)
    assert len(split["results"]) == 123


def test_sums_by_model_day_and_tag(place, capfd):
    main(["score", "specs", "t.jsonl", "-q", "--by", "model", "--by", "day", "--by", "tag"])
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert ["model-0", "61", "51", "0", "10", "0", "$15.25"] in lines
    # One of them is not comparable: its cost is not one of the case.
    assert ["model-1", "61", "60", "0", "0", "1", "at", "least", "$15.00"] in lines
    assert [line[0] for line in lines if line and line[0].startswith("2026")] == [
        "2026-07-01",
        "2026-07-02",
        "2026-07-03",
    ]
    assert ["a", "41", "40", "0", "0", "1", "at", "least", "$10.00"] in lines


def test_a_sample_is_said(place, capfd):
    assert main(["score", "specs", "t.jsonl", "--sample", "0.2", "-o", "rows.jsonl"]) in (1, 3)
    err = capfd.readouterr().err
    assert "traces are not in the sample" in err
    assert 10 < len(rows("rows.jsonl")) < 50


def test_shards_in_one_folder_and_their_merge(place, capfd):
    main(["score", "specs", "t.jsonl", "-q", "-o", "whole.jsonl"])
    for shard in ("1/2", "2/2"):
        assert main(["score", "specs", "t.jsonl", "-o", "rows.jsonl", "--shard", shard]) == 0
    assert "when all shards are, put them together with --merge" in capfd.readouterr().err
    assert not (place / "rows.jsonl").exists()
    (place / "t.jsonl").unlink()
    assert main(["score", "specs", "rows.jsonl.parts", "--merge", "-o", "rows.jsonl"]) == 1
    assert (place / "rows.jsonl").read_bytes() == (place / "whole.jsonl").read_bytes()


def test_a_missing_shard_ends_with_3_and_the_same_twice_with_2(place, capfd):
    main(["score", "specs", "t.jsonl", "-q", "-o", "a.jsonl", "--shard", "1/2"])
    main(["score", "specs", "t.jsonl", "-q", "-o", "b.jsonl", "--shard", "1/2"])
    capfd.readouterr()
    assert main(["score", "specs", "a.jsonl.parts", "--merge", "-o", "rows.jsonl"]) == 3
    assert "they are of --shard 2/2" in capfd.readouterr().err
    both = ["a.jsonl.parts", "b.jsonl.parts"]
    assert main(["score", "specs", *both, "--merge", "-o", "rows.jsonl"]) == 2
    assert "is there twice" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--resume"], "--resume needs `-o FILE` that ends in .jsonl or .parquet"),
        (["--shard", "1/2", "-o", "x.json"], "--shard needs `-o FILE`"),
        (["--shard", "3/2", "-o", "x.jsonl"], "3/2"),
        (["--shard", "0/2", "-o", "x.jsonl"], "0/2"),
        (["--merge", "-o", "x.jsonl", "--resume"], "leave out what judges"),
        (["--scheduler", "tcp://h:1"], "--scheduler is for --engine dask"),
        (["-o", "x.jsonl", "--format", "json"], "leave out --format json"),
        (["--sample", "0"], "0"),
        (["-o", "nowhere/x.jsonl"], "there is no folder nowhere"),
        (["-o", "specs.jsonl/x.jsonl"], "there is no folder"),
    ],
)
def test_options_that_do_not_go_together(place, capfd, options, error):
    assert main(["score", "specs", "t.jsonl", *options]) == 2
    assert error in capfd.readouterr().err
    assert not (place / "x.jsonl.parts").exists()


def test_a_folder_of_parts_that_is_none(place, capfd):
    (place / "empty").mkdir()
    assert main(["score", "specs", "empty", "--merge", "-o", "x.jsonl"]) == 2
    assert "empty: no parts here: expected a folder that has job.json" in capfd.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder(place, capfd):
    (place / "out").mkdir(mode=0o500)
    assert main(["score", "specs", "t.jsonl", "-o", "out/x.jsonl"]) == 2
    assert "cannot be written" in capfd.readouterr().err


def test_a_full_disk(place, capfd, monkeypatch):
    """Every write of a part fails as /dev/full does; nothing is left that looks finished."""
    from trialrun.engine.bulk import folder

    replacing = folder._replacing

    def full(target):
        if target.suffix == ".jsonl":
            (target.parent / f".part-{os.getpid()}-{target.name}").symlink_to("/dev/full")
        return replacing(target)

    monkeypatch.setattr(folder, "_replacing", full)
    assert main(["score", "specs", "t.jsonl", "-o", "rows.jsonl", "-j", "1"]) == 3
    assert "cannot be written: No space left on device" in capfd.readouterr().err
    assert not (place / "rows.jsonl").exists()
    monkeypatch.undo()
    monkeypatch.chdir(place)
    assert main(["score", "specs", "t.jsonl", "-q", "-o", "rows.jsonl"]) == 1
    assert len(rows("rows.jsonl")) == 123


def test_a_run_can_be_recorded_shown_and_judged_again(place, capfd):
    assert main(["score", "specs", "t.jsonl", "--store", "runs.db", "-q", "-j", "1"]) == 1
    capfd.readouterr()
    main(["show", "latest", "--store", "runs.db", "--format", "json"])
    shown = json.loads(capfd.readouterr().out)
    assert shown["summary"]["results"] == 123
    assert shown["summary"]["complete"] is True
    main(["score", "specs", "t.jsonl", "-q", "--format", "json"])
    scored = json.loads(capfd.readouterr().out)
    key = ("suite", "case", "attempt", "status", "trace_id")
    assert [[row[name] for name in key] for row in shown["results"]] == [
        [row[name] for name in key] for row in scored["results"]
    ]
    assert main(["regrade", "latest", "--store", "runs.db", "-q"]) == 1
    assert "111 passed, 10 failed, 2 in error" in capfd.readouterr().out


def test_the_progress_has_rate_and_time_left():
    from trialrun.cli.bulk import progress_line
    from trialrun.engine.bulk.scoring import Progress

    assert progress_line(Progress(40, 100, 12_000), 4) == "40% · 12,000 traces · 3,000/s · 6 s left"
    assert progress_line(Progress(1, 1000, 10), 60).endswith("17 h left") is False
    assert progress_line(Progress(1, 1000, 10), 60).endswith("16.6 h left")
