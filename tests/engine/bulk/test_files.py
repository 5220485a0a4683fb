"""Rows in files: resumed after a kill, made in shards, merged; nothing lost or counted twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from trialrun import TraceError, UsageError
from trialrun.engine.bulk.job import Shard
from trialrun.engine.bulk.output import parts_of
from trialrun.engine.bulk.scoring import Bulk, merge_to_file, on_this_machine, score_to_file
from trialrun.engine.bulk.work import Options
from trialrun.errors import StoreError
from trialrun.spec.load import load_suites

SIZE = 4000


def bulk_of(place, size=SIZE, **options):
    return Bulk(
        load_suites(place / "specs"), [place / "traces"], Options(**options), chunk_size=size
    )


def to_file(place, name="rows.jsonl", size=SIZE, jobs=1, **given):
    output = place / name
    found = score_to_file(bulk_of(place, size), output, engine=on_this_machine(jobs), **given)
    return output, found


def rows_in(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_row_has_the_attempt_and_its_checks(place):
    output, found = to_file(place)
    rows = rows_in(output)
    assert len(rows) == found.run.tally.attempts == 126
    row = next(row for row in rows if row["trace_id"] == "t104")
    checks = row.pop("checks")
    assert checks == [
        {
            "layer": "correctness",
            "name": "exact_match",
            "status": "fail",
            "severity": "fail",
            "reason": checks[0]["reason"],
            "data": {"wanted": "2", "found": "x"},
        }
    ]
    assert '"x"' in checks[0]["reason"]
    assert {name: row[name] for name in ("suite", "case", "attempt", "status")} == {
        "suite": "other",
        "case": "five",
        "attempt": 5,
        "status": "fail",
    }
    assert (row["model"], row["day"], row["cost_usd"]) == ("model-0", "2026-07-03", 0.25)
    assert (row["total_tokens"], row["tags"], row["answer"]) == (104, [], "x")
    assert row["metrics"][0]["metric_name"] == "step_count"
    assert not parts_of(output).exists()


def test_rows_are_in_the_order_of_the_input_and_missing_cases_come_last(place):
    rows = rows_in(to_file(place)[0])
    assert rows[0]["case"] == "three"  # it names its trace
    ids = [row["trace_id"] for row in rows[1:] if row["trace_id"] != "t439"]
    assert ids[:4] == ["t0", "t100", "t200", "t1"]
    assert rows[-1]["case"] == "four"
    assert rows[-1]["error"].startswith("no recorded trace belongs to this case; some traces")


@pytest.mark.parametrize("size", [150, 900, 1_000_000])
def test_the_rows_do_not_depend_on_the_chunks(place, size):
    expected = to_file(place)[0].read_bytes()
    assert to_file(place, "other.jsonl", size)[0].read_bytes() == expected


def test_secrets_are_masked_in_rows(place):
    key = "sk-" + "a1B2" * 10
    (place / "traces" / "single-0.json").write_text(
        json.dumps({"name": "one", "input": "first?", "output": f"my key is {key}"})
    )
    output, _ = to_file(place)
    assert key not in output.read_text()
    assert any("[redacted]" in (row["answer"] or "") for row in rows_in(output))


def test_a_part_of_the_work_is_not_done_again(place, monkeypatch):
    expected = to_file(place)[0].read_bytes()
    output = place / "again.jsonl"
    judged = []
    from trialrun.engine.bulk import local

    make = local.make_part

    def stops(scorer, chunk, folder):
        if len(judged) == 4:
            raise KeyboardInterrupt
        judged.append(chunk.number)
        return make(scorer, chunk, folder)

    monkeypatch.setattr(local, "make_part", stops)
    with pytest.raises(KeyboardInterrupt):
        to_file(place, "again.jsonl")
    assert not output.exists()
    first, judged[:] = list(judged), []
    monkeypatch.setattr(
        local, "make_part", lambda *given: judged.append(given[1].number) or make(*given)
    )
    to_file(place, "again.jsonl", resume=True)
    assert output.read_bytes() == expected
    assert len(first) == 4 and not set(first) & set(judged)
    assert sorted(first + judged) == list(range(len(bulk_of(place).plan.chunks)))


def test_without_resume_it_starts_again(place):
    output = place / "rows.jsonl"
    folder = parts_of(output)
    folder.mkdir()
    (folder / "000000.json").write_text("{}")
    (folder / "notes.txt").write_text("mine")
    to_file(place)
    assert output.exists()
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("change", ["spec", "options", "traces", "same size"])
def test_parts_of_another_job_are_not_gone_on_with(place, change):
    to_file(place, shard=Shard(1, 1))
    options = {}
    if change == "spec":
        spec = place / "specs" / "spec.yaml"
        spec.write_text(spec.read_text().replace('exact_match: "2"', 'exact_match: "22"'))
    elif change == "options":
        options = {"sample": 0.5}
    elif change == "traces":
        (place / "traces" / "more.json").write_text('{"input": "first?"}')
    else:
        file = place / "traces" / "single-0.json"
        file.write_text(file.read_text().replace('"1"', '"7"'))
        os.utime(file, (2**31, 2**31))
    wanted = {"spec": "another spec", "options": "another spec or", "traces": "other traces"}
    with pytest.raises(UsageError, match=wanted.get(change, "changed since the scoring began")):
        score_to_file(
            bulk_of(place, **options),
            place / "rows.jsonl",
            engine=on_this_machine(1),
            resume=True,
        )


# Shards


def shards(place, count, numbers=None):
    folders = []
    for number in numbers or range(1, count + 1):
        to_file(place, f"shard-{number}.jsonl", shard=Shard(number, count))
        folders.append(parts_of(place / f"shard-{number}.jsonl"))
    return folders


def merged(place, folders, name="merged.jsonl"):
    bulk = Bulk(load_suites(place / "specs"), (), Options())
    return place / name, merge_to_file(bulk, folders, place / name)


def test_shards_put_together_are_the_whole(place):
    expected, whole = to_file(place)
    folders = shards(place, 3)
    shutil.rmtree(place / "traces")  # they are not needed any more
    output, found = merged(place, folders)
    assert output.read_bytes() == expected.read_bytes()
    assert found.run.warnings == whole.run.warnings
    assert found.run.tally == whole.run.tally
    assert found.run.exit_code() == whole.run.exit_code() == 1


def test_folders_of_parts_are_found_below_the_one_that_is_given(place):
    expected = to_file(place)[0].read_bytes()
    below = place / "artifacts"
    below.mkdir()
    for folder in shards(place, 2):
        folder.rename(below / folder.name)
    assert merged(place, [below])[0].read_bytes() == expected


def test_a_missing_shard_is_named(place):
    folders = shards(place, 3, [1, 3])
    with pytest.raises(TraceError, match=r"chunks are missing; they are of --shard 2/3: run it"):
        merged(place, folders)
    assert not (place / "merged.jsonl").exists()


def test_the_same_part_twice_is_refused(place):
    folders = shards(place, 2)
    shutil.copytree(folders[0], place / "copy")
    with pytest.raises(UsageError, match=r"chunk 0 is there twice, in .*shard-1.* and in .*copy"):
        merged(place, [*folders, place / "copy"])


def test_shards_of_different_jobs_are_refused(place):
    folders = shards(place, 2, [1])
    (place / "traces" / "single-0.json").write_text('{"input": "first?", "output": "longer"}')
    with pytest.raises(UsageError, match=r"not of the same job as .*: other traces"):
        merged(place, folders + shards(place, 2, [2]))


def test_another_spec_at_the_merge_is_refused(place):
    folders = shards(place, 2)
    spec = place / "specs" / "spec.yaml"
    spec.write_text(spec.read_text().replace("fourth?", "4th?"))
    with pytest.raises(UsageError, match="another spec or other options"):
        merged(place, folders)


@pytest.mark.parametrize("damage", ["rows", "cut", "gone", "summary"])
def test_a_damaged_part_is_never_merged(place, damage):
    (folder,) = shards(place, 1)
    rows = folder / "000002.jsonl"
    if damage == "rows":
        rows.write_bytes(rows.read_bytes().replace(b'"pass"', b'"fail"', 1))
    elif damage == "cut":
        rows.write_bytes(rows.read_bytes()[:-100])
    elif damage == "gone":
        rows.unlink()
    else:
        (folder / "000002.json").write_text("{}")
    with pytest.raises((TraceError, ValueError), match=r"damaged|missing|shorter"):
        merged(place, [folder])
    assert not (place / "merged.jsonl").exists()


# Places that cannot be written


def test_an_output_that_cannot_be_written_is_refused_first(place, monkeypatch):
    monkeypatch.setattr("trialrun.engine.bulk.scoring.begin", None)
    for name in ("traces", "nowhere/rows.jsonl"):
        with pytest.raises(UsageError, match="cannot be written"):
            to_file(place, name)


def test_a_file_where_the_folder_of_parts_would_be(place):
    (place / "rows.jsonl.parts").write_text("mine")
    with pytest.raises(UsageError, match=r"rows\.jsonl\.parts: cannot be written"):
        to_file(place)


def test_a_full_disk_keeps_what_is_finished(place, monkeypatch):
    """The third part does not fit; with space again, the rest is judged."""
    from trialrun.engine.bulk import folder

    expected = to_file(place)[0].read_bytes()
    original, calls = folder.Rows.add, []

    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

    def add(self, row):
        calls.append(row)
        if len(calls) > 30:
            self._stream = Full()
        original(self, row)

    monkeypatch.setattr(folder.Rows, "add", add)
    with pytest.raises(StoreError, match="cannot be written: No space left") as caught:
        to_file(place, "again.jsonl")
    assert caught.value.exit_code == 3
    monkeypatch.setattr(folder.Rows, "add", original)
    assert parts_of(place / "again.jsonl").exists()
    assert to_file(place, "again.jsonl", resume=True)[0].read_bytes() == expected


# Parquet


def test_parquet_has_the_same_rows(place):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = rows_in(to_file(place)[0])
    table = parquet.read_table(to_file(place, "rows.parquet")[0]).to_pylist()
    assert len(table) == len(rows)
    for one, other in zip(table, rows, strict=True):
        for name in ("attempt", "case", "status", "trace_id", "tags", "cost_usd", "day", "error"):
            assert one[name] == other[name]
        assert dict(one["layers"]) == other["layers"]
        assert [(c["layer"], c["name"], c["status"], c["reason"]) for c in one["checks"]] == [
            (c["layer"], c["name"], c["status"], c.get("reason")) for c in other["checks"]
        ]


# Killed


PROGRAM = """
import sys, time
from pathlib import Path
from trialrun.engine.bulk import local
from trialrun.engine.bulk.scoring import Bulk, on_this_machine, score_to_file
from trialrun.errors import StoreError
from trialrun.spec.load import load_suites
place = Path(sys.argv[1])
make = local.make_part
def slow(*given):
    time.sleep(0.05)
    return make(*given)
local.make_part = slow
bulk = Bulk(load_suites(place / "specs"), [place / "traces"], chunk_size=4000)
print("ready", flush=True)
score_to_file(bulk, place / "killed.jsonl", engine=on_this_machine(2), resume=True)
print("done", flush=True)
"""


@pytest.mark.process
def test_killed_again_and_again_it_ends_with_the_same_rows(place):
    expected = to_file(place)[0].read_bytes()
    kills = 0
    for _ in range(20):
        command = [sys.executable, "-c", PROGRAM, str(place)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        with child.stdout as said:
            assert said.readline() == "ready\n"
            try:
                child.wait(0.15 + 0.02 * kills)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait()
                kills += 1
            else:
                break
    assert kills and child.returncode == 0
    assert (place / "killed.jsonl").read_bytes() == expected
