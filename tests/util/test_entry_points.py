"""Entry points are found without `importlib.metadata` where there are none."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from trialrun.util import entry_points as module
from trialrun.util.entry_points import entry_points


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the only place of packages."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def package(folder: Path, text: str, ending: str = "dist-info") -> None:
    information = folder / f"mine-1.0.{ending}"
    information.mkdir()
    (information / "entry_points.txt").write_text(text)
    name = "METADATA" if ending == "dist-info" else "PKG-INFO"
    (information / name).write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")


def values(group: str) -> list[str]:
    return [point.value for point in entry_points(group)]


@pytest.mark.parametrize("ending", ["dist-info", "egg-info"])
def test_they_are_found(only: Path, ending: str) -> None:
    package(only, "[console_scripts]\na = b:c\n\n[trialrun.checks]\nmine = mine:Mine\n", ending)
    assert values("trialrun.checks") == ["mine:Mine"]
    assert values("trialrun.metrics") == []


def test_nothing_is_asked_where_nothing_names_the_group(
    only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(only, "[pytest11]\ntrialrun = trialrun.checks\n")
    asked = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: asked.append(group) or ())
    assert values("trialrun.checks") == []
    assert asked == []


def test_a_zip_file_may_have_some(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(only / "mine.zip", "w") as packed:
        packed.writestr("mine-1.0.dist-info/entry_points.txt", "[trialrun.checks]\nz = mine:Z\n")
        packed.writestr("mine-1.0.dist-info/METADATA", "Name: mine\nVersion: 1.0\n")
    monkeypatch.setattr(sys, "path", [str(only / "mine.zip")])
    assert values("trialrun.checks") == ["mine:Z"]


def test_another_finder_is_asked(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        def find_spec(self, *arguments: object) -> None:
            return None

        def find_distributions(self, *arguments: object) -> list[object]:
            asked.append(True)
            return []

    asked: list[bool] = []
    module._groups.cache_clear()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    try:
        assert values("trialrun.checks") == []
        assert asked
    finally:
        module._groups.cache_clear()


def test_a_folder_that_is_not_there_is_left_out(
    only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(only, "[trialrun.checks]\nmine = mine:Mine\n")
    monkeypatch.setattr(sys, "path", [str(only / "no such folder"), "", str(only)])
    assert values("trialrun.checks") == ["mine:Mine"]
