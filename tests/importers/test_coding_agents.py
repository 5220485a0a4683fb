"""Recordings of coding agents are found by their content."""

from __future__ import annotations

from pathlib import Path

import pytest

from trialrun.importers import importer_of

DATA = Path(__file__).parents[1] / "data" / "formats"


@pytest.mark.parametrize(
    ("file", "format"),
    [
        ("droid/session.jsonl", "droid"),
        ("cursor/session.jsonl", "cursor"),
        ("windsurf/session.jsonl", "windsurf"),
        ("continue-cli/session.json", "continue_cli"),
        ("copilot-chat/session.jsonl", "copilot_chat"),
        ("codex/made-0.169.0.jsonl", "codex"),
        ("codex-exec/made-0.169.0.jsonl", "codex_exec"),
        ("gemini-cli/made-0.61.0.jsonl", "gemini_cli"),
        ("gemini-stream/made-0.61.0.jsonl", "gemini_stream"),
        ("opencode/v1.18.4-no-tools.json", "opencode"),
        ("pi/v3-prsui-two-prompts.jsonl", "pi"),
        ("copilot-cli/vct-copilot.jsonl", "copilot_cli"),
        ("copilot-cli/vct-copilot-old-form.json", "copilot_cli"),
    ],
)
def test_recordings_are_found_by_their_content(file, format):
    assert importer_of(DATA / file).name == format
