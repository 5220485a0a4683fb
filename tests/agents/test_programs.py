"""Programs that get the question as an argument and print a stream of events."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from tests.importers.recordings import FORMATS
from trialrun.agents.base import Question
from trialrun.agents.running.command import CommandAgent
from trialrun.errors import SpecError
from trialrun.spec.load import load_suite

ECHO = """import json, sys
found = {"args": sys.argv[1:], "in": sys.stdin.read()}
print(json.dumps({"output": found}))"""


@pytest.fixture
def ask(tmp_path, reaper):
    """Runs a program once for a question."""

    def run(command, text="hello", **question):
        agent = CommandAgent(command, str(tmp_path), reaper)
        return asyncio.run(agent.ask(Question(input=text, **question), 20.0))

    return run


def test_placeholders_are_filled_in_and_stdin_is_empty(ask):
    """Claude Code and Codex add what is on stdin to the question."""
    history = [{"role": "user", "content": "before"}]
    words = ["-p", "{{input}}", "--about={{ case.name }}: {{history}}", "{{.State}} {{other}}"]
    command = [sys.executable, "-c", ECHO, *words]
    reply = ask(command, "What's {{history}}?", history=history, case={"name": "a"})
    assert reply.answer["output"] == {
        "args": [
            "-p",
            "What's {{history}}?",
            '--about=a: [{"role":"user","content":"before"}]',
            "{{.State}} {{other}}",
        ],
        "in": "",
    }


def test_without_placeholders_the_question_is_on_stdin(ask):
    output = ask([sys.executable, "-c", ECHO]).answer["output"]
    assert json.loads(output["in"])["input"] == "hello"


def test_a_null_character_cannot_be_an_argument(ask):
    assert "cannot be started" in ask(["echo", "{{input}}"], "a\0b").failure.message


def test_a_known_stream_is_a_trace(ask):
    reply = ask(["cat", str(FORMATS / "openai-responses" / "openai-shell-tool.1.chunks.txt")])
    assert reply.failure is None
    calls = [step for step in reply.answer["steps"] if step["type"] == "tool_call"]
    assert [call["tool_name"] for call in calls] == ["shell_call"]
    assert reply.answer["output"].startswith("Here are the files and folders")
    assert "tool_results" not in reply.answer["recorded"]


def test_a_known_document_is_a_trace(ask):
    reply = ask(["cat", str(FORMATS / "openai-chat" / "litellm-claude-call-2.json")])
    assert reply.answer["output"].startswith("Let me first check the current directory")


def test_an_unknown_stream_is_an_error(ask):
    lines = "\n".join(json.dumps({"event": n}) for n in range(3))
    said = ask(["echo", lines]).failure.message
    assert "a stream of 3 JSON objects, one a line, which is not known" in said


def test_a_damaged_stream_is_an_error(ask, tmp_path):
    text = (
        FORMATS / "anthropic-managed-agents" / "anthropic_managed_custom_tools.jsonl"
    ).read_text(encoding="utf-8")
    (tmp_path / "damaged").write_text(text + '["cut', encoding="utf-8")
    said = ask(["cat", str(tmp_path / "damaged")]).failure.message
    assert "a recording that cannot be read" in said


def test_a_misspelt_placeholder_is_reported(tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "command: [claude, -p, '{{inptu}}']\ncases:\n- {name: a, input: Q, contains: x}\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError, match=r"unknown placeholder \{\{inptu\}\}.*input"):
        load_suite(spec)
