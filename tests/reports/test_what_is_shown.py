"""What a person sees: question and answer, warnings, gates, invisible characters, exit codes."""

from __future__ import annotations

import json as stdlib_json
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from tests.reports.runs import result
from trialrun import EvalCase, MetricResult, Step, Trace, evaluate
from trialrun.cli.main import main
from trialrun.measures.stability import AttemptOutcome, stability_of
from trialrun.model.exchanges import LONGEST_SHOWN, text_to_show
from trialrun.model.results import CaseStability, Gate, LayerStatus, RunResult
from trialrun.reports import json, junit, terminal
from trialrun.reports.base import View
from trialrun.reports.views.attempt import render as render_attempt
from trialrun.reports.views.printable import escaped_json, one_line, printable

PASS, WARN, FAIL, ERROR = LayerStatus.PASS, LayerStatus.WARN, LayerStatus.FAIL, LayerStatus.ERROR
KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


def run_of(*results, **fields) -> RunResult:
    return RunResult(results=list(results), planned=len(results), **fields)


def asked(status, **fields):
    return result("case", status, "reason", question="How long?", answer="A month.", **fields)


# Question and answer


@pytest.mark.parametrize("status", [WARN, FAIL, ERROR])
def test_question_and_answer_are_beside_whatever_is_not_green(status):
    run = run_of(asked(status))
    for text in (terminal.render(run), junit.render(run)):
        assert "question: How long?" in text and "answer: A month." in text
    (row,) = stdlib_json.loads(json.render(run))["results"]
    assert (row["question"], row["answer"]) == ("How long?", "A month.")


def test_a_pass_does_not_repeat_them_for_people():
    run = run_of(asked(PASS))
    assert "A month." not in terminal.render(run) + junit.render(run)
    assert stdlib_json.loads(json.render(run))["results"][0]["answer"] == "A month."


def test_no_answer_is_said():
    run = run_of(result("case", ERROR, error="the agent timed out", question="How long?"))
    assert "no answer" in terminal.render(run) and "no answer" in junit.render(run)


def test_they_are_escaped_masked_and_short():
    long = replace(asked(FAIL), answer=f"a\n\x1b[2J {KEY} " + "word " * 200)
    for text in (terminal.render(run_of(long)), junit.render(run_of(long))):
        assert KEY not in text and "\x1b" not in text and "a\\n" in text
    line = next(one for one in terminal.render(run_of(long)).splitlines() if "answer:" in one)
    assert len(line) < 300


def test_every_result_has_them_and_they_are_bounded():
    case = EvalCase.from_dict({"query": "q", "correctness": {"exact_match": "no"}})
    found = evaluate(case, Trace(input="q", output="word " * 1000))
    assert found.question == "q"
    assert found.answer.startswith("word word") and len(found.answer) <= LONGEST_SHOWN + 2


def test_a_cut_never_halves_a_key():
    text = "x " * 490 + KEY
    assert "sk-" not in text_to_show(text)


def test_an_answer_that_is_not_text_is_shown_as_json():
    assert text_to_show({"days": 30, "café": None}) == '{"days":30,"café":null}'
    assert text_to_show(None) is None
    assert text_to_show("") == ""


@pytest.mark.parametrize("extra", [[], ["--format", "json"], ["--format", "junit"]])
def test_score_shows_question_and_answer(extra, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(
        "queries: [{name: a, query: How long?, correctness: {expected_in_answer: [30 days]}}]"
    )
    (tmp_path / "t.json").write_text('{"name": "a", "input": "How long?", "output": "A month."}')
    assert main(["score", "s.yaml", "t.json", *extra]) == 1
    shown = capsys.readouterr().out
    assert "How long?" in shown and "A month." in shown


# Warnings


def repeated(*statuses) -> RunResult:
    results = [replace(asked(one), attempt=number) for number, one in enumerate(statuses, 1)]
    outcome = {"answer": None, "path": None, "checks": {}, "judged": frozenset()}
    stability = stability_of([AttemptOutcome(status=one.value, **outcome) for one in statuses])
    cases = [CaseStability(suite_name="suite", agent=None, case_name="case", stability=stability)]
    return RunResult(results=results, planned=1, stability=cases)


def test_a_repeated_case_with_warnings_is_a_warning():
    line = terminal.render(repeated(WARN, PASS, WARN)).splitlines()[1]
    assert line.startswith("WARN  case  !✓!  3 of 3 passed, 2 with a warning")


def test_a_repeated_case_without_warnings_is_a_pass():
    line = terminal.render(repeated(PASS, PASS)).splitlines()[1]
    assert line.startswith("PASS  case  ✓✓  2 of 2 passed,")


def test_it_is_said_that_a_warning_does_not_fail_the_run():
    text = terminal.render(run_of(asked(WARN), asked(WARN)))
    assert "2 warnings do not fail the run; --strict does, or `severity: fail`" in text
    assert "warning does" not in terminal.render(run_of(asked(PASS)))


@pytest.mark.parametrize("quiet", [False, True])
def test_strict_says_why_it_failed(quiet):
    run = run_of(asked(WARN))
    assert run.exit_code(strict=True) == 1
    assert "1 warning fails the run: --strict" in terminal.render(
        run, View(strict=True, quiet=quiet)
    )


def test_the_legend_is_there_once_and_not_if_quiet():
    run = run_of(asked(WARN), asked(PASS))
    assert terminal.render(run).count("✗ failure") == 1
    assert "✗ failure" not in terminal.render(run, View(quiet=True))


def test_the_summary_counts_retries_unknowns_and_what_is_missing():
    again = replace(asked(PASS), earlier_errors=["refused"])
    run = run_of(again, asked(ERROR), incomplete=True, unreadable=1)
    counted = "2 cases: 1 passed, 1 in error · 1 check unknown · 1 attempt retried · incomplete"
    assert terminal.render(run).splitlines()[0] == f"{counted} · 1 trace unreadable"
    summary = stdlib_json.loads(json.render(run))["summary"]
    assert (summary["retried"], summary["complete"], summary["unreadable"]) == (1, False, 1)


# JUnit and the exit code


GATE = "min-pass-rate 90%"
RUNS = {
    "passes": (run_of(asked(PASS)), False),
    "warns": (run_of(asked(WARN)), False),
    "warns, strict": (run_of(asked(WARN)), True),
    "fails": (run_of(asked(PASS), asked(FAIL)), False),
    "errs": (run_of(asked(ERROR)), False),
    "by rate, gate holds": (
        run_of(asked(FAIL), asked(PASS), by_rate=True, gates=[Gate(GATE, True, "ok")]),
        False,
    ),
    "by rate, gate fails": (
        run_of(asked(FAIL), by_rate=True, gates=[Gate(GATE, False, "1 of 4")]),
        False,
    ),
    "by rate, unknown": (run_of(asked(PASS), by_rate=True, gates=[Gate(GATE, None, "?")]), False),
    "by rate, strict": (
        run_of(asked(WARN), by_rate=True, gates=[Gate(GATE, True, "ok")]),
        True,
    ),
    "flaky": (run_of(asked(PASS), gates=[Gate("flaky", False, "1 flipped")]), False),
    "unreadable": (run_of(asked(PASS), unreadable=2), False),
    "incomplete": (run_of(asked(PASS), incomplete=True, warnings=["stopped: x"]), False),
    "gaps are allowed": (
        run_of(asked(PASS), asked(ERROR), traces=2, incomplete_traces=1, allow_incomplete=0.5),
        False,
    ),
    "unreadable traces are allowed": (
        run_of(asked(PASS), traces=2, unreadable=1, allow_incomplete=0.5),
        False,
    ),
    "too many gaps": (
        run_of(asked(PASS), asked(ERROR), traces=2, incomplete_traces=1, allow_incomplete=0.1),
        False,
    ),
    "too few": (RunResult(results=[asked(PASS)], planned=2), False),
}


@pytest.mark.parametrize("name", RUNS)
def test_junit_and_the_exit_code_agree(name):
    run, strict = RUNS[name]
    root = ElementTree.fromstring(junit.render(run, strict))
    failures, errors = int(root.attrib["failures"]), int(root.attrib["errors"])
    code = run.exit_code(strict)
    assert (failures > 0) is (code == 1)
    assert (failures == 0 and errors > 0) is (code == 3)
    assert int(root.attrib["tests"]) == len(list(root.iter("testcase")))
    assert failures == len(list(root.iter("failure"))) and errors == len(list(root.iter("error")))
    assert stdlib_json.loads(json.render(run, strict))["summary"]["exit_code"] == code


def test_a_gate_is_a_test_case_with_its_message():
    run, _ = RUNS["by rate, gate fails"]
    root = ElementTree.fromstring(junit.render(run))
    case = next(one for one in root.iter("testcase") if one.attrib["name"] == f"gate {GATE}")
    assert case.find("failure").attrib["message"] == "1 of 4"
    summary = stdlib_json.loads(json.render(run))
    assert summary["summary"]["by_rate"] is True
    assert summary["gates"] == [{"name": GATE, "holds": False, "message": "1 of 4"}]


def test_a_single_failure_that_the_rate_allows_keeps_its_reasons():
    run, _ = RUNS["by rate, gate holds"]
    case = next(ElementTree.fromstring(junit.render(run)).iter("testcase"))
    said = case.find("system-out").text
    assert said.startswith("failed, but --min-pass-rate decides") and "reason" in said


@pytest.mark.parametrize(
    ("value", "shown"),
    [(10_000_001, "10000001"), (10_000_001.0, "10000001"), (0.000972, "0.000972"), (None, "")],
)
def test_junit_writes_numbers_in_full(value, shown):
    row = replace(asked(PASS), metrics=[MetricResult("token_usage", value)])
    root = ElementTree.fromstring(junit.render(run_of(row)))
    values = {one.attrib["name"]: one.attrib["value"] for one in root.iter("property")}
    assert values["metric.token_usage"] == shown


def test_with_a_file_the_table_goes_to_the_log_as_lines(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(
        "queries: [{name: a, query: q, correctness: {exact_match: x}},"
        " {name: b, query: r, correctness: {exact_match: x}}]"
    )
    (tmp_path / "t.jsonl").write_text('{"input": "q", "output": "x"}\n{"input": "r", "output": ""}')
    assert main(["score", "s.yaml", "t.jsonl", "-o", "report.json"]) == 1
    seen = capsys.readouterr()
    assert seen.out == ""
    lines = seen.err.splitlines()
    assert [line[:7] for line in lines if line[0] in "2FP"] == ["2 cases", "FAIL  b", "PASS  a"]
    assert "\\n" not in seen.err
    assert lines[-1] == "report written to report.json"


# One attempt in full


def test_show_names_the_error_of_a_metric_and_warnings_as_warnings():
    row = replace(asked(WARN), metrics=[MetricResult("boom", None, error="RuntimeError: no")])
    text = render_attempt(row, Trace(input="q", output="a", steps=[Step.tool_call("t")]))
    assert "metrics · boom error: RuntimeError: no" in text
    assert "some_check warn: reason" in text and "FAIL" not in text


# Invisible characters


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u200bpal", "pay\\u200bpal"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("so\u00adft", "so\\xadft"),
        ("a\u2060b\u2063c", "a\\u2060b\\u2063c"),
        ("a\u3164b", "a\\u3164b"),
        ("a\ufe01b", "a\\ufe01b"),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("a\U000e0101", "a\\U000e0101"),
        ("a\u200db", "a\\u200db"),
        ("a\u200cb", "a\\u200cb"),
        ("\u180e", "\\u180e"),
        ("\U0001d173", "\\U0001d173"),
    ],
)
def test_characters_without_width_are_escaped(text, shown):
    assert printable(text) == shown == one_line(text)
    assert stdlib_json.loads(escaped_json(stdlib_json.dumps(text, ensure_ascii=False))) == text
    assert escaped_json(f'"{text}"').isascii()


@pytest.mark.parametrize(
    "text",
    ["❤️ 1️⃣", "👩‍💻 👨‍👩‍👧", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "क्‍ष", "naïve – ✓"],
)
def test_spelling_is_left_alone(text):
    assert printable(text) == text == escaped_json(text)


def test_every_format_character_of_unicode_is_escaped():
    import sys
    import unicodedata

    missed = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cf" and chr(code) in printable(f"a{chr(code)}b")
    ]
    assert missed == []


# Texts of several lines


def test_messages_of_several_lines_are_lines_in_the_table():
    row = replace(
        result("case", FAIL, "it is not polite:\nno please\nno thanks"),
        metrics=[MetricResult("boom", None, error="ValueError: metric broke\nline2")],
    )
    text = terminal.render(run_of(row))
    assert "\\n" not in text
    assert (
        "       path · some_check fail: it is not polite:\n"
        "       | no please\n"
        "       | no thanks\n"
        "       metrics · boom error: ValueError: metric broke\n"
        "       | line2\n"
    ) in text


def test_a_message_of_many_lines_is_cut():
    text = terminal.render(run_of(result("case", FAIL, "line\n" * 500)))
    assert text.count("| line") <= 40 and "lines before" in text


def test_a_line_of_a_message_cannot_imitate_a_reason_in_repeated_cases():
    run = repeated(FAIL, FAIL)
    rows = [replace(result("case", FAIL, "one\ntwo"), attempt=one.attempt) for one in run.results]
    text = terminal.render(replace(run, results=rows))
    assert "       #1 #2 path · some_check fail: one\n       | two\n" in text


# Cases without a verdict


SPEC = """\
queries:
  - name: a
    query: How long?
    baseline: nosuchb.json
    correctness: {exact_match: x}
  - name: talk
    correctness: {exact_match: x}
    turns: [{query: Hello?}, {query: And then?}]
"""


@pytest.mark.parametrize("extra", [[], ["--format", "json"], ["--format", "junit"]])
def test_a_missing_trace_or_baseline_is_shown_with_its_question(
    extra, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SPEC)
    (tmp_path / "t.json").write_text('{"name": "a", "input": "How long?", "output": "A month."}')
    assert main(["score", "s.yaml", "t.json", *extra]) == 3
    shown = capsys.readouterr().out
    assert "nosuchb.json does not exist" in shown
    for text in ("How long?", "A month.", "Hello?", "And then?"):
        assert text in shown


def test_a_live_run_shows_question_and_answer_beside_a_missing_baseline(tmp_path):
    import trialrun

    (tmp_path / "s.yaml").write_text(SPEC)
    run = trialrun.run(tmp_path / "s.yaml", lambda question, history: f"to {question}")
    text = terminal.render(run)
    assert "question: How long?" in text and "answer: to How long?" in text
