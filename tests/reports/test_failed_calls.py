"""Every report names the tool calls that failed, whether or not a check asks for them."""

from __future__ import annotations

import json

import msgspec
import pytest

from tests.helpers import run
from tests.reports.pages import unpacked
from trialrun import EvalCase, EvaluationResult, RunResult, Step, evaluate, registry
from trialrun.reports import json as as_json
from trialrun.reports import junit, terminal
from trialrun.reports.base import View
from trialrun.reports.github import GithubReport
from trialrun.reports.markdown import MarkdownReport
from trialrun.reports.sarif import SarifReport
from trialrun.reports.views import attempt

REPORTS = registry.reports()
KEY = "sk-" + "a1" * 15
BROKEN = Step.tool_call("find", {"order": "12"}, error=f"timeout\nfor {KEY}")
SAME = Step.tool_call("find", {"order": "12"}, "sent")


def judged(*steps):
    trace = run(*steps, answer="30 days")
    case = EvalCase.from_dict({"query": "q", "correctness": {"exact_match": "30 days"}})
    return evaluate(case, trace), trace


def report(*steps):
    return RunResult(results=[judged(*steps)[0]], planned=1)


LINE = 'find failed: "timeout for [redacted]"'


def test_the_terminal_names_them_also_of_a_case_that_passed():
    shown = terminal.render(report(BROKEN)).splitlines()
    assert shown[1].startswith("PASS ")
    assert shown[2] == f"       tool call · {LINE} (step 1)"
    assert "tool call" not in terminal.render(report(SAME))
    again = terminal.render(report(BROKEN, SAME))
    assert f"{LINE}; repeated with success" in again
    assert "tool call" not in terminal.render(report(BROKEN), View(quiet=True))


def test_json_has_them_as_data():
    (result,) = json.loads(as_json.render(report(SAME, BROKEN, BROKEN, SAME)))["results"]
    error = '"timeout for [redacted]"'
    assert result["failed_calls"] == [
        {"tool": "find", "step": "2", "error": error, "retried": True},
        {"tool": "find", "step": "3", "error": error, "retried": True},
    ]
    (result,) = json.loads(as_json.render(report(SAME)))["results"]
    assert result["failed_calls"] == []


def test_junit_has_them_in_the_output_of_the_test_case():
    text = junit.render(report(BROKEN))
    assert f"tool call: {LINE}" in text.replace("&quot;", '"')
    assert "<failure" not in text


def test_markdown_lists_them_also_of_a_case_that_passed():
    text = MarkdownReport().render(report(BROKEN), View())
    assert "<summary>1 tool call failed</summary>" in text
    assert f"| `q` | `find` failed | `{LINE}` | `1` |" in text
    again = MarkdownReport().render(report(BROKEN, BROKEN, SAME), View())
    assert again.count("repeated with success") == 1  # the same text, in the same case, once
    assert "tool call" not in MarkdownReport().render(report(SAME), View())


def test_github_shows_them_as_a_notice_if_the_case_passed():
    (line, *_) = GithubReport().render(report(BROKEN), View()).splitlines()
    assert line == f"::notice title=q::pass: tool call: {LINE}"
    assert "::" not in GithubReport().render(report(SAME), View())


def test_sarif_has_a_row_for_each():
    (log,) = json.loads(SarifReport().render(report(BROKEN), View()))["runs"]
    (row,) = (row for row in log["results"] if row["ruleId"] == "tool_call")
    assert (row["kind"], row["level"]) == ("informational", "none")
    assert row["message"]["text"] == f"q: tool call: {LINE}"


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_names_them(name):
    text = REPORTS[name]().render(report(BROKEN), View())
    shown = unpacked(text, "k0") if name == "html" else text
    assert "timeout for" in shown


def test_show_names_them_with_their_step():
    text = attempt.render(*judged(SAME, BROKEN))
    assert f"  tool call · {LINE} (step 2)" in text
    silent = Step.tool_call("find", {}, "no such order", status="failure")
    assert '→ no such order failed: "no such order"' in attempt.render(*judged(silent))


def test_assertions_in_tests_name_them():
    from trialrun.model.explained import explained

    assert 'tool call · find failed: "timeout' in explained(judged(BROKEN)[0])


def test_a_stored_result_has_them_and_an_older_one_has_none():
    result, _ = judged(BROKEN)
    result.settle()
    plain = msgspec.to_builtins(result)
    assert tuple(msgspec.convert(plain, EvaluationResult).failed_calls) == result.failed_calls
    del plain["failed_calls"]
    assert msgspec.convert(plain, EvaluationResult).failed_calls == ()


def test_a_long_list_is_cut():
    result, trace = judged(*[BROKEN] * 80)
    assert (len(trace.failed_calls), len(result.failed_calls)) == (80, 50)


def test_a_step_that_is_added_later_counts():
    trace = run(SAME)
    assert trace.failed_calls == []
    trace.add_step(BROKEN)
    assert [step.id for step in trace.failed_calls] == ["2"]
    trace.steps = [SAME]
    assert trace.failed_calls == []
