"""`any_of`, `all_of` and `not`."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from tests.helpers import FAIL, PASS, UNKNOWN, first, refusal, run
from trialrun import EvalCase, Step, Trace, evaluate, load_suite
from trialrun.checks.any_of import AnyOf
from trialrun.checks.base import Check, check
from trialrun.checks.expected_in_answer import ExpectedInAnswer
from trialrun.checks.max_tool_calls import MaxToolCalls
from trialrun.engine.stability import _verdict
from trialrun.errors import SpecError
from trialrun.judge import Judge
from trialrun.model.results import CheckStatus, LayerStatus, Severity

SKIPPED = CheckStatus.SKIPPED
# On the answer "aaa…a!": a check for each outcome.
HOLDS = {"expected_in_answer": ["a"]}
BREAKS = {"expected_in_answer": ["b"]}
OPEN = {"regex_match": "(a|aa)+$"}
ANSWER = "a" * 60 + "!"
OUTCOMES = {PASS: HOLDS, FAIL: BREAKS, UNKNOWN: OPEN}


def judged(block, layer="correctness", trace=None):
    return first(layer, block, trace or run(answer=ANSWER))


def any_of(statuses):
    return PASS if PASS in statuses else UNKNOWN if UNKNOWN in statuses else FAIL


def all_of(statuses):
    return FAIL if FAIL in statuses else UNKNOWN if UNKNOWN in statuses else PASS


@pytest.mark.parametrize("statuses", [*itertools.product(OUTCOMES, repeat=2)], ids=str)
def test_truth_tables(statuses):
    parts = [OUTCOMES[status] for status in statuses]
    assert judged({"any_of": parts}).status is any_of(statuses)
    assert judged({"all_of": parts}).status is all_of(statuses)
    opposite = {PASS: FAIL, FAIL: PASS, UNKNOWN: UNKNOWN}
    assert judged({"not": {"any_of": parts}}).status is opposite[any_of(statuses)]
    nested = {"any_of": [{"not": parts[0]}, {"all_of": parts}]}
    assert judged(nested).status is any_of([opposite[statuses[0]], all_of(statuses)])


def test_a_part_with_several_checks_holds_if_all_do():
    both = {"expected_in_answer": ["a"], "not_in_answer": ["!"]}
    assert judged({"any_of": [both]}).status is FAIL
    assert judged({"any_of": [both, {"exact_match": ANSWER}]}).status is PASS
    assert judged({"not": both}).status is PASS


def test_the_message_has_the_reasons_of_the_parts():
    message = judged({"any_of": [BREAKS, {"exact_match": "x"}]}).message
    assert 'expected_in_answer: not in the answer: "b"' in message
    assert "exact_match: expected" in message
    assert judged({"any_of": [BREAKS, HOLDS]}).message.startswith("expected_in_answer: ")
    limit = {"not": {"max_tool_calls": 1}}
    assert "1 " in judged(limit, "path", run(Step.tool_call("a"))).message


def test_a_part_whose_evidence_is_missing_is_unknown():
    bare = Trace.from_dict({"input": "question", "output": "x"})
    parts = [{"max_tool_calls": 3}, {"forbidden_tools": ["a"]}]
    for block in ({"any_of": parts}, {"all_of": parts}, {"not": parts[0]}):
        result = judged(block, "path", bare)
        assert result.status is UNKNOWN
        assert "not recorded" in result.message
    no_tokens = run(Step.tool_call("a", duration_ms=5), without=["tokens", "llm_calls"])
    either = {"any_of": [{"max_total_tokens": 1}, {"max_latency_ms": 5}]}
    assert judged(either, "cost", no_tokens).status is PASS
    either = {"any_of": [{"max_total_tokens": 1}, {"max_latency_ms": 4}]}
    assert judged(either, "cost", no_tokens).status is UNKNOWN


def test_parts_that_do_not_apply_are_left_out():
    skipped = {"max_cost_multiplier": 2}
    trace = run(Step.tool_call("a", duration_ms=5), without=["tokens", "costs", "llm_calls"])
    assert judged({"not": skipped}, "cost", trace).status in (SKIPPED, UNKNOWN)
    priced = run(Step.llm_call("m", "i", "o", cost_usd=1.0, duration_ms=5))
    assert judged({"not": skipped}, "cost", priced).status is SKIPPED
    assert judged({"any_of": [skipped, {"max_latency_ms": 9}]}, "cost", priced).status is PASS


def test_the_severity_is_that_of_the_layer_or_of_the_combination():
    tools = run(Step.tool_call("delete"))
    block = {"any_of": [{"forbidden_tools": ["delete"]}]}
    assert judged(block, "path", tools).severity is Severity.WARN
    assert judged({"not": HOLDS}).severity is Severity.FAIL
    wrapped = {"any_of": {"value": block["any_of"], "severity": "fail"}}
    case = EvalCase.from_dict({"query": "question", "path": wrapped})
    assert evaluate(case, tools).status is LayerStatus.FAIL
    assert judged({"not": {"value": HOLDS, "severity": "warn"}}).severity is Severity.WARN


def test_settings_of_the_block_apply_to_the_parts():
    block = {"any_of": [{"min_results": 2}, {"expected_sources": ["a.md"]}], "tool": "search"}
    found = run(Step.tool_call("search", {}, ["a.md"]))
    assert judged(block, "retrieval", found).status is PASS
    other = {"tool": "search", "forbid_empty": True, "not": {"tool": "x", "forbid_empty": True}}
    case = EvalCase.from_dict({"query": "question", "retrieval": other})
    statuses = {one.name: one for one in evaluate(case, found).layers["retrieval"].checks}
    assert statuses["forbid_empty"].status is PASS
    assert "`x` was never called" in statuses["not"].message
    assert (
        judged({"not": {"forbid_empty": True}, "tool": "search"}, "retrieval", found).status is FAIL
    )


def test_reference_tools_reach_the_parts():
    case = EvalCase.from_dict(
        {
            "query": "question",
            "reference_tools": ["a"],
            "path": {"any_of": [{"match_mode": "strict"}, {"max_tool_calls": 0}]},
        }
    )
    found = evaluate(case, run(Step.tool_call("a"))).layers["path"].checks
    assert [one.status for one in found if one.name == "any_of"] == [PASS]


@check(layer="correctness")
class Crashing(Check):
    """Raises."""

    wanted: bool

    def judge(self, trace, baseline):
        raise RuntimeError("boom")


@check(layer="correctness")
class Lying(Check):
    """Returns something that is not a result."""

    wanted: bool

    def judge(self, trace, baseline):
        return True


@pytest.mark.parametrize("kind", [Crashing, Lying])
def test_a_part_that_crashes_is_unknown(kind):
    name = f"{__name__}:{kind.__name__}"
    assert judged({"any_of": [{name: True}, BREAKS]}).status is UNKNOWN
    assert judged({"any_of": [{name: True}, HOLDS]}).status is PASS
    assert judged({"not": {name: True}}).status is UNKNOWN


def test_checks_as_objects():
    either = AnyOf(parts=[MaxToolCalls(limit=0), [ExpectedInAnswer(terms=["a"])]])
    assert either.judge(run(answer="a"), None).status is PASS
    assert either.judge(run(Step.tool_call("x"), answer="b"), None).status is FAIL
    with pytest.raises(ValueError, match="checks to combine"):
        AnyOf(parts=[])


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"any_of": []}, "a list of blocks"),
        ({"any_of": HOLDS}, "a list of blocks"),
        ({"any_of": [{}]}, "a mapping with checks"),
        ({"any_of": ["exact_match"]}, "a mapping with checks"),
        ({"not": [HOLDS]}, "a mapping with checks"),
        ({"any_of": [{"exact_mtch": "x"}]}, "did you mean `exact_match`"),
        ({"any_of": [{"exact_match": {"value": "x", "severity": "warn"}}]}, "no severity"),
        ({"any_of": [{"max_tool_calls": 1}]}, "belongs in the `path` block"),
        ({"any_of": [{"state": ["true"]}]}, "cannot be a part"),
        ({"any_of": [{"normalize": "unicode"}]}, "has no effect alone"),
        ({"anyof": [HOLDS]}, "did you mean `any_of`"),
        ({"not": {"not": {"regex_match": "("}}}, "not.not.regex_match"),
        ({"any_of": [{"exact_match": None}]}, "any_of[0].exact_match"),
        ({"not": {"value": HOLDS, "severity": "high"}}, "severity"),
    ],
)
def test_mistakes_are_reported_with_their_place(block, said):
    assert said in refusal("correctness", block)


def test_a_mistake_in_a_file_has_line_and_column(tmp_path):
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "version: 1\nagent: a\nqueries:\n  - query: q\n    correctness:\n"
        "      any_of:\n        - exact_match: x\n        - not: {expected_in_answr: [y]}\n"
        "    path:\n      not:\n        max_tool_calls:\n"
    )
    with pytest.raises(SpecError) as caught:
        load_suite(spec)
    places = {(one.line, one.column) for one in caught.value.problems}
    assert places == {(8, 17), (11, 9)}


# Parts that ask a judge


class Scores:
    """A judge that gives each rule its score, and remembers what it was asked."""

    def __init__(self, **scores):
        self.scores, self.asked = scores, []

    def __call__(self, request):
        self.asked.append(request.rubric.rule)
        score = self.scores[request.rubric.rule]
        return {"score": score, "rationale": "because"}


def with_judge(block, scores, answer="yes", turns=None):
    data = {"query": "question", "correctness": block}
    case = EvalCase.from_dict(data)
    judge = Judge(scores)
    result = evaluate(case, run(answer=answer), judge=judge)
    (found,) = result.layers["correctness"].checks
    return found, result


def rubric(rule):
    return {"llm_judge": [{"rule": rule}]}


@pytest.mark.parametrize(
    ("good", "kind", "status"),
    [(5, FAIL, PASS), (1, FAIL, FAIL), (5, PASS, PASS), (1, PASS, PASS)],
)
def test_a_rubric_may_be_a_part(good, kind, status):
    free = {"exact_match": "yes" if kind is PASS else "no"}
    scores = Scores(polite=good)
    found, _ = with_judge({"any_of": [free, rubric("polite")]}, scores)
    assert found.status is status
    assert scores.asked == ([] if kind is PASS else ["polite"])
    if scores.asked:
        assert [verdict.rule for verdict in found.verdicts] == ["polite"]
        assert "llm_judge: score" in found.message


def test_several_rubrics_keep_their_own_verdicts():
    scores = Scores(polite=1, brief=5, kind=1)
    block = {"any_of": [rubric("polite"), {"all_of": [rubric("brief"), {"not": rubric("kind")}]}]}
    found, _ = with_judge(block, scores)
    assert found.status is PASS
    assert sorted(scores.asked) == ["brief", "kind", "polite"]
    scores = Scores(polite=1, brief=1, kind=1)
    assert with_judge(block, scores)[0].status is FAIL


def test_without_a_judge_a_rubric_in_a_part_is_unknown():
    case = EvalCase.from_dict({"query": "question", "correctness": {"not": rubric("polite")}})
    result = evaluate(case, run(answer="yes"))
    (found,) = result.layers["correctness"].checks
    assert found.status is UNKNOWN
    assert result.status is LayerStatus.ERROR


def test_a_combination_that_asked_the_judge_counts_as_judged():
    _, result = with_judge({"any_of": [rubric("polite")]}, Scores(polite=1))
    outcome = _verdict(SimpleNamespace(result=result, trace=None))
    assert outcome.judged == {"correctness.any_of.None"}
