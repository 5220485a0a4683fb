"""The one-file report in Chromium: opened from disk, filtered, sorted, read by keyboard."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.reports.ledgers import verification
from tests.reports.pages import Recorded as RecordedResults
from tests.reports.pages import attempt, calls, run
from tests.reports.test_comparison import comparison
from trialrun.model.results import RunResult
from trialrun.reports.base import View
from trialrun.reports.html import SESSIONS_CHUNK, HtmlReport

pytestmark = pytest.mark.browser

READY = "html[data-ready]"
NAMES = ".row [data-f=name]"


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(HtmlReport().render(run(), View()), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    """1,000 cases: more than fit the window, and ten compressed parts."""
    made = []
    for number in range(1000):
        wrong = number % 100 == 7
        spec = {"name": f"case-{number:04}", "correctness": {"expected_in_answer": ["30 days"]}}
        made.append(attempt(spec, calls(), output="No." if wrong else "30 days"))
    text = HtmlReport().render(RunResult(results=RecordedResults(made), planned=1000), View())
    path = tmp_path_factory.mktemp("report") / "many.html"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def opened(open_file, file):
    made = open_file(file)
    made.page.wait_for_selector(READY)
    return made


def names(page) -> list[str]:
    return [text.split()[0] for text in page.locator(NAMES).all_inner_texts()]


def test_it_opens_without_an_error_and_asks_for_nothing(opened):
    assert names(opened.page)[0] == "failing"
    assert opened.wrong == []


def test_text_of_an_agent_runs_nowhere(opened):
    page = opened.page
    for number in range(6):
        page.goto(f"{page.url.partition('#')[0]}#c{number}")
        page.wait_for_selector(f"#c{number} h1")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.wait_for_timeout(100)
    assert page.evaluate("window.pwned") is None
    assert page.locator("article img, article script, article iframe").count() == 0
    assert opened.wrong == []


def test_filter_search_and_sort(opened):
    page = opened.page
    page.locator(".chip.fail").click()
    assert names(page) == ["failing", "hostile"]
    page.locator(".chip.fail").click()
    page.locator(".chip.unknown").click()
    assert names(page) == ["silent"]
    page.locator(".chip.unknown").click()
    page.fill("input[type=search]", "issue_refund policy")
    assert names(page) == ["failing"]
    assert page.locator(".shown").inner_text() == "1 of 6 cases"
    page.fill("input[type=search]", "")
    page.select_option("select[name=sort]", "name")
    assert names(page) == ["failing", "hostile", "passing", "repeated", "silent", "warned"]
    assert opened.wrong == []


def test_a_case_opens_and_a_link_leads_to_the_step(opened):
    page = opened.page
    page.locator(".row a").first.click()
    page.wait_for_selector("#c1 h1")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.locator("#c1 .reason .step-link").first.click()
    step = page.wait_for_selector("#c1-1-3[open]")
    assert "denied" in step.inner_text() and step.is_visible()
    page.go_back()
    page.locator("[data-do=back]").click()
    assert names(page)[0] == "failing"
    assert opened.wrong == []


def test_a_deep_link_opens_the_case_with_its_step(open_file, file):
    made = open_file(file, "#c1-1-3")
    made.page.wait_for_selector("#c1-1-3.here")
    assert made.page.locator("#c1-1-3").get_attribute("open") is not None
    assert made.wrong == []


def test_the_steps_of_a_closed_attempt_are_opened_by_their_link(open_file, file):
    made = open_file(file, "#c4-1-2")
    made.page.wait_for_selector("#c4-1-2.here")
    assert made.page.locator("#c4-1-2").is_visible()


def test_by_keyboard_alone(opened):
    page = opened.page
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.closest('.row').dataset.n") == "1"
    page.keyboard.press("Enter")
    page.wait_for_selector("#c1 h1")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator("#c1-1-1").get_attribute("open") is not None
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert page.evaluate("document.activeElement.closest('.row').dataset.n") == "1"
    page.keyboard.press("/")
    page.keyboard.type("warned")
    assert names(page) == ["warned"]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert opened.wrong == []


def test_figures_are_a_part_of_the_file(opened):
    opened.page.locator(".top nav a", has_text="Figures").click()
    assert opened.page.locator("#figures-view svg.chart").count() >= 3
    assert opened.page.locator("#list").is_hidden()
    assert opened.wrong == []


def test_expand_and_copy(opened):
    page = opened.page
    page.goto(f"{page.url.partition('#')[0]}#c1")
    page.wait_for_selector("#c1 h1")
    page.locator("[data-do=expand]").click()
    assert page.locator("details.s[open]").count() == 4
    page.locator("details.copy > summary").click()
    page.locator("[data-do=copy]").click()
    page.wait_for_selector(".said:not(:empty)")  # the policy allows no `wait_for_function`
    assert opened.wrong == []


def test_a_thousand_cases_are_a_list_of_which_the_visible_part_is_there(open_file, many):
    made = open_file(many)
    page = made.page
    page.wait_for_selector(READY)
    assert page.locator(".row").count() < 60
    assert names(page)[:10] == [f"case-{number:04}" for number in range(7, 1000, 100)]
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_selector(".row[data-n='999']")
    assert page.locator(".row").count() < 60
    page.locator(".row[data-n='999'] a").click()
    page.wait_for_selector("#c999 h1")
    page.locator("[data-do=back]").click()
    page.wait_for_selector(".row[data-n='999']")
    assert made.wrong == []


@pytest.mark.parametrize("width", [380, 768, 1920])
@pytest.mark.parametrize("place", ["", "#c1", "#c4", "#figures"])
def test_nothing_is_wider_than_the_window(open_file, file, width, place):
    made = open_file(file, place, width=width)
    made.page.wait_for_selector(READY)
    assert made.page.evaluate("document.documentElement.scrollWidth") <= width
    assert made.wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", ["", "#c1", "#c4", "#figures"])
def test_no_serious_fault_of_accessibility(open_file, file, scheme, place):
    made = open_file(file, place, scheme=scheme)
    made.page.wait_for_selector(READY)
    assert serious(made.page) == []


def other_pages(tmp_path):
    report = HtmlReport()
    pages = {
        "comparison": report.render_comparison(comparison(), View()),
        "sessions": report.render_sessions(verification(), View()),
    }
    for name, text in pages.items():
        path = tmp_path / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        yield path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_other_pages_are_accessible_and_narrow(open_file, tmp_path, scheme):
    for path in other_pages(tmp_path):
        made = open_file(path, width=380, scheme=scheme)
        assert made.page.evaluate("document.documentElement.scrollWidth") <= 380
        assert serious(made.page) == []
        assert made.wrong == []


def test_on_paper_every_case_is_there(opened):
    opened.page.emulate_media(media="print")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator(".row").count() == 6
    assert opened.page.locator(".filters").is_hidden()
    assert len(opened.page.pdf()) > 1000


def serious(page) -> list[str]:
    """The faults that axe calls serious or critical, with their places."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {[node['target'] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_a_finding_of_a_session_leads_to_its_step(open_file, tmp_path):
    path = tmp_path / "sessions.html"
    path.write_text(HtmlReport().render_sessions(verification(), View()), encoding="utf-8")
    made = open_file(path)
    page = made.page
    page.wait_for_selector(READY)
    assert page.locator("h1").first.inner_text().endswith("1 of 1 session not compliant")
    page.locator(".row a").first.click()
    page.wait_for_selector("#c0 h1")
    page.locator(".ledger tr.fail .step-link").nth(1).click()
    step = page.wait_for_selector("#c0-1-2[open].here")
    assert "my tax.py" in step.inner_text()
    assert serious(page) == []
    assert made.wrong == []


def test_a_session_of_a_later_part_opens(open_file, tmp_path):
    found = verification()
    (session,), (trace,) = found.sessions, found.traces
    sessions = [replace(session, name=f"session {number}") for number in range(SESSIONS_CHUNK + 2)]
    several = replace(found, sessions=sessions, traces=[trace] * len(sessions))
    path = tmp_path / "sessions.html"
    path.write_text(HtmlReport().render_sessions(several, View()), encoding="utf-8")
    made = open_file(path, f"#c{SESSIONS_CHUNK + 1}-1-2")
    made.page.wait_for_selector(f"#c{SESSIONS_CHUNK + 1}-1-2.here")
    assert f"session {SESSIONS_CHUNK + 1}" in made.page.locator("#case-body h1").inner_text()
    assert made.wrong == []
