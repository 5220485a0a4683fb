"""Files below a folder: everything is found once, and what cannot be read is reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trialrun.cli.main import main
from trialrun.util.files import files_below

GOOD = "queries: [{query: q, correctness: {expected_in_answer: [a]}}]\n"
BAD = "queries: [{query: q, correctness: {expected_in_answer: [WRONG]}}]\n"
TRACE = '{"input": "q", "output": "a"}\n'


@pytest.fixture
def below(tmp_path):
    def found(*suffixes):
        files, unread = files_below(tmp_path, suffixes or (".yaml", ".yml"))
        return (
            [str(file.relative_to(tmp_path)) for file in files],
            {str(place.relative_to(tmp_path)): why for place, why in unread},
        )

    return found


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_endings_in_any_case_and_no_hidden_files(tmp_path, below):
    for name in ("a.yaml", "B.YAML", "c.YML", "sub/d.yml", "e.txt", ".f.yaml", ".g/h.yaml"):
        write(tmp_path / name)
    assert below() == (["B.YAML", "a.yaml", "c.YML", "sub/d.yml"], {})


def test_linked_folders_are_followed_without_cycles(tmp_path, below):
    write(tmp_path / "in" / "a.yaml")
    write(tmp_path.parent / f"{tmp_path.name}-other" / "b.yaml")
    (tmp_path / "other").symlink_to(tmp_path.parent / f"{tmp_path.name}-other")
    (tmp_path / "in" / "up").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "in")
    assert below() == (["in/a.yaml", "other/b.yaml"], {})


def test_what_cannot_be_read_is_reported(tmp_path, below):
    write(tmp_path / "a.yaml")
    (tmp_path / "x.yaml").symlink_to("gone.yaml")
    (tmp_path / "folder").symlink_to("gone")
    (tmp_path / "notes.txt").symlink_to("gone.txt")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    files, unread = below()
    assert files == ["a.yaml"]
    assert unread["x.yaml"] == "a link to gone.yaml, which does not exist"
    assert unread["folder"] == "a link to gone, which does not exist"
    assert unread["loop.yaml"].startswith("cannot be read: ")
    assert unread["pipe.yaml"] == "not a file: a pipe, a socket or a device"
    assert len(unread) == 4


@pytest.fixture
def closed(monkeypatch):
    """Folders that cannot be listed, for tests that run as root too."""
    folders = set()
    listed = Path.iterdir

    def iterdir(self):
        if self in folders:
            raise PermissionError(13, "Permission denied", str(self))
        return listed(self)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    return folders


def test_a_folder_of_specs_that_cannot_be_read_is_an_error(tmp_path, closed, capsys):
    write(tmp_path / "specs" / "a.yaml", GOOD)
    write(tmp_path / "specs" / "sub" / "b.yaml", BAD)
    trace = write(tmp_path / "t.jsonl", TRACE)
    closed.add(tmp_path / "specs" / "sub")
    assert main(["score", str(tmp_path / "specs"), str(trace)]) == 2
    said = capsys.readouterr().err
    assert f"{tmp_path}/specs/sub: this folder cannot be read: Permission denied" in said


@pytest.mark.parametrize("name", ["B.YAML", "b.YML", "linked/b.yaml"])
def test_a_spec_by_another_ending_or_in_a_linked_folder_is_judged(tmp_path, name):
    write(tmp_path / "specs" / "a.yaml", GOOD)
    if name.startswith("linked"):
        write(tmp_path / "elsewhere" / "b.yaml", BAD)
        (tmp_path / "specs" / "linked").symlink_to(tmp_path / "elsewhere")
    else:
        write(tmp_path / "specs" / name, BAD)
    trace = write(tmp_path / "t.jsonl", TRACE)
    assert main(["score", str(tmp_path / "specs"), str(trace)]) == 1


def test_a_compressed_trace_in_a_folder_is_reported(tmp_path, capsys):
    spec = write(tmp_path / "a.yaml", GOOD)
    write(tmp_path / "traces" / "a.jsonl", TRACE)
    write(tmp_path / "traces" / "sub" / "b.JSONL.xz", "")
    write(tmp_path / "traces" / "picture.png.gz", "")
    assert main(["score", str(spec), str(tmp_path / "traces")]) == 0
    said = capsys.readouterr().err
    assert "b.JSONL.xz: left out: compressed in a way that is not read" in said
    assert "picture" not in said


def test_a_link_to_no_spec_is_an_error(tmp_path, capsys):
    write(tmp_path / "specs" / "a.yaml", GOOD)
    (tmp_path / "specs" / "x.yaml").symlink_to("gone.yaml")
    assert main(["validate", str(tmp_path / "specs")]) == 2
    assert "x.yaml: a link to gone.yaml, which does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["score", "specs"], ["verify"]])
def test_traces_that_cannot_be_read_leave_the_command_incomplete(tmp_path, closed, capsys, command):
    write(tmp_path / "specs" / "a.yaml", GOOD)
    write(tmp_path / "traces" / "T.JSONL", TRACE)
    write(tmp_path / "traces" / "sub" / "wrong.jsonl", TRACE)
    closed.add(tmp_path / "traces" / "sub")
    name, *rest = command
    given = [str(tmp_path / one) for one in rest]
    assert main([name, *given, str(tmp_path / "traces")]) == 3
    assert "sub: this folder cannot be read: Permission denied" in capsys.readouterr().err
