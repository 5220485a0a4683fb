"""Markdown for GitHub: text of agents stays text, and a page never exceeds GitHub's limit."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.reports.ledgers import verification
from tests.reports.runs import everything, result
from trialrun import Step, Trace
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import (
    LAYERS,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    LayerStatus,
    RunResult,
    Severity,
)
from trialrun.reports.base import View
from trialrun.reports.markdown import MarkdownReport
from trialrun.reports.views.markdown import LONGEST, Page, code, html_code, width

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

HOSTILE = (
    "@octocat",
    "#1 fixes #2",
    "[a](javascript:alert(1))",
    "![x](http://evil/x.png)",
    "<img src=x onerror=alert(1)>",
    "<!-- hidden",
    "--> shown",
    "</details>",
    "</summary>",
    "a | b | c",
    "a \\| b",
    "ends with \\",
    "`x`",
    "``` ```",
    "`",
    "a``b`c",
    "\n\n# heading\n\n- [ ] task",
    "| a |\n|---|\n",
    "$x$ ~~y~~ **z**",
    "https://evil.example www.evil.example",
    "\u202egpj.exe\u2066\x1b[31m",
    "\ud800",
    "",
    " ",
)
TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.lists(st.sampled_from(HOSTILE), max_size=3).map("".join),
    st.text(alphabet="`|\\<>[]()!@#*_~$-\n &;:ab", max_size=30),
)


def run_with(text):
    """A run in which every text that an agent could have written is this one."""
    check = CheckResult("some_check", CheckStatus.FAIL, Severity.FAIL, text, data={"steps": [text]})
    path = CheckResult("a_path", CheckStatus.FAIL, Severity.FAIL, "x", data={"path": [["+", text]]})
    layers = dict.fromkeys(LAYERS, LayerResult(LayerStatus.SKIP))
    layers["path"] = LayerResult(LayerStatus.FAIL, (check,))
    layers["regression"] = LayerResult(LayerStatus.FAIL, (path,))
    return RunResult(
        planned=2,
        warnings=[text],
        results=[
            EvaluationResult(
                case_name=text,
                suite_name=text,
                status=LayerStatus.FAIL,
                layers=layers,
                metrics=[],
                question=text,
                answer=text,
                error=text or "e",
            ),
            result(text, LayerStatus.PASS),
        ],
    )


def structure(page):
    """The kinds of the tokens of a page and its HTML, without what is in code."""
    found = []
    for token in PARSER.parse(page):
        found.append(token.type)
        if token.type == "html_block":
            found.append(re.sub(r"<code>[^<]*</code>", "<code></code>", token.content))
        found += [
            child.type if child.type == "code_inline" else (child.type, child.content)
            for child in token.children or ()
        ]
    return found


PLAIN = structure(MarkdownReport().render(run_with("plain"), View()))


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_no_text_changes_the_structure_of_a_page(text):
    made = structure(MarkdownReport().render(run_with(text), View()))
    if not text:  # what is empty has no line of its own
        assert not any("html" in str(kind) and "img" in str(kind) for kind in made)
        return
    assert made == PLAIN


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_is_one_token_with_the_text(text):
    (_, inline, _) = PARSER.parse(f"x {code(text)} y")
    kinds = [child.type for child in inline.children]
    assert kinds == ["text", "code_inline", "text"]
    assert "<" not in html_code(text).removeprefix("<code>").removesuffix("</code>")


@pytest.mark.parametrize("text", HOSTILE)
def test_text_in_sessions_stays_text(text):
    def page(value):
        found = verification(message=value, claim=value, no_verdict=value)
        return structure(MarkdownReport().render_sessions(found, View()))

    if text.strip():
        assert page(text) == page("plain")


def test_a_summary_comes_first_and_what_passed_is_collapsed():
    lines = MarkdownReport().render(everything(), View()).splitlines()
    assert lines[0] == (
        "## trialrun: 4 cases: 1 passed, 1 warned, 1 failed, 1 in error · 1 check unknown · "
        "at least $0.75"
    )
    text = "\n".join(lines)
    assert text.index("### What failed") < text.index("<summary>1 warned</summary>")
    assert "<details><summary>1 passed</summary>\n\n- `good`\n" in text
    assert lines[-1] == "no value masked"


def test_what_changed_against_the_baseline_is_a_table_of_its_own():
    from trialrun import EvalCase, evaluate

    before = Trace(input="q", output="a", steps=[Step.tool_call("find"), Step.tool_call("mail")])
    after = Trace(input="q", output="a", steps=[Step.tool_call("find"), Step.tool_call("wipe")])
    case = EvalCase.from_dict({"name": "c", "query": "q", "regression": {"same_calls": True}})
    run = RunResult(results=[evaluate(case, after, before)], planned=1)
    text = MarkdownReport().render(run, View())
    assert "### What changed against the baseline" in text
    row = "| `c` | `same_calls` fail | `mail is missing; wipe is extra`<br>`find`  `-mail`  `+wipe`"
    assert row in text


def many(number, text):
    rows = [result(f"case {index}", LayerStatus.FAIL, f"{text} {index}") for index in range(number)]
    return RunResult(results=rows, planned=number)


@pytest.mark.parametrize("text", ["short", "long " * 60, "`" * 250, "🚀" * 250])
def test_a_page_never_exceeds_the_limit_and_counts_the_rest(text):
    page = MarkdownReport().render(many(3000, text), View())
    assert len(page.encode("utf-16-le")) // 2 <= LONGEST < 65_536
    (left,) = {int(found.replace(",", "")) for found in re.findall(r"and ([\d,]+) more, in", page)}
    rows = page.count("| `some_check` fail |")
    assert rows + left == 3000 and rows > 30


def test_what_is_open_is_closed_on_a_page_without_space():
    for limit in range(2_000, 9_000, 500):
        page = Page(limit)
        page.add("<details><summary>x</summary>", "")
        page.table(("a",), ([code("text " * 20)] for _ in range(1000)), 1000)
        page.end_details()
        page.end()
        page.add("the end")
        assert page.text.count("<details>") == page.text.count("</details>") == 1
        assert page.text.endswith("the end\n") and width(page.text) <= limit


def test_a_comparison_names_what_changed_in_which_case():
    from trialrun.engine.compare import compare

    def side(status, answer):
        return {("s", "c"): [Seen(status=status, answer=answer, calls=[])]}

    before = Side("main", side(LayerStatus.PASS, "30 days"))
    after = Side("branch", side(LayerStatus.FAIL, "a | month"))
    text = MarkdownReport().render_comparison(compare(before, after, {}), View())
    assert text.startswith("## trialrun: `")
    row = "| **broke** | `c` | `pass → fail` | `answer: 30 days → a │ month` |"
    assert row in text
