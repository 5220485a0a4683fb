"""The reference pages are made from the code, and are up to date."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from trialrun.measures import patterns

ROOT = Path(__file__).parents[2]


def test_the_reference_pages_are_up_to_date(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(patterns, "LIMIT_SECONDS", 1.0)  # the pages say how long that is
    script = ROOT / "docs" / "make_reference.py"
    spec = importlib.util.spec_from_file_location("make_reference", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", [str(script), "--check"])
    assert module.main() == 0, capsys.readouterr().err
