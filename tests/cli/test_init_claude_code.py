"""`trialrun init --claude-code`: hooks in the settings, and nothing else."""

from __future__ import annotations

import json

import pytest

from trialrun.cli.main import main

OTHERS = {
    "permissions": {"allow": ["Bash(make:*)"]},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}],
    },
    "model": "ö",
}


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".claude").mkdir()
    file = tmp_path / ".claude" / "settings.json"
    file.write_text(json.dumps(OTHERS, indent=4, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def init(*arguments):
    return main(["init", "--claude-code", *arguments])


def commands(file, event):
    groups = json.loads(file.read_text(encoding="utf-8"))["hooks"].get(event, [])
    return [hook["command"] for group in groups for hook in group["hooks"]]


def test_everything_else_is_kept(settings, capsys):
    before = settings.read_text(encoding="utf-8")
    assert init() == 0
    assert commands(settings, "Stop") == ["say done", "trialrun verify --hook"]
    assert commands(settings, "SubagentStop") == ["trialrun verify --hook"]
    shown = capsys.readouterr()
    assert "+" in shown.out and "trialrun verify --hook" in shown.out
    backup = settings.with_name("settings.json.before-trialrun")
    assert backup.read_text(encoding="utf-8") == before
    found = json.loads(settings.read_text(encoding="utf-8"))
    assert found["permissions"] == OTHERS["permissions"] and found["model"] == "ö"
    assert settings.read_text(encoding="utf-8").startswith('{\n    "permissions"')


def test_removal_takes_out_exactly_our_entries(settings):
    before = settings.read_text(encoding="utf-8")
    init("--block")
    assert init("--remove") == 0
    assert settings.read_text(encoding="utf-8") == before


def test_a_dry_run_writes_nothing(settings, capsys):
    before = settings.read_text(encoding="utf-8")
    assert init("--dry-run") == 0
    assert "trialrun verify --hook" in capsys.readouterr().out
    assert settings.read_text(encoding="utf-8") == before
    assert [file.name for file in settings.parent.iterdir()] == ["settings.json"]


def test_twice_is_once_and_block_replaces(settings, capsys):
    init()
    once = settings.read_text(encoding="utf-8")
    assert init() == 0
    assert "already" in capsys.readouterr().err
    assert settings.read_text(encoding="utf-8") == once
    init("--block")
    assert commands(settings, "Stop") == ["say done", "trialrun verify --hook --block"]


def test_local_settings_name_this_installation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert init("--local") == 0
    file = tmp_path / ".claude" / "settings.local.json"
    assert commands(file, "Stop")[0].endswith("verify --hook")
    assert init("--local", "--remove") == 0
    assert json.loads(file.read_text()) == {}


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', "// x\n{}"]
)
def test_settings_that_are_not_understood_are_left_as_they_are(text, settings):
    settings.write_text(text)
    assert init() == 2
    assert settings.read_text() == text


@pytest.mark.parametrize("arguments", [["--block"], ["--claude-code", "x.yaml"], ["--remove"]])
def test_calls_that_cannot_work(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", *arguments]) == 2
    assert list(tmp_path.iterdir()) == []
