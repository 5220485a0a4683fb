"""The HTML report of `trialrun verify`: sessions as cases, with their ledgers and timelines."""

from __future__ import annotations

import lxml.html
from msgspec.structs import replace

from tests.reports.ledgers import verification
from tests.reports.pages import HOSTILE, case_pages, unpacked
from tests.reports.test_html import classed, words
from trialrun.reports import html
from trialrun.reports.base import View
from trialrun.reports.html import HtmlReport


def test_hostile_findings_of_sessions_are_inert():
    found = verification(message=f"tax.py {HOSTILE}", claim=HOSTILE)
    text = HtmlReport().render_sessions(found, View())
    page = "".join([text, *case_pages(text)])
    assert "window.pwned=1&lt;/script&gt;" in page and "<img" not in page


def session_page(found):
    return lxml.html.fromstring(case_pages(HtmlReport().render_sessions(found, View()))[0])


def test_a_session_has_its_timeline_and_findings_link_to_its_steps():
    page = session_page(verification())
    assert [one.get("id") for one in classed(page, "s")] == ["c0-1-1", "c0-1-2"]
    (ledger,) = classed(page, "ledger")
    (row,) = [row for row in ledger.xpath(".//tr[@class='fail']") if "my tax.py" in words(row)]
    assert row.xpath(".//a/@href") == ["#c0-1-1", "#c0-1-2"]
    assert "All tests pass." in words(row) and "(run: pytest -q)" in words(row)
    (preview,) = ledger.xpath(".//tr[@class='skip']")
    assert "TR107" in words(preview) and preview.xpath(".//a/text()") == ["step 1"]
    assert "c0-1-2" in [one.get("id") for one in classed(page, "fail-pin")]
    assert "it is known" not in words(page)  # to the baseline


def test_a_session_without_its_trace_keeps_its_ledger():
    page = session_page(replace(verification(), traces=()))
    assert "my tax.py was changed" in words(classed(page, "ledger")[0])
    assert not classed(page, "s")


def test_sessions_are_counted_as_sessions_each_with_its_own_page():
    found = verification()
    (session,), (trace,) = found.sessions, found.traces
    ledger = replace(session.ledger, findings=(), compliant=True)
    honest = replace(session, ledger=ledger)
    problem = "torn.jsonl: it is cut off"
    several = replace(
        found,
        sessions=[session, honest, session],
        traces=[trace, replace(trace, steps=[]), trace],
        problems=[problem],
    )
    text = HtmlReport().render_sessions(several, View())
    said = words(classed(lxml.html.fromstring(text), "verdict")[0])
    assert "2 of 3 sessions not compliant" in said and problem in said
    assert "3 sessions: 1 compliant" in said
    pages = [lxml.html.fromstring(page) for page in case_pages(text)]
    assert [len(classed(page, "s")) for page in pages] == [2, 0, 2]


def test_a_part_holds_few_sessions(monkeypatch):
    monkeypatch.setattr(html, "SESSIONS_CHUNK", 2)
    found = verification()
    several = replace(found, sessions=list(found.sessions) * 5, traces=list(found.traces) * 5)
    text = HtmlReport().render_sessions(several, View())
    assert 'data-size="2"' in text
    counts = [unpacked(text, f"k{part}").count("<article ") for part in range(3)]
    assert counts == [2, 2, 1] and 'id="k3"' not in text
