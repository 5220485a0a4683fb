"""`--share`: no text of a prompt, an answer, an argument or a result is in any report."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports.pages import readable
from trialrun import EvalCase, Step, Trace, evaluate, registry
from trialrun.engine.compare import compare
from trialrun.engine.sharing import (
    shared_audit,
    shared_comparison,
    shared_result,
    shared_run,
    shared_trace,
    shared_verification,
)
from trialrun.measures.agreement import Confusion
from trialrun.model.audit import Answers, Audit, Disagreement, Retest
from trialrun.model.calls import calls_of
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import (
    CheckResult,
    CheckStatus,
    LayerResult,
    LayerStatus,
    MetricResult,
    RunResult,
    Severity,
    Verdict,
    Vote,
)
from trialrun.model.session_results import run_of
from trialrun.model.verified import Session, Verification
from trialrun.reports.base import View
from trialrun.reports.views.attempt import render as render_attempt
from trialrun.verification import audit as ledger_of

REPORTS = registry.reports()
SHORTEST = 4

# Words that no report has of its own: whatever four letters of them are found came from the run.
PRIVATE = st.text(alphabet="qxzQXZжщ漢字", min_size=5, max_size=12)
VIEWS = (View(), View(verbose=True), View(quiet=True))


@cache
def checks():
    """Every check that can fail without a judge, with values of the run in its settings."""
    return [kind for kind in registry.all_checks() if not kind.judged and not kind.combines]


def trace_of(words, *, swap=False):
    """A run whose question, answer, arguments, results and errors are these words."""
    question, answer, argument, nested, given, returned, wrong = words
    if swap:
        answer, argument, returned = answer[::-1], argument[::-1], returned[::-1]
    return Trace(
        input=f"{question} please",
        output=f"{answer} in {returned} and {argument}",
        steps=[
            Step.tool_call("lookup", {"order": argument, nested: {"to": [given]}}, [returned]),
            Step.tool_call("refund", {"note": given}, error=f"refused: {wrong}"),
            Step.tool_call("refund", {"note": given}, error=f"refused: {wrong}"),
        ],
        metadata={"notes": answer, "stop_reason": "stop"},
    )


def case_of(words):
    question, answer, _, _, given, returned, wrong = words
    return EvalCase.from_dict(
        {
            "name": "the-case",
            "query": f"{question} please",
            "correctness": {
                "expected_in_answer": [wrong, answer],
                "not_in_answer": [answer],
                "exact_match": returned,
                "regex_match": f"^{wrong}",
                "any_of": [{"exact_match": given}, {"expected_in_answer": [wrong]}],
                "json_schema": {"type": "object", "required": [wrong]},
            },
            "path": {
                "expected_tool_sequence": ["lookup", "check", "refund"],
                "max_tool_calls": 1,
                "max_tool_errors": 0,
                "max_repeats": 1,
                "forbidden_tools": ["refund"],
                "tool_args": [{"tool": "lookup", "args": {"order": returned}}],
                "span_assertions": [
                    {"select": {"name": "lookup"}, "field": "tool_result", "contains": wrong}
                ],
            },
            "regression": {
                "same_calls": True,
                "same_arguments": True,
                "same_errors": True,
                "same_order": True,
            },
        }
    )


def result_of(words):
    """A failing result in which every kind of text quotes the words."""
    baseline = trace_of(words, swap=True)
    baseline.steps = [Step.tool_call("check", {"id": words[2]}), *baseline.steps[:1]]
    result = evaluate(case_of(words), trace_of(words), baseline)
    verdict = Verdict(
        rule=f"it says {words[1]}",
        minimum=4,
        passed=False,
        score=2.0,
        prompt_version="1",
        votes=[Vote(model="judge-1", score=2, rationale=f"it says {words[2]}")],
    )
    judged = CheckResult(
        "llm_judge", CheckStatus.FAIL, Severity.FAIL, f"score 2: {words[2]}", verdicts=[verdict]
    )
    own = CheckResult(
        "my_check", CheckStatus.UNKNOWN, Severity.FAIL, words[5], data={words[3]: words[4]}
    )
    layer = result.layers["correctness"]
    checks = [*layer.checks, judged, own]
    result.layers["correctness"] = LayerResult(layer.status, checks)
    result.metrics.append(MetricResult("mine", 2.0, "calls", {"of": words[4]}, error=words[6]))
    result.error = f"the agent crashed: {words[6]}"
    result.earlier_errors = (words[6],)
    result.suite_name = "suite"
    return result


def leaks(text, words):
    """The pieces of four letters of the words that are in the text."""
    pieces = {word[at : at + SHORTEST] for word in words for at in range(len(word) - SHORTEST + 1)}
    pieces |= {json.dumps(piece)[1:-1] for piece in pieces}
    return {piece for piece in pieces if piece in text}


WORDS = st.lists(PRIVATE, min_size=7, max_size=7, unique=True).map(tuple)


@settings(max_examples=25, deadline=None)
@given(WORDS)
def test_no_report_of_a_run_has_a_text_of_it(words):
    run = RunResult(results=[result_of(words)], planned=1, warnings=[f"no case for {words[0]}"])
    assert leaks(REPORTS["json"]().render(run, View()), words)  # the test sees what is there
    shared = shared_run(run)
    for kind in REPORTS.values():
        for view in VIEWS:
            text = kind().render(shared, view)
            assert not leaks(text, words), kind.name
            assert view.quiet or "the-case" in text


@settings(max_examples=15, deadline=None)
@given(WORDS)
def test_no_report_of_a_comparison_has_a_text_of_it(words):
    sides = []
    for label, swap in (("before", True), ("after", False)):
        trace = trace_of(words, swap=swap)
        steps = trace.steps if not swap else [*trace.steps[:1], Step.tool_call("mail", {"to": "a"})]
        trace.steps = steps
        seen = Seen(
            status=LayerStatus.FAIL if swap else LayerStatus.PASS,
            answer=trace.answer_text,
            calls=calls_of(trace),
            error=words[6],
            stop=words[5] + " !",
        )
        sides.append(Side(label, {("suite", "the-case"): [seen]}))
    found = compare(*sides, {})
    for kind in REPORTS.values():
        if kind.reads_comparisons:
            assert leaks(kind().render_comparison(found, View(verbose=True)), words)
            text = kind().render_comparison(shared_comparison(found), View(verbose=True))
            assert not leaks(text, words), kind.name
            assert "the-case" in text and "mail" in text and "left out" in text


@settings(max_examples=15, deadline=None)
@given(WORDS)
def test_no_report_of_sessions_has_a_text_of_them(words):
    trace = Trace(
        name=words[0],
        input=words[0],
        output=f"I changed {words[1]}.py.\n\nAll tests pass.\n\nDone with {words[6]}.",
        steps=[
            Step.tool_call("Bash", {"command": f"pytest {words[2]}"}, f"1 failed {words[3]}"),
            Step.tool_call("Edit", {"file_path": f"{words[1]}.py", "old_string": "a"}, "ok"),
        ],
        metadata={"cwd": f"/home/{words[4]}"},
    )
    ledger = ledger_of(trace)
    assert ledger.findings
    session = Session(words[0], words[5], f"/{words[4]}.jsonl", ledger, cwd=f"/home/{words[4]}")
    found = Verification([session], problems=[f"{words[6]} is torn"], traces=[trace])
    for kind in REPORTS.values():
        if kind.reads_sessions:
            assert leaks(readable(kind().render_sessions(found, View(verbose=True))), words)
            shared = shared_verification(found)
            text = readable(kind().render_sessions(shared, View(verbose=True)))
            assert not leaks(text, words), kind.name
            assert "pytest" not in text  # of a command
            assert not kind.reads_traces or 'id="c0-1-2"' in text


def test_a_recorded_session_is_shared_under_a_number():
    trace = Trace(name="Zxqz", input="q", output="All tests pass.")
    session = Session("Zxqz", "id", "/home/qxzq/s.jsonl", ledger_of(trace))
    run = run_of(Verification([session, session], traces=[trace, trace]))
    assert leaks(readable(REPORTS["html"]().render(run, View())), ["Zxqz", "qxzq"])
    text = readable(REPORTS["html"]().render(shared_run(run), View()))
    assert not leaks(text, ["Zxqz", "qxzq"]) and "All tests" not in text
    assert "session 1" in text


def audit_with(text):
    none = Confusion()
    wrong = Disagreement(
        case="the-case", attempt=1, rule=text, score=5.0, against=f"exact_match: {text}"
    )
    return Audit(
        judge="judge-1", identity="judge-1", prompt_version="1", runs=["r"], verdicts=1, answers=1,
        without_verdict=0, passes=1, facts=none, fact_answers=Answers(), retest=Retest(),
        labels=none, label_answers=Answers(), sensitivity=[], disagreements=[wrong],
    )  # fmt: skip


def test_no_report_of_an_audit_has_a_text_of_an_answer():
    found = audit_with("xqzxqz")
    for kind in REPORTS.values():
        if kind.reads_audits:
            assert "xqzxqz" in kind().render_audit(found, View())
            text = kind().render_audit(shared_audit(found), View())
            assert "xqz" not in text and "exact_match" in text


@settings(max_examples=15, deadline=None)
@given(WORDS)
def test_one_attempt_with_its_trace(words):
    result, trace = result_of(words), trace_of(words)
    assert leaks(render_attempt(result, trace), words)
    text = render_attempt(shared_result(result), shared_trace(trace))
    assert not leaks(text, words)
    assert "lookup" in text and "refund" in text


# What is kept


PLAIN = ("how long", "30 days", "order 12", "inner", "given", "a.md", "timeout")


def shared():
    return shared_run(RunResult(results=[result_of(PLAIN)], planned=1, warnings=["w"]))


def messages():
    (result,) = shared().results
    return {check.name: check.message for _, check in result.checks()}


def test_figures_names_of_tools_and_steps_are_kept():
    found = messages()
    assert found["max_tool_calls"] == "3 tool calls, limit 1"
    assert found["forbidden_tools"] == "forbidden, but called: refund"
    assert found["expected_in_answer"] == "2 wanted, 1 found, 1 missing"
    assert found["max_tool_errors"] == "2 found, limit 0"
    assert found["same_arguments"].startswith("lookup: ")
    assert found["llm_judge"] == "score 2, at least 4"
    assert found["any_of"] == "exact_match fail: [left out]; expected_in_answer fail: " + (
        "1 wanted, 0 found, 1 missing"
    )
    assert found["my_check"] == "[left out]"
    (result,) = shared().results
    data = {check.name: check.data for _, check in result.checks()}
    assert data["forbidden_tools"]["steps"] == ["2", "3"]
    assert ["+", "refund"] in data["expected_tool_sequence"]["path"]


def test_the_verdict_and_the_totals_are_those_of_the_run():
    run = RunResult(results=[result_of(PLAIN)], planned=1)
    found = shared_run(run)
    assert found.exit_code() == run.exit_code() and found.tally == run.tally
    (before,), (after,) = run.results, found.results
    assert after.status is before.status
    assert [check.status for _, check in after.checks()] == [
        check.status for _, check in before.checks()
    ]


def test_it_is_said_how_much_was_left_out():
    found = shared()
    counts = found.withheld.counts
    assert (counts["question"], counts["answer"], counts["warning"]) == (1, 1, 1)
    for kind in REPORTS.values():
        text = kind().render(found, View())
        assert "question" in text and "masked" in text, kind.name


def test_a_case_that_is_named_after_its_question_gets_a_number():
    case = EvalCase.from_dict({"query": "Where is Ada?", "correctness": {"exact_match": "x"}})
    result = evaluate(case, Trace(input="Where is Ada?", output="Home"))
    named = evaluate(case_of(PLAIN), trace_of(PLAIN))
    found = shared_run(RunResult(results=[named, result], planned=2))
    assert [one.case_name for one in found.results] == ["the-case", "case 2"]


def test_an_error_is_left_out_unless_the_attempt_was_not_made():
    from trialrun.model.results import EvaluationResult

    made = EvaluationResult.without_verdict("a", "not run: secret", question="q")
    skipped = EvaluationResult.without_verdict("b", "not run: the run was stopped")
    found = shared_run(RunResult(results=[made, skipped], planned=2))
    assert [one.error for one in found.results] == ["[left out]", "not run: the run was stopped"]


# Checks that say that their messages can be shared


SHAREABLE = [kind for kind in checks() if kind.shareable]


@pytest.mark.parametrize("kind", SHAREABLE, ids=lambda kind: kind.key)
def test_a_shareable_check_quotes_nothing_but_names(kind):
    """Each of its examples, with texts in every place that the trace has."""
    word = "xqzxqz"
    for example in kind.examples:
        trace = example.trace()
        steps = [
            step
            if step.type.value != "tool_call"
            else Step.tool_call(
                step.tool_name,
                None if step.tool_args is None else {**step.tool_args, word: word},
                word,
                status=step.status,
                error=word if step.error else None,
            )
            for step in trace.steps
        ]
        recorded = trace.recorded
        trace.input = word
        if trace.output:
            trace.output = word
        trace.steps = steps
        trace.recorded = recorded
        case = EvalCase.from_dict({"query": word, kind.layer: example.block, **example.case})
        result = evaluate(case, trace, example.baseline())
        found = [check for _, check in result.checks() if check.name == kind.key]
        assert found and all(word not in f"{check.message}{check.data}" for check in found)


def test_a_crash_of_a_shareable_check_is_left_out():
    from trialrun.checks.base import CRASHED

    crashed = CheckResult(
        "max_steps", CheckStatus.UNKNOWN, Severity.FAIL, f"{CRASHED}ValueError: secret"
    )
    result = evaluate(case_of(PLAIN), trace_of(PLAIN))
    layer = result.layers["path"]
    result.layers["path"] = LayerResult(layer.status, [crashed])
    (found,) = shared_run(RunResult(results=[result], planned=1)).results
    assert found.layers["path"].checks[0].message == "[left out]"


def test_masked_values_are_counted_in_every_report():
    key = "sk-proj-" + "A1b2C3d4" * 5
    case = EvalCase.from_dict({"name": "a", "query": "q", "correctness": {"exact_match": "x"}})
    run = RunResult(results=[evaluate(case, Trace(input="q", output=f"it is {key}"))], planned=1)
    # In the answer, and in the message that quotes it.
    assert json.loads(REPORTS["json"]().render(run, View()))["summary"]["masked"] == 2
    for kind in REPORTS.values():
        text = kind().render(run, View())
        assert key not in text and "masked" in text, kind.name
        assert key not in kind().render(shared_run(run), View())
