"""docs/baselines.md and the second example of the README print what they show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from trialrun.cli.main import main
from trialrun.model.argument_rules import Rules
from trialrun.spec.load import load_suite

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/baselines.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of the block, with what it prints."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def play(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command prints, in the order in which it is seen: a run begins with a message."""
    if command.startswith("sed"):
        found = re.fullmatch(r"sed -i 's/(.+)/(.+)/' (\S+)", command)
        assert found is not None
        file = Path(found[3])
        assert file.read_text().count(found[1]) == 1
        file.write_text(file.read_text().replace(found[1], found[2]))
        return ""
    capsys.readouterr()
    main(command.split()[1:])
    out, err = capsys.readouterr()
    return err + out if command.split()[1] == "run" else out + err


def plain(text: str) -> str:
    """Without what differs each time: durations, ids of runs, and what the agent makes up."""
    text = re.sub(r"run \d{8}-\d{6}-\w{4}:", "run 20261120-091502-k3wd:", text)
    text = re.sub(r" · \d+\.\d s", " · 0.0 s", text)
    return re.sub(r'request: "[0-9a-f]{32}"', 'request: "…"', text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    for name in ("TRIALRUN_STORE", "CI"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_page_shows_what_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = None
    for block in blocks(PAGE, "console"):
        for command, printed in commands(block):
            assert plain(play(command, capsys)) == printed, command
            if command == "trialrun baseline save":
                file = folder / "demo" / "baselines" / "refunds" / "refund.json"
                rules = json.loads(file.read_text())["regression"]
    assert rules == json.loads(blocks(PAGE, "json")[0])


def test_the_second_example_of_the_readme_is_as_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = [block for block in blocks(README, "console") if "trialrun accept" in block]
    for command, printed in commands(block):
        assert plain(play(command, capsys)) == printed, command
    assert README.index(block) < README.index("## What fails a build")


def test_another_model_is_said_as_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("demo --copy demo", "run demo/refunds.yaml --repeat 5", "baseline save"):
        main(command.split())
    agent = folder / "demo" / "refund_agent.py"
    agent.write_text(agent.read_text().replace("gpt-4.1-mini", "gpt-4o-mini"))
    capsys.readouterr()
    main(["run", "demo/refunds.yaml"])
    out, err = capsys.readouterr()
    assert blocks(PAGE, "text")[0] in err
    assert "regression ✓" in out


def test_a_typo_in_a_rule_is_said_as_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("demo --copy demo", "run demo/refunds.yaml --repeat 5", "baseline save"):
        main(command.split())
    file = folder / "demo" / "baselines" / "refunds" / "refund.json"
    file.write_text(file.read_text().replace('"amount": "exact"', '"amount": "exakt"'))
    capsys.readouterr()
    assert main(["validate", "demo/refunds.yaml"]) == 2
    assert capsys.readouterr().err == blocks(PAGE, "text")[1]


def test_the_spec_and_the_rules_of_the_page_are_read(tmp_path: Path) -> None:
    import msgspec

    (block,) = blocks(PAGE, "yaml")
    (tmp_path / "spec.yaml").write_text(
        f"defaults:\n  {block}queries: [{{query: q, path: {{max_steps: 9}}}}]\n"
    )
    assert load_suite(tmp_path / "spec.yaml").cases[0].number_of_checks() == 3
    table = PAGE[PAGE.index("| rule |") :]
    shown = [json.loads(text) for text in re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)[:6]]
    for rule in shown:
        msgspec.convert({"arguments": {"t": {"a": rule}}}, Rules)
    assert len(shown) == 6
