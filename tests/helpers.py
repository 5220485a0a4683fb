"""Helpers for the tests of checks, measures, metrics and prices."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from trialrun import CheckStatus, EvalCase, SpecError, Step, TokenUsage, Trace, evaluate
from trialrun.model.trace import EVIDENCE

PASS, FAIL = CheckStatus.PASS, CheckStatus.FAIL
UNKNOWN, SKIPPED = CheckStatus.UNKNOWN, CheckStatus.SKIPPED


def run(*steps, answer="answer", without=(), **fields):
    """A trace with these steps; a text becomes a call of the tool with that name.

    `without` names the kinds of evidence that were not recorded.
    """
    made = [Step.tool_call(step) if isinstance(step, str) else step for step in steps]
    fields.setdefault("recorded", EVIDENCE - set(without))
    return Trace(input="question", output=answer, steps=made, **fields)


def said(answer):
    """A run without steps, only an answer."""
    return run(answer=answer)


def model_call(prompt=0, completion=0, model="a-model", cost=None, **tokens):
    """A model call with these tokens."""
    usage = TokenUsage(prompt_tokens=prompt, completion_tokens=completion, **tokens)
    return Step.llm_call(model, tokens=usage, cost_usd=cost)


def paid(*costs):
    """A run with one model call for each recorded cost."""
    return run(*(Step.llm_call("a-model", cost_usd=cost) for cost in costs))


def outcome(layer, block, trace, baseline=None, **case):
    """The whole result of evaluating a case with one block."""
    asked = EvalCase.from_dict({"query": "question", layer: block, **case})
    return evaluate(asked, trace, baseline)


def judge(layer, block, trace, baseline=None, **case):
    """The results of the layer's checks, by name."""
    checks = outcome(layer, block, trace, baseline, **case).layers[layer].checks
    found = {check.name: check for check in checks}
    assert len(found) == len(checks), "a check was judged twice"
    return found


def first(layer, block, trace, baseline=None, **case):
    """The result of the first check in the block."""
    return judge(layer, block, trace, baseline, **case)[next(iter(block))]


def refusal(layer, block, **case):
    """The error message for a case with this block."""
    with pytest.raises(SpecError) as refused:
        EvalCase.from_dict({"query": "question", layer: block, **case})
    return str(refused.value)


property_test = settings(max_examples=1000 if os.environ.get("HYPOTHESIS_PROFILE") else 150)
"""Used with `@given`: the settings of property tests."""


def measured(metric, trace, **case):
    """The result of a metric for a trace, and a case with these keys; without keys, no case."""
    asked = EvalCase.from_dict({"query": "question", **case}) if case else None
    result = metric.calculate(trace, asked)
    assert (result.metric_name, result.unit, result.error) == (metric.name, metric.unit, None)
    return result


def undefined(metric, *kinds):
    """Whether the evaluator gives the metric no value where these kinds were not recorded.

    Its formula, `calculate`, does not look at what was recorded.
    """
    trace = run(without=kinds)
    assert metric.calculate(trace, None).error is None
    asked = EvalCase.from_dict({"query": "question", "correctness": {"exact_match": "answer"}})
    (result,) = evaluate(asked, trace, metrics=[metric]).metrics
    return result.value is None and all(kind in result.details["message"] for kind in kinds)


def measured_with_baseline(baseline, metric, trace, **case):
    """The result of a metric for a case with a baseline."""
    asked = EvalCase.from_dict({"query": "question", "path": {"max_steps": 9}, **case})
    (result,) = evaluate(asked, trace, baseline, metrics=[metric]).metrics
    return result
