"""A case made from a trace is a valid spec, and passes on the trace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun import EvalCase, Step, StepStatus, Trace, UsageError, evaluate
from trialrun.redaction import redact
from trialrun.spec.case_from_trace import case_lines
from trialrun.spec.document import read_document
from trialrun.spec.validation import Problems

SECRET = "sk-proj-Ab3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2dE3fG4hI5jK6"


def case_of(trace, name=None):
    text = "\n".join(case_lines(trace, name, redact))
    (plain,) = read_document(text.encode(), Problems())
    return EvalCase.from_dict(plain)


def ran(*steps, output="Refunded 20 EUR.", **fields):
    return Trace(input="Please refund order 12.", output=output, steps=steps, **fields)


def test_calls_are_wanted_and_facts_are_comments():
    trace = ran(
        Step.tool_call("lookup_order", {"order": "12"}),
        Step.tool_call("issue_refund", {"amount": 20, "note": "asked for by the customer"}),
    )
    assert "\n".join(case_lines(trace, "refund", redact)) == (
        """\
- name: refund
  query: "Please refund order 12."
  path:
    tool_args:
      severity: fail
      value:
        - tool: lookup_order
          args:
            order: "12"
        - tool: issue_refund
          args:
            amount: 20
            note: {any: true}  # free text: asked for by the customer
  # Facts of the answer. Take the `# ` off those that every answer must have,
  # and off the two lines above them:
  # correctness:
  #   expected_in_answer:
  #     - "20 EUR\""""
    )


def test_the_comments_are_a_valid_block_without_their_marks():
    trace = ran(Step.tool_call("t", {}), output='It is "blue", and costs 20 EUR.')
    lines = case_lines(trace, None, redact)
    start = next(i for i, line in enumerate(lines) if line.endswith("correctness:"))
    opened = [*lines[:start], *(line.replace("# ", "", 1) for line in lines[start:])]
    (plain,) = read_document("\n".join(opened).encode(), Problems())
    case = EvalCase.from_dict(plain)
    assert case.setting("correctness", "expected_in_answer") == ["blue", "20 EUR"]
    assert evaluate(case, trace).passed


def test_a_tenfold_refund_fails_the_case():
    case = case_of(ran(Step.tool_call("issue_refund", {"amount": 20})))
    assert evaluate(case, ran(Step.tool_call("issue_refund", {"amount": 20}))).passed
    tenfold = evaluate(case, ran(Step.tool_call("issue_refund", {"amount": 200})))
    assert tenfold.status.value == "fail"


@pytest.mark.parametrize(
    ("trace", "wanted"),
    [
        (ran(), {"max_tool_calls": {"value": 0, "severity": "fail"}}),
        (Trace(input="q", output="20"), None),  # steps were never given
        (
            ran(Step(type="tool_call", tool_name="t")),
            {"expected_tools": {"value": ["t"], "severity": "fail"}},
        ),
        (ran(Step.tool_call("t", {}, status=StepStatus.FAILURE)), None),
    ],
    ids=["no calls", "no steps", "no arguments", "only failed calls"],
)
def test_traces_without_arguments(trace, wanted):
    case = case_of(trace)
    assert case.path == wanted
    assert evaluate(case, trace).status.value == "pass"


def test_a_conversation_has_turns():
    asked = Step.human_input("Order 12", metadata={"answered": "Which one?"})
    trace = ran(Step.tool_call("t", {"a": 1}), asked, Step.tool_call("u", {"b": 2}))
    case = case_of(trace)
    assert [turn.query for turn in case.turns] == ["Please refund order 12.", "Order 12"]
    assert case.setting("path", "tool_args")[1] == {"tool": "u", "args": {"b": 2}}


def test_half_of_a_surrogate_pair_is_refused():
    step = Step.tool_call("send", {"text": "\ud800"}, "sent")
    with pytest.raises(UsageError, match="half of a surrogate pair"):
        case_lines(Trace(input="q", output="a", steps=[step]), None, str)


def test_secrets_are_not_written():
    trace = Trace(
        input=f"My key is {SECRET}",
        output=f"{SECRET} is the key, 12 the number.",
        steps=[Step.tool_call("login", {"key": SECRET, "deep": {"key": [SECRET]}, "id": 7})],
    )
    text = "\n".join(case_lines(trace, None, redact))
    assert SECRET not in text
    assert "key: {any: true}  # masked" in text
    assert "id: 7" in text
    assert evaluate(case_of(trace), trace).passed


@pytest.mark.parametrize("fields", [{"output": None}, {"output": "a", "error": "late"}])
def test_a_trace_without_an_answer_is_refused(fields):
    with pytest.raises(UsageError, match="no answer"):
        case_lines(ran(**fields), None, redact)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
matchers = st.sampled_from([{"any": True}, {"regex": "("}, {"approx": 1}, {"a": {"absent": 1}}])
arguments = st.dictionaries(
    st.text() | st.sampled_from(["no", "null", "a b", "12"]), values | matchers, max_size=4
)
words = st.text(min_size=1).filter(lambda text: text.strip())


@property_test
@given(words, st.text(), st.lists(st.tuples(words, arguments), max_size=4))
def test_any_trace_makes_a_case_that_passes_on_it(question, answer, calls):
    steps = [Step.tool_call(name, given) for name, given in calls]
    trace = Trace(input=question, output=answer, steps=steps)
    result = evaluate(case_of(trace), trace)
    assert result.passed, result
