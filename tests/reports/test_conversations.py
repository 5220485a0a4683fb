"""A conversation is shown turn by turn: each answer beside its question."""

from __future__ import annotations

import json as stdlib_json

import pytest

from trialrun import EvalCase, Step, Trace, evaluate
from trialrun.model.exchanges import exchange_lines
from trialrun.model.results import RunResult
from trialrun.reports import json, junit, terminal
from trialrun.reports.views.attempt import render as render_attempt
from trialrun.store.codec import pack_attempt, redact_plain, unpack_result
from trialrun.store.records import Attempt

KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


def conversation(turns: int = 2, failing: int = 1, answer: str = "answer {}"):
    queries = [{"query": f"question {number}"} for number in range(1, turns + 1)]
    queries[failing - 1]["correctness"] = {"expected_in_answer": ["30 days"]}
    case = EvalCase.from_dict({"name": "talk", "turns": queries})
    steps = [Step.tool_call("find")]
    for number in range(2, turns + 1):
        answered = {"answered": answer.format(number - 1)}
        steps.append(Step.human_input(f"question {number}", metadata=answered))
    trace = Trace(input="question 1", output=answer.format(turns), steps=steps)
    return evaluate(case, trace), trace


def texts(result):
    run = RunResult(results=[result], planned=1)
    with pytest.raises(AssertionError) as caught:
        run.assert_passed()
    return terminal.render(run), junit.render(run), str(caught.value)


@pytest.mark.parametrize("failing", [1, 2])
def test_each_turn_has_its_question_and_its_answer(failing):
    result, _ = conversation(failing=failing)
    for text in texts(result):
        places = [
            text.index(part)
            for part in (
                "turn 1 question: question 1",
                "turn 1 answer: answer 1",
                "turn 2 question: question 2",
                "turn 2 answer: answer 2",
            )
        ]
        assert places == sorted(places)


def test_json_has_the_turns_and_the_last_question_with_its_answer():
    result, _ = conversation()
    document = json.render(RunResult(results=[result], planned=1))
    (row,) = stdlib_json.loads(document)["results"]
    assert (row["question"], row["answer"]) == ("question 2", "answer 2")
    assert row["turns"] == [
        {"question": "question 1", "answer": "answer 1"},
        {"question": "question 2", "answer": "answer 2"},
    ]


def test_show_has_the_turns_around_their_steps():
    result, trace = conversation()
    text = render_attempt(result, trace)
    order = ["turn 1 asked: question 1", "find(", "turn 1 answered: answer 1"]
    order += ["turn 2 asked: question 2", "turn 2 answered: answer 2"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


@pytest.mark.parametrize("failing", [1, 12, 30])
def test_a_long_conversation_shows_the_failing_turn(failing):
    result, _ = conversation(turns=30, failing=failing)
    shown = list(exchange_lines(result))
    assert f"turn {failing} answer: answer {failing}" in shown
    assert len(shown) == 13 and shown[-1] == "… and 24 more turns"


def test_the_texts_of_many_turns_are_short():
    result, _ = conversation(turns=200, answer="word {} " + "word " * 1000)
    assert sum(len(turn.answer) for turn in result.turns) < 50_000


def test_a_turn_without_an_answer_says_so():
    case = EvalCase.from_dict(
        {"turns": [{"query": "a", "path": {"max_tool_calls": 1}}, {"query": "b"}]}
    )
    steps = [Step.human_input("b", metadata={"answered": "one"})]
    result = evaluate(case, Trace(input="a", output=None, steps=steps))
    assert list(exchange_lines(result)) == [
        "turn 1 question: a",
        "turn 1 answer: one",
        "turn 2 question: b",
        "turn 2 no answer",
    ]


def test_the_store_keeps_the_turns_and_masks_them():
    result, _ = conversation(answer=f"{KEY} {{}}")
    kept = unpack_result(pack_result(result, redact_plain))
    assert [turn.question for turn in kept.turns] == ["question 1", "question 2"]
    assert KEY not in repr(kept.turns) and KEY not in "".join(texts(result)[:2])
    plain, _ = conversation()
    assert unpack_result(pack_result(plain, redact_plain)).turns == plain.turns


def test_a_pattern_that_matches_our_words_leaves_the_record_readable():
    result, _ = conversation()
    masked = pack_result(result, lambda value: _without(value, "question"))
    assert [turn.answer for turn in unpack_result(masked).turns] == ["answer 1", "answer 2"]


def pack_result(result, redactor):
    return pack_attempt(Attempt(position=0, attempt=1, result=result), redactor)[1]


def _without(value, word):
    if isinstance(value, str):
        return value.replace(word, "[masked]")
    if isinstance(value, dict):
        return {_without(key, word): _without(item, word) for key, item in value.items()}
    return [_without(item, word) for item in value] if isinstance(value, list) else value
