"""`strict_verification_compliance` has its own name, so that a report tells the two apart."""

from __future__ import annotations

from trialrun import EvalCase, Step, Trace, evaluate, load_suite, registry
from trialrun.metrics import StrictVerificationComplianceMetric, VerificationComplianceMetric

EDIT = Step.tool_call("Edit", {"file_path": "/app/tax.py", "new_string": "x"}, "updated")
HEDGED = "I changed /app/tax.py. It should work."


def test_both_are_in_one_report():
    case = EvalCase.from_dict({"query": "q", "correctness": {"not_in_answer": ["x y z"]}})
    both = [VerificationComplianceMetric(), StrictVerificationComplianceMetric()]
    result = evaluate(case, Trace(input="q", output=HEDGED, steps=[EDIT]), metrics=both)
    normal, strict = result.metrics
    assert normal.metric_name == "verification_compliance"
    assert (strict.metric_name, strict.value) == ("strict_verification_compliance", 0.0)


def test_both_may_be_named_in_one_spec(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text(
        "metrics: [verification_compliance, strict_verification_compliance]\n"
        "queries: [{query: q, correctness: {exact_match: a}}]\n"
    )
    names = [plan.metric.name for plan in load_suite(file).cases[0].metrics]
    assert names == ["verification_compliance", "strict_verification_compliance"]


def test_the_class_is_found_by_its_name():
    assert registry.find_metric("strict_verification_compliance") is (
        StrictVerificationComplianceMetric
    )
