"""What every importer promises, over every one that is registered."""

from __future__ import annotations

import pytest

from trialrun import read_traces, registry
from trialrun.importers import importer_of, scan
from trialrun.importers.base import Head

IMPORTERS = registry.importers()


@pytest.fixture(params=IMPORTERS.values(), ids=list(IMPORTERS))
def importer(request):
    return request.param()


@pytest.fixture
def example(importer, tmp_path):
    file = tmp_path / f"example{importer.suffixes[0]}"
    file.write_text(importer.example, encoding="utf-8")
    return file


def test_it_reads_its_example(importer, example):
    (trace,) = read_traces(example)
    assert trace.input and trace.output


def test_its_example_is_recognised_by_no_other_format(importer, example):
    assert type(importer_of(example)) is type(importer)
    head = Head(example, importer.example.splitlines()[0].encode())
    others = {name for name, kind in IMPORTERS.items() if name not in (importer.name, "native")}
    assert not {name for name in others if IMPORTERS[name]().recognises(head)}


def test_noise_is_not_recognised(importer, tmp_path):
    for noise in (b"", b"\x00\xff", b"[]", b"{", b'"text"', b"null", b'{"type": []}'):
        recognised = importer.recognises(Head(tmp_path / "noise.json", noise))
        assert not recognised or importer.name == "native"


@pytest.mark.parametrize("folder", ["traces", ".", "./traces/"])
def test_a_folder_is_read_by_a_relative_path(importer, example, folder, tmp_path, monkeypatch):
    (tmp_path / "traces").mkdir()
    example.rename(tmp_path / "traces" / example.name)
    monkeypatch.chdir(tmp_path)
    assert len(read_traces(folder)) == 1


def test_a_crash_is_a_problem_of_that_file(importer, example, tmp_path, monkeypatch):
    def fails(self, file):
        raise KeyError("x")
        yield

    monkeypatch.setattr(type(importer), "records", fails)
    traces, problems, _ = scan(example)
    assert not traces
    assert f"the importer `{importer.name}` failed: KeyError" in str(problems[0])
    assert example.name in str(problems[0])


def test_it_is_documented(importer):
    assert importer.__doc__ and importer.title
    assert all(suffix == suffix.lower() for suffix in importer.suffixes)
