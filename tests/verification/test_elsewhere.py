"""Data, services and registries: what changes them, and what only tries them out."""

from __future__ import annotations

import pytest

from tests.verification.runs import bash, is_open, ledger
from trialrun import Step

# Data.


# Things that run elsewhere.


@pytest.mark.parametrize(
    "command",
    [
        "curl -X POST localhost:8000/api/orders -d '{}'",
        "curl -d '{}' http://127.0.0.1:8000/login",
        "curl -X DELETE localhost:8000/api/orders/1",
        "curl -X POST https://api.test/graphql -d '{}'",
        "curl -X POST https://api.test/v1/search -d '{}'",
        "curl -d a=1 https://api.test/oauth/token",
        "curl -X POST https://hooks.slack.com/services/a -d '{}'",
        "git push",
        "git push origin main",
        "gh pr create --fill",
        "./deploy.sh --dry-run",
        "make deploy DRY_RUN=1",
        "npm publish --dry-run",
    ],
)
def test_what_only_tries_something_out(command):
    assert is_open(bash(command, '{"id": 1}')) == []


@pytest.mark.parametrize(
    "tool",
    ["get_deployment", "deployment_status", "list_releases", "get_pull_request", "check_rollout",
     "create_pull_request", "release_lock", "merge_pull_request_status"],
)  # fmt: skip
def test_tools_that_only_ask(tool):
    assert is_open(Step.tool_call(tool, {"name": "shop"}, "ok")) == []


def test_a_tool_that_asks_answers_a_tool_that_deploys():
    deployed = Step.tool_call("deploy_service", {"service": "shop"}, "started")
    asked = Step.tool_call("get_deployment_status", {"service": "shop"}, '{"status": "running"}')
    assert is_open(deployed, asked) == []


def test_a_subagent_in_the_background_may_have_run_it():
    agent = Step.tool_call("Agent", {"prompt": "fix it"}, "Async agent launched successfully.")
    tested = bash("pytest -q", "1 failed, 2 passed in 0.1s", status="failure")
    change = Step.tool_call("Edit", {"file_path": "/app/a.py", "new_string": "x"}, "updated")
    claims = ledger("All tests pass.", change, tested, agent).claims
    assert [one.verdict.value for one in claims] == ["not_checkable"]
    claims = ledger("All tests pass.", agent, change).claims
    assert [one.verdict.value for one in claims] == ["not_checkable"]


def test_what_somebody_is_about_to_do_is_no_claim():
    assert ledger("I’m doing one lint pass now.", bash("ls")).compliant
