"""A real Dask cluster of processes: the same rows, even when a worker is killed midway."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.engine.bulk.test_files import bulk_of, to_file
from trialrun import UsageError
from trialrun.engine.bulk.anywhere import Part, Recipe, keep, part_of, plan
from trialrun.engine.bulk.output import parts_of
from trialrun.engine.bulk.scoring import merge_to_file
from trialrun.errors import StoreError

PROGRAM = """
import os, signal, sys
from pathlib import Path
from distributed import Client, LocalCluster
from trialrun.engine.bulk.dask import on_a_cluster
from trialrun.engine.bulk.scoring import Bulk, score_to_file
from trialrun.spec.load import load_suites

def main():
    place, victim = Path(sys.argv[1]), sys.argv[2]
    spec = str(place / "specs")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        engine = on_a_cluster(spec, cluster.scheduler_address, 2)
        def killing(scorer, chunks, folder):
            with Client(cluster) as client:
                pids = list(client.run(os.getpid).values())
            for number, chunk in enumerate(engine(scorer, chunks, folder)):
                if number == 1 and victim == "worker":
                    os.kill(pids[0], signal.SIGKILL)
                if number == 1 and victim == "cluster":
                    cluster.close()
                yield chunk
        bulk = Bulk(load_suites(spec), [place / "traces"], chunk_size=1500)
        score_to_file(bulk, place / "dask.jsonl", engine=killing, resume=True)
    print("done", flush=True)

if __name__ == "__main__":
    main()
"""


def on_dask(place, victim):
    command = [sys.executable, "-c", PROGRAM, str(place), victim]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.process
@pytest.mark.parametrize("victim", ["nobody", "worker"])
def test_a_cluster_gives_the_same_rows(place, victim):
    expected = to_file(place)[0].read_bytes()
    done = on_dask(place, victim)
    assert done.stdout == "done\n", done.stderr[-2000:]
    assert (place / "dask.jsonl").read_bytes() == expected


@pytest.mark.process
def test_a_cluster_that_is_lost_is_an_error_and_can_be_resumed(place):
    expected = to_file(place)[0].read_bytes()
    done = on_dask(place, "cluster")
    assert "StoreWriteError: the Dask cluster was lost" in done.stderr, done.stderr[-2000:]
    assert not (place / "dask.jsonl").exists()
    kept = len(list(parts_of(place / "dask.jsonl").glob("[0-9]*.json")))
    assert kept >= 1
    assert on_dask(place, "nobody").stdout == "done\n"
    assert (place / "dask.jsonl").read_bytes() == expected


@pytest.mark.process
def test_a_scheduler_that_is_not_there(place, monkeypatch):
    from trialrun.engine.bulk import dask

    monkeypatch.setattr(dask, "_SECONDS", 0.5)
    engine = dask.on_a_cluster(str(place / "specs"), "tcp://127.0.0.1:9", 1)
    bulk = bulk_of(place)
    with pytest.raises(UsageError, match=r"127.0.0.1:9: no Dask scheduler answers"):
        list(engine(bulk.scorer, bulk.plan.chunks, None))


def test_the_pure_function_needs_nothing_but_the_recipe_and_the_chunk(place):
    """What docs/scale.md does with Ray, Spark and Daft: a map, and the parts into a folder."""
    expected = to_file(place, size=4000)[0].read_bytes()
    folder = place / "out.parts"
    job = plan(place / "specs", [place / "traces"], folder)
    parts = [part_of(job.recipe, chunk) for chunk in job.chunks]
    assert all(type(part) is Part and isinstance(part.rows, bytes) for part in parts)
    assert parts == [part_of(job.recipe, chunk) for chunk in job.chunks]
    for part in (*reversed(parts), parts[0]):  # in any order, and one of them twice
        keep(folder, part)
    bulk = bulk_of(place)
    merge_to_file(bulk, [folder], place / "merged.jsonl")
    assert (place / "merged.jsonl").read_bytes() == expected


def test_a_part_of_another_version_is_refused(place):
    job = plan(place / "specs", [place / "traces"], place / "out.parts")
    part = part_of(job.recipe, job.chunks[0])
    keep(place / "out.parts", part)
    with pytest.raises((StoreError, ValueError)):
        keep(place / "out.parts", Part(b"{", part.rows))
    assert isinstance(job.recipe, Recipe)
