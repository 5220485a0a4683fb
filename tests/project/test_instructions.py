"""The recorded counts of instructions are compared only with counts of the same versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import instructions

RECORDED = {"read": 1000, "judge, passing": 200}


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "recorded.json"
    document = {"versions": {"python": "3.x"}, "instructions": RECORDED}
    file.write_text(json.dumps(document))
    monkeypatch.setattr(instructions, "RECORDED", file)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(instructions, "versions", lambda: {"python": "3.x"})
    return file


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ({"read": 1050, "judge, passing": 190}, 0),
        ({"read": 1051, "judge, passing": 190}, 1),
        ({"read": 900, "judge, passing": 211}, 1),
        ({"read": 1000, "judge, passing": 200, "another": 7}, 0),
    ],
)
def test_more_than_a_twentieth_fails(
    recording: Path, monkeypatch: pytest.MonkeyPatch, found: dict[str, int], code: int
) -> None:
    monkeypatch.setattr(instructions, "counts", lambda: found)
    assert instructions.main([]) == code


def test_other_versions_are_not_compared(
    recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(instructions, "versions", lambda: {"python": "3.y"})
    monkeypatch.setattr(instructions, "counts", lambda: pytest.fail("counted"))
    assert instructions.main([]) == 0
    assert "not compared: recorded with {'python': '3.x'}" in capsys.readouterr().out


def test_without_valgrind_it_says_so(
    recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert instructions.main([]) == 0
    assert "valgrind is not installed" in capsys.readouterr().out


def test_what_is_counted_is_what_is_recorded() -> None:
    recorded = json.loads((Path(instructions.__file__).parent / "INSTRUCTIONS.json").read_text())
    assert set(recorded["versions"]) == set(instructions.versions())
    assert set(recorded["instructions"]) == {
        "read", "price a call", "judge, passing", "judge, failing",
    }  # fmt: skip
