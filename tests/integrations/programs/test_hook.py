"""`trialrun verify --hook` as the hook of a real Claude Code that works on a small project.

Its model is scripted: it says that all tests pass though it changed the code after their last run,
and runs them when it is asked once more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scripted_models import scripted_models
from tests.watchdog import WALL_SECONDS

from trialrun import read_traces
from trialrun.verification import audit

PROMPT = "Make the rate exact."
DELEGATED = "Have a subagent make the rate exact."
CODE = "def tax(net):\n    return net * 0.19\n"
TEST = "from tax import tax\n\n\ndef test_tax():\n    assert tax(100) == 19\n"
EXACT, OTHER = "net * 19 / 100", "19 * net / 100"
CLAIM = "The rate is exact now. All tests pass."
LATER = "They ran once more: all tests pass."
REPORTED = 'TR104 tax.py was changed after the last run of pytest: "All tests pass."'
FEEDBACK = "Stop hook feedback:\n"
SENT_BACK = (
    'The last message says "All tests pass.", and the session does not show it.\n'
    "TR104 changed-after-run: tax.py was changed after the last run of pytest"
)
TO_DO = "Either run `pytest -q` and say what it shows, or say it without the claim."


def block(at, turn):
    """A text of the model, or its call."""
    if isinstance(turn, str):
        return {"type": "text", "text": turn}
    return {"type": "tool_use", "id": f"call_{at}", "name": turn[0], "input": turn[1]}


def scripts(project):
    """What the model says and calls, message by message, for each prompt."""
    code = str(project / "tax.py")
    run = {"command": "pytest -q", "description": "Run the tests"}
    turns = [
        ("Read", {"file_path": code}),
        ("Edit", {"file_path": code, "old_string": "net * 0.19", "new_string": EXACT}),
        ("Bash", run),
        ("Edit", {"file_path": code, "old_string": EXACT, "new_string": OTHER}),
        CLAIM,
        ("Bash", run),
        LATER,
    ]
    task = {"description": "Exact rate", "prompt": PROMPT, "subagent_type": "general-purpose"}
    found = {DELEGATED: [("Task", task), "The subagent did it."], PROMPT: turns}
    return {prompt: [block(*one) for one in enumerate(found[prompt])] for prompt in found}


def ran(arguments, project):
    done = subprocess.run(
        arguments, cwd=project, capture_output=True, text=True, timeout=WALL_SECONDS, check=False
    )
    assert done.returncode == 0, (arguments, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@pytest.fixture
def worked(use_server, tmp_path, monkeypatch):
    """Let Claude Code work with the settings of `trialrun init`: its answer, and its transcript."""
    project = tmp_path / "app"
    project.mkdir()
    (project / "tax.py").write_text(CODE, encoding="utf-8")
    (project / "test_tax.py").write_text(TEST, encoding="utf-8")

    def work(prompt, *options):
        with scripted_models(scripts(project)) as address:
            home = use_server(address)
            ours = str(Path(sys.executable).parent)  # `trialrun` and `pytest`
            monkeypatch.setenv("PATH", os.pathsep.join([ours, os.environ["PATH"]]))
            ran(["trialrun", "init", "--claude-code", *options], project)
            claude = ["claude", "-p", prompt, "--output-format", "json"]
            printed = ran([*claude, "--allowed-tools", "Bash,Edit"], project)
        (transcript,) = home.glob(".claude/projects/*/*.jsonl")
        return json.loads(printed)["result"], transcript

    return work


def rows(transcript):
    return [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()]


def hook_rows(transcript, kind):
    """What Claude Code wrote into the transcript about its Stop hooks."""
    found = [row.get("attachment", {}) for row in rows(transcript)]
    return [one for one in found if (one.get("type"), one.get("hookEvent")) == (kind, "Stop")]


def commands(transcript):
    (trace,) = read_traces(transcript)
    return [call.tool_args["command"] for call in trace.tool_calls if call.tool_name == "Bash"]


def assert_sent_back(transcript):
    """Once, with what the agent has to do."""
    given = [row["message"]["content"] for row in rows(transcript) if row["type"] == "user"]
    feedback = [text for text in given if isinstance(text, str) and FEEDBACK in text]
    assert len(feedback) == 1, given
    assert feedback[0].startswith(FEEDBACK + SENT_BACK) and feedback[0].endswith(TO_DO)


def blocks(folder):
    """How often the hook remembers to have sent an agent back."""
    (memory,) = (folder / "app" / ".trialrun" / "hook").iterdir()
    return json.loads(memory.read_text(encoding="utf-8"))["blocks"]


def test_a_claim_without_a_run_sends_it_back_and_the_run_lets_it_go(worked, tmp_path):
    answer, transcript = worked(PROMPT, "--block")
    assert answer == LATER
    assert_sent_back(transcript)
    assert commands(transcript) == ["pytest -q", "pytest -q"]
    # The second time there was nothing to say.
    assert hook_rows(transcript, "hook_system_message") == []
    assert hook_rows(transcript, "hook_non_blocking_error") == []
    assert blocks(tmp_path) == 1
    (trace,) = read_traces(transcript)
    assert (audit(trace).compliant, trace.input) == (True, PROMPT)


def test_without_block_it_reports_and_the_agent_stops(worked, tmp_path):
    answer, transcript = worked(PROMPT)
    assert answer == CLAIM
    assert hook_rows(transcript, "hook_blocking_error") == []
    (message,) = hook_rows(transcript, "hook_system_message")
    assert REPORTED in message["content"]
    assert commands(transcript) == ["pytest -q"]
    assert not (tmp_path / "app" / ".trialrun").exists()


def test_a_subagent_is_sent_back_by_its_own_transcript(worked, tmp_path):
    answer, transcript = worked(DELEGATED, "--block")
    assert answer == "The subagent did it."
    (agent,) = transcript.parent.glob("*/subagents/*.jsonl")
    assert_sent_back(agent)
    assert commands(agent) == ["pytest -q", "pytest -q"]
    assert hook_rows(transcript, "hook_blocking_error") == []
    assert blocks(tmp_path) == 1
