"""The viewer in Chromium: filtered, compared, labelled, by mouse and by keyboard."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Opened
from tests.viewer.conftest import serving
from tests.viewer.stores import FIRST, JUDGED, REPEATED, SECOND, fill, record
from trialrun.store import RunState, open_store

pytestmark = pytest.mark.browser

NAMES = ".row [data-f=name]"
ADDRESSES = {
    "runs": "/",
    "run": f"/runs/{FIRST}",
    "case": f"/runs/{FIRST}/cases/1",
    "hostile": f"/runs/{FIRST}/cases/5",
    "repeated": f"/runs/{REPEATED}/cases/1",
    "figures": f"/runs/{FIRST}/figures",
    "stability": f"/runs/{REPEATED}/stability",
    "judge": f"/runs/{JUDGED}/judge",
    "compare": f"/compare?before={FIRST}&after={SECOND}",
    "missing": "/runs/nope",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with open_store(str(tmp_path_factory.mktemp("viewer") / "runs.db")) as opened:
        fill(opened)
        yield opened


@pytest.fixture(scope="module")
def address(store):
    with serving(store) as (port, _):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def opened(browser, address):
    """Opens a page of the viewer; at the end, nothing must have gone wrong in any."""
    contexts, pages = [], []

    def opens(place="/", width=1280, height=900, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        contexts.append(context)
        made = Opened(context.new_page())
        pages.append(made)
        made.page.goto(f"{address}{place}")
        return made.page

    yield opens
    # The page of what is missing is a 404, which Chromium mentions.
    wrong = [text for made in pages for text in made.wrong if "status of 404" not in text]
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.parametrize("place", ADDRESSES.values(), ids=ADDRESSES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (380, "dark"), (1920, "dark")])
def test_every_page_fits_and_is_accessible(opened, place, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(place, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.pwned") is None
    found = Axe().run(page).response["violations"]
    serious = [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_every_step_of_a_hostile_case_is_inert(opened):
    page = opened(f"/runs/{FIRST}/cases/5")
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    page.wait_for_timeout(100)
    assert page.evaluate("window.pwned") is None
    assert page.locator("main img, main script, main iframe").count() == 0


def test_cases_are_filtered_without_a_button(opened):
    page = opened(f"/runs/{FIRST}")
    page.locator(".chip.warn").click()
    page.wait_for_url(re.compile(r"status=warn"))
    assert page.locator(NAMES).all_inner_texts() == ["warned"]
    page.locator(".chip.warn").click()
    page.wait_for_url(re.compile(rf"{FIRST}$"))
    page.fill("input[type=search]", "receipt")
    page.wait_for_url(re.compile("q=receipt"))
    assert page.locator(NAMES).all_inner_texts() == ["failing"]
    assert page.evaluate("document.activeElement.name") == "q"
    page.fill("input[type=search]", "")
    page.wait_for_url(re.compile(rf"{FIRST}$"))
    page.select_option("select[name=sort]", "plan")
    page.wait_for_url(re.compile("sort=plan"))
    assert page.locator(NAMES).first.inner_text() == "passing"


def test_a_case_opens_and_a_link_leads_to_its_step(opened):
    page = opened(f"/runs/{FIRST}")
    page.locator(".row a").first.click()
    page.wait_for_selector("h1 >> text=failing")
    page.locator(".reasons .step-link").first.click()
    # The step is opened by an event after the click.
    assert "denied" in page.locator("#c1-1-3[open]").inner_text()
    page.reload()
    page.wait_for_selector("#c1-1-3[open]")


def test_the_keyboard_is_enough(opened):
    page = opened("/")
    page.keyboard.press("j")
    assert JUDGED in page.evaluate("document.activeElement.href")
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    assert SECOND in page.evaluate("document.activeElement.href")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"/runs/{SECOND}"))
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("receipt")
    page.wait_for_url(re.compile("q=receipt"))
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/cases/\d+"))
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(rf"/runs/{SECOND}\?q=receipt$"))


def test_the_first_tab_skips_to_the_content(opened):
    page = opened("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"


def test_two_runs_are_chosen_and_compared(opened):
    page = opened("/")
    button = page.locator("button[data-two]")
    assert button.is_disabled()
    for run_id in (SECOND, FIRST):
        page.check(f"input[value='{run_id}']")
    assert button.is_enabled()
    page.check(f"input[value='{JUDGED}']")
    assert button.is_disabled()
    page.uncheck(f"input[value='{JUDGED}']")
    button.click()
    page.wait_for_selector("text=Cases that changed")
    assert f"{FIRST} → {SECOND}" in page.locator("main").inner_text()
    page.locator("a >> text=case after").first.click()
    page.wait_for_url(re.compile(f"/runs/{SECOND}/cases/"))


def test_a_point_of_a_trend_leads_to_its_run(opened):
    page = opened("/?spec=/shop/support.yaml")
    page.locator(".trends a").first.click()
    page.wait_for_url(re.compile(f"/runs/{FIRST}"))


def test_an_answer_is_labelled(opened, store):
    page = opened(f"/runs/{JUDGED}/judge")
    form = page.locator("form.label").first
    form.locator("[name=reason]").fill("It does not answer.")
    form.locator("button >> text=Disagree").click()
    page.wait_for_selector("h1 >> text=a person agrees with 0 of 1")
    (label,) = store.labels.of([JUDGED]).values()
    assert (label.follows, label.reason) == (False, "It does not answer.")
    page.locator("button >> text=withdraw").click()
    page.wait_for_selector("h1:not(:has-text('a person'))")
    assert store.labels.of([JUDGED]) == {}


def test_a_run_is_followed_while_it_is_written(opened, store):
    from tests.reports.pages import attempt, calls
    from trialrun.store import Attempt

    live = "20260304-101000-live"
    spec = {"name": "one", "correctness": {"expected_in_answer": ["30 days"]}}
    record(store, live, 10, [attempt(spec, calls())], repeat=2, state=RunState.RUNNING)
    try:
        with store.hold(live):
            page = opened(f"/runs/{live}")
            assert "1 of 2 attempts" in page.locator(".running").inner_text()
            page.keyboard.press("j")
            result, trace, _ = attempt(spec, calls(), number=2)
            made = Attempt(position=0, attempt=2, result=result, trace=trace)
            store.add(live, [made], lambda value: value)
            page.wait_for_selector(".running >> text=2 of 2 attempts", timeout=20_000)
            assert "cases/0" in page.evaluate("document.activeElement.href")
    finally:
        store.delete_runs([live], held=True)
