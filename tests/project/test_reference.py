"""The reference pages are made from the code, and are up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from trialrun.measures import patterns

ROOT = Path(__file__).parents[2]


def test_the_reference_pages_are_up_to_date() -> None:
    script = ROOT / "docs" / "make_reference.py"
    spec = importlib.util.spec_from_file_location("make_reference", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # The pages name the limit of one second; in tests a search is ended sooner.
    short = f"after {patterns.LIMIT_SECONDS:g} s of backtracking"
    made = {
        "formats.md": module.formats(),
        "checks.md": module.checks().replace(short, "after 1 s of backtracking"),
        "metrics.md": module.metrics(),
        "rules.md": module.rules(),
        **{
            name: module.with_outputs((ROOT / "docs" / name).read_text(encoding="utf-8"))
            for name in ("verification.md", "../README.md")
        },
    }
    for name, text in made.items():
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert page == text, f"docs/{name} is out of date: run `make docs`"
