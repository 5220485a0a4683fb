"""Comparisons, sessions and audits as JUnit XML: what a person has to look at is a failure."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.reports.ledgers import verification
from tests.reports.test_comparison import comparison
from trialrun.measures.agreement import Confusion
from trialrun.model.audit import Answers, Audit, Disagreement, Retest
from trialrun.reports.base import View
from trialrun.reports.junit import JunitReport


def cases_of(text):
    """The test suite, and of each test case what it has and the text in that."""
    (suite,) = ElementTree.fromstring(text)
    found = {}
    for case in suite.iter("testcase"):
        (*_, said) = [*case] or [None]
        found[case.get("name")] = (None, "") if said is None else (said.tag, said.text)
    return suite, found


def test_a_session_with_a_red_finding_fails():
    suite, found = cases_of(JunitReport().render_sessions(verification(), View()))
    kind, text = found["a session"]
    assert kind == "failure"
    assert text.startswith("a session:s6: TR104 changed-after-run: my tax.py was changed")
    assert "TR107 result-hidden" in text  # in preview: said, but it alone would not fail
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")


def test_of_a_comparison_the_cases_that_broke_fail():
    found = comparison()
    _, cases = cases_of(JunitReport().render_comparison(found, View()))
    broke = {change.case for change in found.changes if change.kind == "broke"}
    fixed = {change.case for change in found.changes if change.kind == "fixed"}
    assert broke and {cases[name][0] for name in broke} == {"failure"}
    assert fixed and {cases[name][0] for name in fixed} == {"system-out"}
    assert cases["the verdict"][1] == found.sentence


def test_of_an_audit_each_measurement_is_a_test_case():
    wrong = Disagreement(case="late", attempt=1, rule="polite", score=5.0, against="no date")
    audit = Audit(
        judge="j", identity="j", prompt_version="1", runs=["r"], verdicts=40, answers=40,
        without_verdict=0, passes=40, facts=Confusion(20, 20, 0, 0),
        fact_answers=Answers(20, 20, 40), retest=Retest(), labels=Confusion(),
        label_answers=Answers(), sensitivity=[], disagreements=[wrong],
    )  # fmt: skip
    _, cases = cases_of(JunitReport().render_audit(audit, View()))
    assert cases["passed what a fact failed"][0] == "failure"  # 20 of 20
    assert cases["agreement with a person"][0] == "skipped"
    assert cases["late #1"] == ("failure", "score 5.0 for polite\nno date\n")
