"""What is said about the rules in a new baseline."""

from __future__ import annotations

from pathlib import Path

from trialrun import Step, Trace
from trialrun.engine.baseline_files import Written
from trialrun.engine.baseline_notes import notes_on
from trialrun.model.argument_rules import Bound, Rules


def written(rules, *calls):
    repeats = [Trace(input="q", steps=[Step.tool_call("t", given)]) for given in calls]
    return Written(Path("t.json"), repeats, rules, True)


def test_each_kind_of_rule_is_listed_once():
    rules = Rules(
        {
            "t": {
                "same": "exact",
                "text": "same_type",
                "id": "same_type",
                "key": "ignore",
                "deep.amount": Bound(within=5),
            }
        },
        ["get_*"],
    )
    call = {"same": 1, "text": "a text of words", "key": "[redacted]", "deep": {"amount": 3}}
    one = written(rules, {**call, "id": "a"}, {**call, "id": "b"})
    found = notes_on([one, one])
    assert found.free_texts == ["t.text"]
    assert found.masked == ["t.key"]
    assert found.others == ["t.deep.amount within 5", "t.id same_type", "get_* any_number"]


def test_a_text_that_varied_is_not_listed_as_constant():
    one = written(
        Rules({"t": {"text": "same_type"}}),
        {"text": "one of two texts"},
        {"text": "a second one here"},
    )
    assert notes_on([one]).free_texts == []
    assert notes_on([one]).others == ["t.text same_type"]


def test_exact_arguments_and_no_files_have_no_notes():
    assert notes_on([]) == notes_on([written(Rules(), {"a": 1})])
