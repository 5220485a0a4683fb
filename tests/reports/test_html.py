"""The one-file HTML report: what is in it, that it is one file, and that agents' text is inert."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256

import lxml.html
import pytest
from msgspec.structs import replace

from tests.reports.pages import (
    CORRECT,
    HOSTILE,
    attempt,
    calls,
    case_pages,
    run,
    unpacked,
)
from tests.reports.pages import Recorded as RecordedResults
from tests.reports.test_comparison import comparison
from trialrun import Step, Trace
from trialrun.cli.main import main
from trialrun.engine.sharing import shared_run
from trialrun.model.results import RunResult
from trialrun.model.verified import Verification
from trialrun.reports.base import View
from trialrun.reports.html import HtmlReport
from trialrun.reports.pages import timeline

KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


@pytest.fixture(scope="module")
def text() -> str:
    return HtmlReport().render(run(), View())


@pytest.fixture(scope="module")
def pages(text) -> dict[str, lxml.html.HtmlElement]:
    found = [lxml.html.fromstring(page) for page in case_pages(text)]
    return {page.get("id"): page for page in found}


def words(page) -> str:
    return " ".join(page.text_content().split())


def classed(page, name):
    """The elements of a class."""
    return page.xpath(f"//*[contains(concat(' ', @class, ' '), ' {name} ')]")


def one_case(spec, steps=(), **fields):
    made = [attempt(spec, steps, **fields)]
    text = HtmlReport().render(RunResult(results=RecordedResults(made), planned=1), View())
    return lxml.html.fromstring(case_pages(text)[0])


# The list


def test_what_broke_is_said_first_and_failures_are_the_first_rows(text):
    page = lxml.html.fromstring(text)
    assert words(page.find(".//h1")) == "✗fail 2 of 6 cases failed, 1 in error, 1 flaky, 1 warned"
    rows = [row.find(".//*[@data-f='name']").text for row in page.xpath("//li[@data-n]")][:6]
    assert rows[0] == "failing" and rows[1].startswith("hostile")
    assert rows[2:] == ["silent", "repeated", "warned", "passing"]


def test_a_row_has_the_reason_and_the_step(text):
    page = lxml.html.fromstring(text)
    (row,) = page.xpath("//li[@data-n='1']")
    shown = words(row)
    assert "forbidden_tools forbidden, but called: issue_refund" in shown
    assert "step 3 · issue_refund +2 more" in shown
    assert "correctness ✗fail path ✗fail" in shown


def test_of_what_passed_the_row_has_the_question(text):
    row, _ = lxml.html.fromstring(text).xpath("//li[@data-n='0']")  # and the template
    assert words(row.find(".//*[@data-f='why']")) == "How long?"


def test_a_case_is_found_by_each_check_that_did_not_pass_and_by_its_question(text):
    index = json.loads(unpacked(text, "index"))
    assert "expected_in_answer not_in_answer How long?" in index[1][13]


def test_the_last_step_that_failed_is_named_where_there_is_no_answer():
    steps = [Step.tool_call("search", {}, error="busy"), Step.tool_call("track", {}, error="down")]
    made = [attempt({"name": "n", **CORRECT}, steps, output=None, error="timed out")]
    text = HtmlReport().render(RunResult(results=RecordedResults(made), planned=1), View())
    row, _ = lxml.html.fromstring(text).xpath("//li[@data-n='0']")  # and the template
    assert "timed out step 2 · track" in words(row)
    (page,) = map(lxml.html.fromstring, case_pages(text))
    assert words(page).count("timed out") == 2  # the reason, and the check without a verdict
    assert "track failed: down" in words(page)


def test_unknown_checks_have_a_count_of_their_own(text):
    page = lxml.html.fromstring(text)
    (chip,) = page.xpath("//label[@class='chip unknown']")
    assert words(chip) == "? 1 check unknown"


def test_the_index_of_the_script_has_every_case_with_its_sort_keys(text):
    index = json.loads(unpacked(text, "index"))
    assert [entry[1] for entry in index] == ["pass", "fail", "warn", "error", "flaky", "fail"]
    assert index[1][6:8] == [3, "issue_refund"]
    assert index[4][14] == "pf"  # the attempts: one passed, one failed
    assert "policy" in index[1][13]


# The page of a case


def test_each_check_has_its_own_mark_with_wanted_and_found(pages):
    rows = pages["c1"].xpath(".//table[@class='checks']/tbody/tr")
    found = {row.xpath("string(th/text())").strip(): row for row in rows}
    assert {name: row.get("class") for name, row in found.items()} == {
        "expected_in_answer": "fail",
        "not_in_answer": "fail",
        "forbidden_tools": "fail",
    }
    cells = [words(cell) for cell in found["not_in_answer"].xpath("td")]
    assert cells[1:3] == ["none of: 30 days", "30 days"]


def test_a_failed_check_does_not_colour_its_neighbours():
    spec = {
        "name": "two",
        "path": {"max_tool_calls": 9, "forbidden_tools": ["search"]},
    }
    rows = one_case(spec, calls()).xpath(".//table[@class='checks']/tbody/tr")
    assert sorted(row.get("class") for row in rows) == ["fail", "pass"]


def test_matched_and_forbidden_terms_are_marked_in_the_answer(pages):
    (bad,) = pages["c1"].xpath(".//mark[@class='bad']")
    (hit,) = pages["c0"].xpath(".//mark[@class='hit']")
    assert (bad.text, hit.text) == ("30 days", "30 days")
    assert "missing: receipt" in words(pages["c1"])


def test_the_verdict_is_pinned_to_the_step_that_decided_it(pages):
    (step,) = pages["c1"].xpath(".//details[contains(@class, 'pinned')]")
    assert step.get("id") == "c1-1-3"
    assert "✗ forbidden_tools" in words(step.find("summary"))
    links = pages["c1"].xpath(".//a[@href='#c1-1-3']")
    assert links and all(link.text == "step 3" for link in links)


def test_steps_are_bars_in_time(pages):
    # 3 s in all: the steps begin after 0, 1, 1.5 and 2 s and take 1, 0.5, – and 1 s.
    bars = pages["c0"].xpath(".//details[contains(@class, 's k-')]//rect")
    found = [(int(bar.get("x")), int(bar.get("width"))) for bar in bars]
    assert found == [(0, 33), (33, 17), (50, 1), (67, 33)]


def test_a_step_has_its_arguments_its_result_tokens_and_cost(pages):
    step = pages["c0"].xpath(".//details[@id='c0-1-2']")[0]
    assert [part.text for part in step.xpath("h4")] == ["Arguments", "Result"]
    assert json.loads(step.xpath("pre")[0].text) == {"query": "returns"}
    call = pages["c0"].xpath(".//details[@id='c0-1-1']/summary")[0]
    assert [part.text for part in call.xpath("s")] == ["120", "$0.001", "1.0 s"]


def test_the_path_is_aligned(pages):
    rows = pages["c2"].xpath(".//table[@class='path']/tbody/tr")
    assert [row.get("class") for row in rows] == ["p-same", "p-extra"]
    assert [words(cell) for cell in rows[1].xpath("td")] == [
        "+ extra",
        "",
        'issue_refund(order: "12")failed: "denied"',
        "step 3",
    ]


def lines_of_path(check, names, steps):
    """The kind of each line of the path; None where the page says that it is as expected."""
    page = one_case({"name": "n", "path": {check: names}}, steps)
    (section,) = page.xpath(".//section[h2[starts-with(., 'Path')]]")
    lines = [row.get("class") for row in section.xpath(".//tbody/tr")]
    return None if "wants it" in words(section) else lines


def test_a_path_as_expected_has_no_lines():
    found = [Step.tool_call("search", {}, "x"), Step.tool_call("refund", {}, "x")]
    assert lines_of_path("expected_tools", ["search", "refund"], found) is None
    assert lines_of_path("expected_tools", ["refund"], found) is None
    assert lines_of_path("expected_tool_sequence", ["search", "refund"], found) is None
    assert lines_of_path("expected_tools", ["mail"], found) == ["p-also", "p-also", "p-missing"]


def test_the_order_of_a_path_counts_where_a_check_is_about_it():
    found = [Step.tool_call("search", {}, "x"), Step.tool_call("refund", {}, "x")]
    assert lines_of_path("expected_tools", ["refund", "search"], found) is None
    wrong = lines_of_path("expected_tool_sequence", ["refund", "search"], found)
    assert sorted(wrong) == ["p-moved", "p-same"]


def test_anchors_of_other_cases_in_texts_stay_as_they_are():
    """In the file, a mark is in place of what the anchors of a case begin with."""
    answers = [f"see c0-1 and c{number}-2" for number in range(2)]
    steps = [Step.tool_call("search", {}, "the long text of a page that names c0-1 and c1-1")]
    made = [
        attempt({"name": str(number), "cost": {"max_total_tokens": 1}}, steps, output=answer)
        for number, answer in enumerate(answers)
    ]
    text = HtmlReport().render(RunResult(results=RecordedResults(made), planned=2), View())
    assert "c1-" not in unpacked(text, "k0").split("\x1e")[-1]
    for number, page in enumerate(map(lxml.html.fromstring, case_pages(text))):
        assert answers[number] in words(page)
        assert "names c0-1 and c1-1" in words(page)
        assert page.xpath(f".//details[@id='c{number}-1-1']")


def test_what_the_trace_did_not_record_is_said_at_the_top(pages):
    (gaps,) = pages["c3"].xpath(".//ul[@class='gaps']")
    assert "not recorded:" in words(gaps) and "tokens" in words(gaps)
    assert not pages["c0"].xpath(".//ul[@class='gaps']/li[contains(., 'tokens')]")


def test_attempts_are_side_by_side_and_the_worst_is_open(pages):
    table = pages["c4"].xpath(".//table[@class='attempts']")[0]
    assert "No idea." in words(table)
    opened = pages["c4"].xpath(".//details[@class='attempt' and @open]")
    assert [part.get("id") for part in opened] == ["c4-2"]


def test_a_trace_can_be_copied_as_a_case(pages):
    (copy,) = pages["c1"].xpath(".//pre[@id='copy-1']")
    assert copy.text.startswith('- name: failing\n  query: "How long?"\n  path:\n    tool_args:')


def test_a_baseline_is_the_expected_path():
    before = Trace(input="q", output="a", steps=[Step.tool_call("search", {"q": 1}, "x")])
    result, trace, _ = attempt(
        {"name": "c", "path": {"max_tool_calls": 5}},
        [Step.tool_call("search", {"q": 2}, "x"), Step.tool_call("rank", {}, "y")],
    )
    run_of = RunResult(results=RecordedResults([(result, trace, before)]), planned=1)
    page = lxml.html.fromstring(case_pages(HtmlReport().render(run_of, View()))[0])
    rows = page.xpath(".//table[@class='path']/tbody/tr")
    assert [row.get("class") for row in rows] == ["p-changed", "p-extra"]
    assert "q 1 → 2" in words(rows[0])


def test_without_a_trace_it_is_said():
    result, _, _ = attempt({"name": "c", "path": {"max_tool_calls": 5}})
    page = case_pages(HtmlReport().render(RunResult(results=[result], planned=1), View()))[0]
    assert "no trace is recorded" in page


def test_of_a_very_long_trace_the_decisive_steps_are_kept(monkeypatch):
    monkeypatch.setattr(timeline, "MOST_STEPS", 10)
    monkeypatch.setattr(timeline, "_LAST", 2)
    steps = [Step.tool_call("delete" if i == 50 else "search", {"i": i}, "x") for i in range(100)]
    page = one_case({"name": "c", "path": {"forbidden_tools": ["delete"]}}, steps)
    shown = [int(one.get("id").split("-")[2]) for one in page.xpath(".//details[@id]")]
    assert shown == [*range(1, 9), 51, 99, 100]
    assert "42 steps are not in this page" in words(page)


def test_long_values_are_cut_and_the_rest_is_counted():
    page = one_case(
        {"name": "c", "path": {"max_tool_calls": 5}}, [Step.tool_call("s", {}, "x" * 25_000)]
    )
    assert "5,000 more characters are not in this page" in words(page)


# One file, and safe


def test_the_policy_allows_our_style_and_scripts_by_hash_and_nothing_else(text):
    page = lxml.html.fromstring(text)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; connect-src 'none'")
    scripts = [one.text for one in page.xpath("//script[not(@type)]")]
    (style,) = page.xpath("//style/text()")
    for content in (*scripts, style):
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert len(scripts) == policy.partition("script-src")[2].count("sha256-") == 2


def test_nothing_is_fetched_and_no_attribute_runs_anything(text):
    for page in (text, *case_pages(text)):
        for node in lxml.html.fromstring(page).iter():
            for name, value in node.attrib.items():
                assert not name.startswith("on") and name not in ("src", "style", "srcdoc")
                if name in ("href", "action"):
                    assert value.startswith("#"), value
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_text_of_an_agent_never_becomes_markup(text):
    for page in (text, *case_pages(text), unpacked(text, "index")):
        assert "\u202e" not in page and "\x1b" not in page
    page = next(page for page in case_pages(text) if "hostile" in page)
    tree = lxml.html.fromstring(page)
    tags = {node.tag for node in tree.iter()}
    assert not tags & {"script", "img", "a href", "iframe"}
    assert "</script><script>window.pwned=1</script>" in tree.text_content()
    assert "{{ 7*7 }}" in tree.text_content() and "49" not in words(tree.find(".//h1"))


def test_each_page_is_well_formed(text):
    for page in case_pages(text):
        opened = re.findall(r"<(details|section|table|ul|div|p)\b", page)
        closed = re.findall(r"</(details|section|table|ul|div|p)>", page)
        assert sorted(opened) == sorted(closed)


def test_secrets_are_masked_by_key_too_and_counted():
    steps = [Step.tool_call("login", {"password": "hunter2-x"}, f"token {KEY}")]
    made = [attempt({"name": "c", "path": {"max_tool_calls": 5}}, steps, output=f"It is {KEY}.")]
    text = HtmlReport().render(RunResult(results=RecordedResults(made), planned=1), View())
    (page,) = case_pages(text)
    assert KEY not in page and "hunter2-x" not in page and "[redacted]" in page
    assert "3 values masked" in text


def test_a_shared_run_has_steps_and_figures_but_no_texts():
    text = HtmlReport().render(shared_run(run()), View())
    pages = " ".join(case_pages(text))
    assert "issue_refund" in pages and "small-model" in pages
    for secret in ("Within 30", "returns", "a.md", "denied"):
        assert secret not in pages and secret not in text
    assert "left out, to be shared" in text and "Copy as case" not in pages
    assert "[left out]" not in "".join(
        json.dumps(row[5]) for row in json.loads(unpacked(text, "index"))
    )


def test_an_empty_run_and_one_without_repeats_have_figures():
    assert "Nothing was run" in HtmlReport().render(RunResult(results=[], planned=0), View())


def test_sessions_that_could_not_be_read():
    text = HtmlReport().render_sessions(Verification([], (), ["x.jsonl: line 1: broken"]), View())
    assert "No session could be read" in text and "Nothing was run" not in text


# Other pages


def test_a_comparison_says_in_words_what_cannot_be_told_apart():
    page = lxml.html.fromstring(HtmlReport().render_comparison(comparison(), View()))
    assert comparison().sentence[1:] in words(page)
    assert "The two runs cannot be told apart in" in words(page)
    (chart,) = page.xpath("//*[local-name()='svg' and @class='chart']")
    assert chart.get("aria-label").startswith("change from before")


# Without Jinja2


@pytest.mark.parametrize("command", [["score", "s.yaml", "t.json", "-o", "x.html"]])
def test_without_jinja_the_report_is_refused_before_anything_runs(
    command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(command) == 2
    assert "pip install 'trialrun[view]'" in capsys.readouterr().err


def test_without_jinja_a_notebook_shows_the_plain_repr(monkeypatch):
    trace = Trace(input="q", output="a")
    assert trace._repr_html_().startswith("<iframe")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert trace._repr_html_() is None


def test_in_a_notebook_text_of_an_agent_stays_in_a_sandboxed_frame():
    for value in (Trace(input=HOSTILE, output=HOSTILE), run(), run().results[6]):
        (frame,) = lxml.html.fragments_fromstring(value._repr_html_())
        assert frame.get("sandbox") == "" and frame.get("src") is None
        tags = {node.tag for node in lxml.html.fromstring(frame.get("srcdoc")).iter()}
        assert not tags & {"script", "img", "iframe"}


def test_importing_trialrun_does_not_import_jinja():
    code = "import sys, trialrun, trialrun.reports.html; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_rows_of_a_run_are_replaced_by_other_results_without_traces():
    """Results that were made to be shared bring no traces along by accident."""
    bare = replace(run(), results=list(run().results))
    assert "no trace is recorded" in case_pages(HtmlReport().render(bare, View()))[0]


def test_a_notebook_shows_nothing_that_needs_a_script_or_says_what_is_not_so():
    (frame,) = lxml.html.fragments_fromstring(Trace(input="q", output="a")._repr_html_())
    page = lxml.html.fromstring(frame.get("srcdoc"))
    assert not classed(page, "badge")  # no check has judged it
    assert ".bare [data-do]{display:none}" in words(page) and classed(page, "bare")
    result, _, _ = attempt({"name": "a", **CORRECT}, calls())
    (frame,) = lxml.html.fragments_fromstring(result._repr_html_())
    page = lxml.html.fromstring(frame.get("srcdoc"))
    assert classed(page, "badge") and "no trace is recorded" not in words(page)
