"""docs/reports.md shows what the reports print, and names every field of the JSON report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from trialrun.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs/reports.md").read_text(encoding="utf-8")


def block(language: str, number: int = 0) -> str:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found[number]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "spec.yaml").write_text(block("yaml"), encoding="utf-8")
    (tmp_path / "trace.json").write_text(block("json"), encoding="utf-8")
    return ["score", "spec.yaml", "trace.json"]


def test_the_table_is_as_shown(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) == 1
    assert capsys.readouterr().out == block("console").partition("\n")[2]


def test_a_pass_states_its_figure_as_said(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main([*command, "-v"])
    assert "max_total_tokens pass: 843 tokens, limit 1,000" in capsys.readouterr().out


def document(command: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main([*command, "--format", "json"]) == 1
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


def test_the_result_is_as_shown(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = document(command, capsys)["results"]
    del result["metrics"]
    layers = result["layers"]
    result["layers"] = {name: layer for name, layer in layers.items() if layer["checks"]}
    assert json.loads(block("json", 1)) == result


def test_every_field_is_explained(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    made = document(command, capsys)
    (result,) = made["results"]
    check = result["layers"]["correctness"]["checks"][0]
    named = set(re.findall(r"`(\w+)`", PAGE))
    for part in (made, made["summary"], result, check, check["data"], result["metrics"][0]):
        assert set(part) <= named
