"""A person's labels: given on a page, kept in the store, used by `judge audit`."""

from __future__ import annotations

import html
import re

import pytest

from tests.viewer.stores import JUDGED, RULE
from trialrun.store.labels import Label, LabelPlace
from trialrun.viewer.guard import FORM

ADDRESS = f"/runs/{JUDGED}/labels"


def forms(text: str) -> list[dict[str, str]]:
    """The hidden fields of each form."""
    found = []
    for form in re.findall(r'<form class="label".*?</form>', text, re.DOTALL):
        fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
        found.append({name: html.unescape(value) for name, value in fields})
    return found


def form_of(client, case: int) -> dict[str, str]:
    page = forms(client.get(f"/runs/{JUDGED}/judge").text)
    return next(form for form in page if form["position"] == str(case))


def place(case: int) -> LabelPlace:
    return LabelPlace(JUDGED, case, 1, "llm_judge", 0, RULE)


@pytest.fixture(autouse=True)
def no_labels(filled):
    yield
    for one in filled.labels.of([JUDGED]):
        filled.labels.take_back(one)


def test_disagreement_with_facts_comes_first(client):
    page = client.get(f"/runs/{JUDGED}/judge").text
    assert [form["position"] for form in forms(page)] == ["0", "1", "2"]
    assert "3 verdicts, 1 against the facts" in page


def test_agreeing_takes_the_verdict_of_the_judge(client, filled):
    given = {**form_of(client, 1), "label": "agree", "reason": " fine "}
    response = client.post(ADDRESS, data=given, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, f"/runs/{JUDGED}/judge")
    assert filled.labels.of([JUDGED]) == {place(1): Label(place(1), True, "fine")}
    page = client.get(f"/runs/{JUDGED}/judge").text
    assert "a person agrees with 1 of 1" in page


def test_disagreeing_is_the_other_verdict_and_can_be_withdrawn(client, filled):
    form = form_of(client, 0)
    client.post(ADDRESS, data={**form, "label": "disagree"})
    assert filled.labels.of([JUDGED])[place(0)].follows is False
    client.post(ADDRESS, data={**form, "label": "withdraw"})
    assert filled.labels.of([JUDGED]) == {}


def test_where_the_judge_gave_no_verdict_the_answer_itself_is_labelled(client, filled):
    form = form_of(client, 2)
    assert client.post(ADDRESS, data={**form, "label": "agree"}).status_code == 404
    client.post(ADDRESS, data={**form, "label": "fail"})
    assert filled.labels.of([JUDGED])[place(2)].follows is False


def test_a_label_on_the_page_of_a_case_leads_back_to_it(client):
    (form,) = forms(client.get(f"/runs/{JUDGED}/cases/1").text)
    response = client.post(ADDRESS, data={**form, "label": "agree"}, follow_redirects=False)
    assert response.headers["location"] == f"/runs/{JUDGED}/cases/1#labels"


@pytest.mark.parametrize(
    "change",
    [
        {"position": "7"},
        {"position": "-1"},
        {"attempt": "2"},
        {"check": "other"},
        {"turn": "1"},
        {"rule": "another rule"},
        {"label": "maybe"},
        {"label": ""},
    ],
)
def test_a_label_about_nothing_is_refused(client, filled, change):
    form = {**form_of(client, 1), "label": "agree", **change}
    assert client.post(ADDRESS, data=form).status_code == 404
    assert filled.labels.of([JUDGED]) == {}


def test_a_token_of_another_viewer_is_refused(client, filled):
    form = {**form_of(client, 1), "label": "agree", "token": "x" * 32}
    assert client.post(ADDRESS, data=form).status_code == 403
    response = client.post(ADDRESS, content="label=agree", headers={"content-type": FORM})
    assert response.status_code == 403
    assert filled.labels.of([JUDGED]) == {}
