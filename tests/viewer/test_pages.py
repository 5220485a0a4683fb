"""Every page is rendered from a store, with agents' texts as text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from tests.reports.pages import attempt
from tests.viewer.conftest import HOST
from tests.viewer.stores import FIRST, HOSTILE, JUDGED, REPEATED, SECOND, record
from trialrun import Step
from trialrun.reports.views.printable import unhidden
from trialrun.store import RunState, open_store
from trialrun.viewer import run_pages
from trialrun.viewer.app import make_app

PAGES = {
    "runs": "/",
    "runs, searched": "/?q=nightly&sort=rate",
    "run": f"/runs/{SECOND}",
    "run, filtered": f"/runs/{SECOND}?status=fail&sort=name",
    "case": f"/runs/{SECOND}/cases/1",
    "hostile case": f"/runs/{SECOND}/cases/5",
    "repeated case": f"/runs/{REPEATED}/cases/1",
    "judged case": f"/runs/{JUDGED}/cases/0",
    "figures": f"/runs/{SECOND}/figures",
    "stability": f"/runs/{REPEATED}/stability",
    "judge": f"/runs/{JUDGED}/judge",
    "no judge": f"/runs/{FIRST}/judge",
    "compare": f"/compare?before={FIRST}&after={SECOND}",
    "choose": "/compare",
}


class Tags(HTMLParser):
    """What a browser would make of a page: its tags and attributes, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def tags_of(text: str) -> Tags:
    found = Tags()
    found.feed(text)
    return found


@pytest.mark.parametrize("address", PAGES.values(), ids=PAGES)
def test_every_page_is_rendered_and_inert(client, address):
    response = client.get(address)
    assert response.status_code == 200
    found = tags_of(response.text)
    scripts = [attrs for tag, attrs in found.tags if tag == "script"]
    assert [one["src"] for one in scripts] == ["/assets/page.js", "/assets/viewer.js"]
    for tag, attrs in found.tags:
        assert tag not in ("img", "iframe", "object", "embed", "style", "base"), tag
        assert not [name for name in attrs if name.startswith("on") or name == "style"], attrs
        assert not str(attrs.get("href", "")).lower().startswith(("javascript:", "data:", "http"))
    assert "\u202e" not in response.text and "\x1b" not in response.text


def test_hostile_text_is_shown_as_it_is(client):
    text = "".join(tags_of(client.get(f"/runs/{SECOND}/cases/5").text).texts)
    assert unhidden(HOSTILE) in text


def test_runs_are_listed_with_where_they_came_from(client):
    text = client.get("/").text
    listed = text[text.index('<ul class="rows') :]
    places = [listed.index(run_id) for run_id in (JUDGED, REPEATED, SECOND, FIRST)]
    assert places == sorted(places)
    assert "2abcdef012 (main)" in text and "nightly" in text
    rows = [attrs for tag, attrs in tags_of(text).tags if attrs.get("type") == "checkbox"]
    assert len(rows) == 4
    assert f"/compare?before={FIRST}&amp;after={SECOND}" in text


def test_trends_are_over_the_runs_of_one_spec(client):
    text = client.get("/?spec=/shop/support.yaml").text
    assert "Trends of support.yaml" in text
    points = re.findall(r'<a href="/runs/([^"]+)"><circle[^>]*><title>([^<]+)', text)
    assert {run_id for run_id, _ in points} == {FIRST, SECOND, REPEATED}
    notes = [note for run_id, note in points if run_id == FIRST]
    assert any("1abcdef012 (main) · nightly" in note for note in notes)
    assert "Trends of" not in client.get("/?spec=/shop/rubrics.yaml").text
    # The newest run is the only one of its spec.
    assert "Trends of support.yaml" in client.get("/").text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=rubrics", {JUDGED}),
        ("q=nightly+support", {FIRST, SECOND}),
        ("q=3abcdef", {REPEATED}),
        ("spec=/shop/rubrics.yaml", {JUDGED}),
        ("kind=verify", set()),
        ("q=nothing-like-it", set()),
    ],
)
def test_runs_are_filtered(client, query, found):
    text = client.get(f"/?{query}").text
    assert set(re.findall(r'name="run" value="([^"]+)"', text)) == found


def test_runs_are_sorted_by_their_pass_rate(client):
    text = client.get("/?sort=rate").text
    order = re.findall(r'name="run" value="([^"]+)"', text)
    # By hand: 1 of 5, 2 of 5, 2 of 3 and 5 of 6 attempts with a verdict passed.
    assert order == [SECOND, FIRST, JUDGED, REPEATED]


def names(text: str) -> list[str]:
    return re.findall(r'data-f="name">([^<]+)<', text)


def test_cases_are_found_by_their_question_and_by_every_check(client):
    assert "passing" in names(client.get(f"/runs/{FIRST}?q=how+long").text)
    found = names(client.get(f"/runs/{FIRST}?q=not_in_answer").text)
    assert [name.split()[0] for name in found] == ["failing", "hostile"]
    assert names(client.get(f"/runs/{FIRST}?q=how+short").text) == []


def test_failures_come_first_with_reason_and_step(client):
    text = client.get(f"/runs/{FIRST}").text
    assert names(text)[:1] == ["failing"]
    assert names(text)[-1] == "repeated"
    row = re.search(r'<li class="row fail".*?</li>', text, re.DOTALL)[0]
    assert "forbidden_tools" in row and "step 3 · issue_refund" in row


def test_cases_are_filtered_searched_and_sorted(client):
    def found(query: str) -> list[str]:
        return [
            name for name in names(client.get(f"/runs/{FIRST}?{query}").text) if "<" not in name
        ]

    assert found("status=warn") == ["warned"]
    assert found("status=unknown") == ["silent"]
    assert found("q=issue_refund+policy&status=fail") == ["failing"]
    assert found("q=receipt") == ["failing"]
    assert found("q=no+such+thing") == []
    by_name = found("sort=name")
    assert by_name == sorted(by_name)
    assert found("sort=plan")[0] == "passing"
    assert len(found("status=nonsense&sort=nonsense")) == len(found(""))


def test_the_list_is_in_parts(client, filled, monkeypatch):
    from trialrun.viewer import run_pages

    monkeypatch.setattr(run_pages, "PAGE", 4)
    first = client.get(f"/runs/{FIRST}?sort=plan").text
    assert len(names(first)) == 4
    more = re.search(r'<a href="([^"]+)" rel="next">', first)[1].replace("&amp;", "&")
    second = client.get(more).text
    assert len(names(second)) == 2
    assert not set(names(first)) & set(names(second))
    assert 'rel="next"' not in second


def test_a_case_leads_to_those_beside_it_in_the_filtered_list(client):
    text = client.get(f"/runs/{FIRST}/cases/1?sort=plan").text
    links = dict(re.findall(r'<a href="([^"]+)" rel="(prev|next)">', text))
    assert set(links.values()) == {"prev", "next"}
    assert f"/runs/{FIRST}/cases/0?sort=plan" in links
    assert f"/runs/{FIRST}/cases/2?sort=plan" in links


def test_a_step_has_an_address(client):
    text = client.get(f"/runs/{FIRST}/cases/1").text
    assert 'id="c1-1-3"' in text
    assert f'href="/runs/{FIRST}/cases/1#c1-1-3"' in text


def test_stability_shows_each_attempt(client):
    text = client.get(f"/runs/{REPEATED}/stability").text
    assert "1 of 2 cases passed in some attempts and failed in others" in text
    assert text.count('class="w-fail"') == 1 and text.count('class="w-pass"') == 5
    assert "2 of 3" in text and "21% to 94%" in text  # Wilson's interval, by hand
    assert "pass^k" in text


def test_two_runs_are_compared_with_links_to_both_cases(client):
    text = client.get(f"/compare?run={SECOND}&run={FIRST}").text
    assert f"{FIRST} → {SECOND}" in text
    assert "1 broke" in re.sub(r"<[^>]+>", "", text)
    for run_id in (FIRST, SECOND):
        assert f'href="/runs/{run_id}/cases/0"' in text
    assert text.count("Distributions") == 1


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("/runs/nope", "no run is"),
        (f"/runs/{FIRST}/cases/99", "has no case 99"),
        (f"/compare?before={FIRST}&after={FIRST}", "are the same run"),
        (f"/compare?run={FIRST}", "two runs can be compared, 1 were chosen"),
        ("/compare?before=nope&after=nope", "no run is"),
        ("/nothing", "there is no such page"),
    ],
)
def test_what_is_not_there_is_said(client, address, why):
    response = client.get(address)
    assert response.status_code == 404
    assert why in "".join(tags_of(response.text).texts)


def test_a_run_in_progress_is_followed(filled, client):
    from tests.reports.pages import attempt, calls

    live = "20260304-101000-live"
    spec = {"name": "one", "correctness": {"expected_in_answer": ["30 days"]}}
    made = [attempt(spec, calls())]
    try:
        record(filled, live, 10, made, repeat=2, state=RunState.RUNNING)
        assert "cut off" in client.get("/").text
        with filled.hold(live):
            text = client.get(f"/runs/{live}").text
            assert "running: 1 of 2 attempts" in text
            shown = re.search(r'data-poll="([^"]+)" data-version="([^"]+)"', text)
            assert client.get(shown[1]).text == shown[2]
            again, trace, _ = attempt(spec, calls(), number=2)
            from trialrun.store import Attempt

            filled.add(
                live,
                [Attempt(position=0, attempt=2, result=again, trace=trace)],
                lambda value: value,
            )
            assert client.get(shown[1]).text != shown[2]
            assert "running: 2 of 2 attempts" in client.get(f"/runs/{live}").text
            assert 'data-poll="/version"' in client.get("/").text
    finally:
        filled.delete_runs([live], held=True)


def test_a_store_without_runs_says_how_to_make_one(tmp_path):
    from starlette.testclient import TestClient

    from tests.viewer.conftest import HOST
    from trialrun.store import open_store
    from trialrun.viewer.app import make_app

    with open_store(str(tmp_path / "runs.db")) as store:
        client = TestClient(make_app(store, [HOST]), base_url=f"http://{HOST}")
        assert "trialrun run spec.yaml" in client.get("/").text


def test_a_long_timeline_shows_the_step_that_is_asked_for(filled, client, monkeypatch):
    from trialrun.reports.pages import timeline
    from trialrun.viewer import run_pages

    for module in (timeline, run_pages):
        monkeypatch.setattr(module, "MOST_STEPS", 2)
    monkeypatch.setattr(timeline, "_LAST", 1)
    address = f"/runs/{REPEATED}/cases/0"
    first = client.get(address).text
    assert 'id="c0-1-1"' in first and 'id="c0-1-2"' not in first
    assert "of 4 <button>Show" in first
    assert 'id="c0-1-2"' in client.get(f"{address}?step=2").text
    assert client.get(f"{address}?step=99999").status_code == 200


@pytest.mark.postgres
def test_pages_over_postgresql_are_those_over_sqlite(client, postgres_url):
    from starlette.testclient import TestClient

    from tests.viewer.conftest import HOST
    from tests.viewer.stores import fill
    from trialrun.store import open_store
    from trialrun.viewer.app import make_app

    with open_store(postgres_url) as store:
        fill(store)
        other = TestClient(make_app(store, [HOST]), base_url=f"http://{HOST}")
        for address in PAGES.values():
            ours, theirs = (
                re.sub(r'(name="token" value=)"[^"]+"|<small class="dim">[^<]*</small>', "", page)
                for page in (client.get(address).text, other.get(address).text)
            )
            assert ours == theirs, address


def test_a_trace_is_shown_as_json_with_its_secrets_masked(tmp_path):
    secret = "sk-ant-api03-" + "a1B2" * 12
    login = Step.tool_call("login", {"password": "open", "text": f"{HOSTILE}\ud800"}, secret)
    made = [attempt({"name": "a", "correctness": {"expected_in_answer": ["30"]}}, [login])]
    with open_store(str(tmp_path / "runs.db")) as store:
        record(store, FIRST, 1, made)
        client = TestClient(make_app(store, [HOST]), base_url=f"http://{HOST}")
        address = f"/runs/{FIRST}/cases/0/trace-1.json"
        assert f'href="{address}"' in client.get(f"/runs/{FIRST}/cases/0").text
        response = client.get(address)
        assert response.headers["content-type"] == "application/json"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.text.isascii() and secret not in response.text
        (step,) = response.json()["steps"]
        assert step["tool_args"]["password"] == "[redacted]"
        assert HOSTILE in step["tool_args"]["text"]
        for other in ("cases/0/trace-2.json", "cases/1/trace-1.json", "cases/0/trace-x.json"):
            assert client.get(f"/runs/{FIRST}/{other}").status_code == 404


def test_the_trace_is_masked_even_if_the_store_has_it_as_it_was(tmp_path, monkeypatch):
    made = attempt({"name": "a"}, [Step.tool_call("login", {"password": "open"}, "in")])
    monkeypatch.setattr(run_pages, "with_missing", lambda *given: iter([made[:2]]))
    with open_store(str(tmp_path / "runs.db")) as store:
        kept = record(store, FIRST, 1, [made])
        text = run_pages.trace_json(store, kept, 0, 1)
        assert json.loads(text)["steps"][0]["tool_args"] == {"password": "[redacted]"}
