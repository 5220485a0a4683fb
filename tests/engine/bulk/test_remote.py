"""Traces at addresses, through fsspec: the same rows as from the files."""

from __future__ import annotations

import pytest

from tests.engine.bulk.test_files import rows_in, to_file
from trialrun import UsageError
from trialrun.engine.bulk.scoring import Bulk, on_this_machine, score_in_bulk, score_to_file
from trialrun.spec.load import load_suites

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def memory(place):
    """The traces in fsspec's file system in memory."""
    system = fsspec.filesystem("memory")
    for file in (place / "traces").iterdir():
        with system.open(f"/bucket/traces/{file.name}", "wb") as stream:
            stream.write(file.read_bytes())
    yield "memory://bucket/traces"
    system.rm("/bucket", recursive=True)


@pytest.mark.parametrize("size", [1500, 1_000_000])
def test_a_folder_at_an_address_has_the_same_rows(place, memory, size):
    expected = rows_in(to_file(place)[0])
    for address in (memory, f"file://{place / 'traces'}"):
        bulk = Bulk(load_suites(place / "specs"), [address], chunk_size=size)
        output = place / "remote.jsonl"
        found = score_to_file(bulk, output, engine=on_this_machine(1))
        assert rows_in(output) == expected
        assert sum(f"{address}/pool.jsonl:" in text for text in found.run.warnings) == 2


def test_one_file_at_an_address(place, memory):
    bulk = Bulk(load_suites(place / "specs"), [f"{memory}/single-0.json"])
    run = score_in_bulk(bulk).run
    assert run.traces == 1


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("memory://nothing/here", "no trace here"),
        ("nosuch://bucket/x", "cannot be opened"),
    ],
)
def test_addresses_that_cannot_be_read(place, address, error):
    with pytest.raises(UsageError, match=error):
        Bulk(load_suites(place / "specs"), [address])
