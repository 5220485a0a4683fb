"""Labels are kept by the verdict that they are about; the last one counts."""

from __future__ import annotations

import pytest

from tests.store.samples import record_run
from trialrun.errors import UsageError
from trialrun.store.labels import Label, LabelPlace


def test_a_label_is_read_back_replaced_and_taken_back(store):
    run_id = record_run(store)
    place = LabelPlace(run_id, 1, 1, "llm_judge", 0, "polite \0 \ud800 rule")
    other = LabelPlace(run_id, 1, 1, "llm_judge", 2, "polite \0 \ud800 rule")
    store.labels.give(Label(place, True, "fine"))
    store.labels.give(Label(other, True))
    store.labels.give(Label(place, False, "no \0 greeting"))
    assert store.labels.of([run_id]) == {
        place: Label(place, False, "no \0 greeting"),
        other: Label(other, True),
    }
    assert store.labels.runs() == [run_id]
    store.labels.take_back(place)
    assert list(store.labels.of([run_id])) == [other]


def test_secrets_in_a_reason_are_masked(store):
    run_id = record_run(store)
    place = LabelPlace(run_id, 0, 1, "llm_judge", 0, "rule")
    store.labels.give(
        Label(place, True, "the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")
    )
    assert "sk-ant" not in store.labels.of([run_id])[place].reason


def test_a_label_about_nothing_is_refused(store):
    run_id = record_run(store)
    with pytest.raises(UsageError, match="plans no case 7"):
        store.labels.give(Label(LabelPlace(run_id, 7, 1, "llm_judge", 0, "rule"), True))


def test_labels_are_deleted_with_their_run(store):
    run_id = record_run(store)
    store.labels.give(Label(LabelPlace(run_id, 0, 1, "llm_judge", 0, "rule"), True))
    store.delete_runs([run_id])
    assert store.labels.of([run_id]) == {}
