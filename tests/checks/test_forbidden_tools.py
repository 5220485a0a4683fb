from __future__ import annotations

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, outcome, refusal, run
from trialrun import Step


def found(forbidden, *steps, **fields):
    return first("path", {"forbidden_tools": forbidden}, run(*steps, **fields))


def test_no_forbidden_tool_may_be_used():
    assert found(["rm", "mv"], "ls", "cat").status is PASS
    assert found(["rm", "mv"], "ls", "mv").status is FAIL


def test_the_message_names_what_was_used():
    message = found(["rm", "mv", "cp"], "mv", "ls", "cp").message
    assert "mv" in message and "cp" in message
    assert "rm" not in message and "ls" not in message


def test_default_severity_is_fail():
    assert outcome("path", {"forbidden_tools": ["rm"]}, run("rm")).status == "fail"


def test_severity_can_be_set_to_warn():
    block = {"forbidden_tools": {"value": ["rm"], "severity": "warn"}}
    assert outcome("path", block, run("rm")).status == "warn"


@pytest.mark.parametrize("used", ["delete_draft", "undelete", "DELETE", "delete "])
def test_names_are_exact(used):
    assert found(["delete"], used).status is PASS


@pytest.mark.parametrize(
    ("glob", "used", "status"),
    [
        ("mcp__*__delete_*", "mcp__crm__delete_user", FAIL),
        ("mcp__*__delete_*", "mcp__crm__delete_", FAIL),
        ("mcp__*__delete_*", "mcp__crm__read_user", PASS),
        ("mcp__*__delete_*", "xmcp__crm__delete_user", PASS),
        ("delete_?", "delete_1", FAIL),
        ("delete_?", "delete_12", PASS),
        ("delete_[ab]", "delete_a", FAIL),
        ("delete_[ab]", "delete_c", PASS),
        ("delete_*", "Delete_user", PASS),
        ("*", "anything", FAIL),
    ],
)
def test_a_glob_forbids_every_matching_name(glob, used, status):
    assert found([glob], used).status is status


def test_a_name_with_glob_characters_matches_itself():
    assert found(["run[sql]"], "run[sql]").status is FAIL


def test_names_and_globs_can_be_mixed():
    assert found(["mcp__*", "rm"], "rm").status is FAIL
    assert found(["rm", "mcp__*"], "mcp__read").status is FAIL
    assert found(["rm", "mcp__*"], "ls").status is PASS


def test_a_failed_call_counts():
    assert found(["rm"], Step.tool_call("rm", status="failure")).status is FAIL


def test_unrecorded_calls_are_unknown_and_an_error():
    result = outcome("path", {"forbidden_tools": ["rm"]}, run(without=["tool_calls"]))
    (check,) = result.layers["path"].checks
    assert check.status is UNKNOWN
    assert result.status == "error"


@pytest.mark.parametrize("forbidden", [[], [""], "rm"])
def test_an_invalid_list_of_tools_is_a_spec_error(forbidden):
    assert "forbidden_tools" in refusal("path", {"forbidden_tools": forbidden})
