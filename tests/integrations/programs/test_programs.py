"""Claude Code, Codex and Gemini CLI as `command:` agents, as docs/frameworks.md writes them.

The real programs run against a scripted server on this machine: each has a new home folder, a key
that is not one, and a proxy that refuses every other address.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import which

import pytest
from tests.scripted_models import ANSWER, COMMANDS, QUESTION, scripted_models

import trialrun
from trialrun.model.evidence import EVIDENCE
from trialrun.store import open_store

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "frameworks.md").read_text(encoding="utf-8")
_, _, SECTION = PAGE.partition("\n## Programs\n")
# command: [claude, -p, …
LINES = {
    line.split("[")[1].split(",")[0]: line
    for line in re.findall(r"^command: \[.+\]$", SECTION.partition("\n## ")[0], re.MULTILINE)
}
TOOLS = {"claude": "Bash", "codex": "command_execution", "gemini": "run_shell_command"}
TOKENS = {"claude": 260, "codex": 240, "gemini": 240}
# What is not recorded; the time of a run is measured by trialrun itself.
UNRECORDED = {
    "claude": set(),
    "codex": {"costs", "handoffs", "llm_calls", "retrievals"},
    "gemini": {"costs", "handoffs", "llm_calls", "reasoning", "retrievals"},
}
# How the two commands ended: the second exited with 3, which Gemini's stream does not say.
ENDS = {
    "claude": [("success", "2"), ("failure", "Exit code 3\n3")],
    "codex": [("success", "2\n"), ("failure", "3\n")],
    "gemini": [("pending", "2"), ("pending", "3")],
}
SPEC = """
{line}
cases:
  - name: prices
    query: {question}
    correctness: {{expected_in_answer: ["5"]}}
    path:
      expected_tools: [{tool}, {tool}]
      max_tool_calls: 2
    cost: {{max_total_tokens: {tokens}}}
  - name: limits
    query: {question}
    path: {{max_tool_errors: 0}}
    cost:
      max_total_tokens: {fewer}
      max_llm_calls: 2
"""
LIMITS = {
    "claude": {"max_tool_errors": "fail", "max_total_tokens": "fail", "max_llm_calls": "pass"},
    "codex": {"max_tool_errors": "fail", "max_total_tokens": "fail", "max_llm_calls": "unknown"},
    "gemini": {"max_total_tokens": "fail", "max_llm_calls": "unknown"},
}
CODEX = """
model = "gpt-5"
model_provider = "scripted"
sandbox_mode = "danger-full-access"  # a container may not allow Codex to make its sandbox

[model_providers.scripted]
name = "scripted"
base_url = "{address}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
plugins = false
"""
GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
}


@pytest.fixture
def environment(use_server):
    """The models of all providers are the scripted ones."""
    with scripted_models() as address:
        home = use_server(address)
        for folder, name, text in (
            (".codex", "config.toml", CODEX.format(address=address)),
            (".gemini", "settings.json", json.dumps(GEMINI)),
        ):
            (home / folder).mkdir()
            (home / folder / name).write_text(text, encoding="utf-8")
        yield


def test_the_pages_name_the_same_three_programs():
    assert set(LINES) == set(TOOLS)
    runs = (DOCS / "runs.md").read_text(encoding="utf-8")
    found = re.findall(r"^command: \[(?:claude|codex|gemini),.+\]$", runs, re.MULTILINE)
    assert sorted(found) == sorted(LINES.values())


@pytest.mark.parametrize("program", sorted(TOOLS))
def test_a_program_is_judged_by_what_it_did(program, environment, installed, tmp_path):
    assert which(program) == str(installed / program)
    tool, tokens = TOOLS[program], TOKENS[program]
    values = {"line": LINES[program], "question": QUESTION, "tool": tool}
    spec = SPEC.format(**values, tokens=tokens, fewer=tokens - 1)
    (tmp_path / "prices.yaml").write_text(spec, encoding="utf-8")
    store = str(tmp_path / "runs.db")
    run = trialrun.run(str(tmp_path / "prices.yaml"), store=store, jobs=1, timeout=120)
    prices, limits = run.results
    assert (prices.status.value, prices.total_tokens) == ("pass", tokens), prices
    checks = [check for layer in limits.layers.values() for check in layer.checks]
    found = {check.name: check.status.value for check in checks}
    assert {name: found[name] for name in LIMITS[program]} == LIMITS[program], (limits, checks)

    with open_store(store) as stored:
        traces = [one.trace for one in stored.attempts(stored.find_run("latest").id)]
    assert len(traces) == 2
    for trace in traces:
        assert (trace.input, trace.output) == (QUESTION, ANSWER)
        assert [call.tool_name for call in trace.tool_calls] == [tool, tool]
        # Codex starts parallel commands in any order, and with `bash -lc`.
        calls = sorted(trace.tool_calls, key=lambda call: call.tool_args["command"])
        for call, (_, command) in zip(calls, COMMANDS, strict=True):
            assert command in call.tool_args["command"]
        assert [(call.status.value, call.tool_result) for call in calls] == ENDS[program]
        assert trace.summed_tokens == tokens
        assert EVIDENCE - trace.recorded == UNRECORDED[program]
