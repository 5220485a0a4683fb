"""Reports: valid in their formats, complete, and safe for any text of an agent."""

from __future__ import annotations

import json as stdlib_json

import pytest
from junitparser import JUnitXml
from lxml import etree

from tests.reports.runs import NASTY, everything, result
from trialrun import MetricResult
from trialrun.model.results import (
    CheckResult,
    CheckStatus,
    LayerStatus,
    RunResult,
    Severity,
)
from trialrun.reports import json, junit, terminal
from trialrun.reports.base import View
from trialrun.reports.views.printable import escaped_json, one_line, printable
from trialrun.reports.views.reasons import with_unit


def test_json_is_ordered_versioned_and_complete():
    document = stdlib_json.loads(json.render(everything()))
    assert list(document) == [
        "format_version",
        "trialrun",
        "prices",
        "run",
        "origin",
        "summary",
        "gates",
        "warnings",
        "stability",
        "results",
    ]
    assert document["format_version"] == 1
    assert document["summary"] == {
        "planned": 4,
        "results": 4,
        "unreadable": 0,
        "incomplete": 0,
        "pass": 1,
        "warn": 1,
        "fail": 1,
        "error": 1,
        "unknown_checks": 1,
        "without_baseline": 0,
        "retried": 0,
        "complete": True,
        "cost_usd": None,
        "total_tokens": None,
        "judge": None,
        "masked": 0,
        "left_out": None,
        "strict": False,
        "by_rate": False,
        "exit_code": 1,
    }
    first = document["results"][0]
    assert list(first["layers"]) == [
        "correctness",
        "path",
        "cost",
        "verification",
        "retrieval",
        "regression",
    ]
    assert first["layers"]["path"]["checks"] == [
        {
            "name": "some_check",
            "status": "pass",
            "severity": "fail",
            "message": "fine",
            "turn": None,
            "data": {},
        }
    ]
    assert first["metrics"][1]["value"] is None


def test_equal_runs_give_equal_json():
    assert json.render(everything()) == json.render(everything())


def test_junit_is_read_by_a_real_parser():
    text = junit.render(everything())
    suites = JUnitXml.fromstring(text.encode())
    (suite,) = list(suites)
    assert (suite.tests, suite.failures, suite.errors) == (4, 1, 1)
    cases = {case.name: case for case in suite}
    assert cases["good"].result == []
    assert cases["bad"].result[0].type == "fail"
    assert cases["gone"].result[0].message == "the agent crashed"
    assert "a little much" in cases["so-so"].system_out
    found = etree.fromstring(text.encode()).findall(".//testcase[@name='good']/properties/property")
    values = {element.get("name"): element.get("value") for element in found}
    assert values["metric.step_count"] == "3"
    assert values["metric.duration"] == ""
    assert values["layer.path"] == "pass"


def test_junit_counts_a_warning_as_a_failure_when_strict():
    suites = JUnitXml.fromstring(junit.render(everything(), strict=True).encode())
    assert suites.failures == 2


def test_the_terminal_gives_the_reason_of_everything_that_is_not_green():
    text = terminal.render(everything())
    lines = text.splitlines()
    verdicts = [line.split()[0] for line in lines if not line.startswith((" ", "✓"))]
    assert verdicts == ["4", "FAIL", "ERROR", "WARN", "PASS", "1"]
    assert any("path · some_check warn: a little much" in line for line in lines)
    assert any("the agent crashed" in line for line in lines)
    assert "fine" not in text
    summary = "4 cases: 1 passed, 1 warned, 1 failed, 1 in error · 1 check unknown"
    assert lines[0] == f"{summary} · at least $0.75"


def test_quiet_is_the_summary_only_and_verbose_shows_passes_and_metrics():
    assert len(terminal.render(everything(), View(quiet=True)).splitlines()) == 1
    text = terminal.render(everything(), View(verbose=True))
    assert "some_check pass: fine" in text
    assert "step_count 3 steps" in text
    assert "duration –" in text


def test_a_metric_of_one_has_a_singular_unit():
    def shown(value, unit):
        return with_unit(MetricResult("m", value, unit))

    assert [shown(1.0, "steps"), shown(2.0, "steps")] == ["1 step", "2 steps"]
    assert [shown(1.0, "ms"), shown(1.0, None), shown(None, "calls")] == ["1 ms", "1", "–"]


def test_attempts_are_numbered_and_counted():
    again = result("good", LayerStatus.PASS, attempt=2)
    run = RunResult(results=[result("good", LayerStatus.PASS), again], planned=1)
    text = terminal.render(run)
    assert "good #2" in text
    assert text.startswith("1 case, 2 attempts: 2 passed")


@pytest.mark.parametrize("colour", [False, True])
def test_text_of_an_agent_is_escaped_on_the_terminal(colour):
    text = terminal.render(everything(), View(colour=colour))
    text.encode()
    assert "\\x1b[31mred\\x00" in text
    assert "\u202e" not in text
    assert ("\x1b[" in text) is colour
    if not colour:
        assert {sign for sign in text if not sign.isprintable()} == {"\n"}


def test_control_characters_keep_xml_and_json_valid():
    run = everything()
    assert JUnitXml.fromstring(junit.render(run).encode())
    assert stdlib_json.loads(json.render(run))


def test_printable_escapes_control_characters():
    assert printable("a\x1bb\x00\u202ec\ud800\n\t") == "a\\x1bb\\x00\\u202ec\\ud800\n\t"
    assert one_line("a\nb\tc") == "a\\nb c"
    assert printable("Straße 日本語 🚀") == "Straße 日本語 🚀"
    assert "\x1b" not in printable(NASTY)


@pytest.mark.parametrize(
    ("statuses", "strict", "code"),
    [
        (["pass", "pass"], False, 0),
        (["pass", "warn"], False, 0),
        (["pass", "warn"], True, 1),
        (["fail", "error"], False, 1),
        (["pass", "error"], False, 3),
        (["warn", "error"], True, 1),
        ([], False, 5),
    ],
)
def test_exit_codes(statuses, strict, code):
    results = [result(str(n), LayerStatus(status)) for n, status in enumerate(statuses)]
    assert RunResult(results=results, planned=len(results)).exit_code(strict) == code


def test_a_case_without_a_verdict_is_never_exit_0():
    run = RunResult(results=[result("a", LayerStatus.PASS)], planned=2)
    assert run.exit_code() == 3


def test_a_gate_is_listed_among_the_checks():
    gated = result("a", LayerStatus.PASS)
    gated.metrics[0].gate = CheckResult(
        "step_count", CheckStatus.FAIL, Severity.FAIL, "3, at most 2"
    )
    text = terminal.render(RunResult(results=[gated], planned=1))
    assert "metrics · step_count fail: 3, at most 2" in text


def test_the_json_report_comes_in_pieces_of_one_result():
    run = everything()
    pieces = list(json.pieces(run))
    assert len(pieces) == len(list(run.results)) + 2
    whole = stdlib_json.loads("".join(pieces))
    assert len(whole["results"]) == len(list(run.results))
    printed = stdlib_json.dumps(whole, indent=2, ensure_ascii=False)
    assert json.render(run) == escaped_json(printed) + "\n"
