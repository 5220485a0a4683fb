"""The report of a comparison: readable, complete, and safe for any text of an agent."""

from __future__ import annotations

import json

import pytest

from tests.reports.runs import NASTY
from trialrun.engine.compare import compare
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import LayerStatus
from trialrun.reports.views.comparison import document, render, render_json

PASS, WARN, FAIL, ERROR = (LayerStatus(name) for name in ("pass", "warn", "fail", "error"))
KEY = "sk-" + "a1" * 15


def seen(status=PASS, answer="30 days", path=("search", "rank"), tokens=100.0, **fields):
    fields.setdefault("metrics", {"token_usage": tokens, "odd": None})
    return Seen(
        status=status, answer=answer, path=path, cost_usd=tokens / 1e4, total_tokens=tokens,
        duration_ms=1500.0, **fields,
    )  # fmt: skip


def sides():
    before = {("s", f"same-{n}"): [seen()] for n in range(6)}
    after = {("s", f"same-{n}"): [seen(tokens=120.0)] for n in range(6)}
    cases = {
        "broken": ([seen()], [seen(FAIL, "14 days", ("browse", "rank", "search"), 200.0)]),
        "healed": ([seen(FAIL, "14 days")], [seen()]),
        "warned": ([seen()], [seen(WARN)]),
        "reworded": ([seen()], [seen(answer="a month")]),
        "nasty": ([seen()], [seen(FAIL, NASTY, (NASTY, KEY))]),
        "crashed": ([seen()], [seen(ERROR, None, error=f"refused {KEY}")]),
    }
    for name, (old, new) in cases.items():
        before["s", name], after["s", name] = old, new
    before["s", "gone"] = [seen()]
    after["s", "new"] = [seen()]
    return Side("main", before), Side("branch", after)


def comparison():
    return compare(*sides(), {"token_usage": False})


def repeated(old, new):
    return compare(Side("main", {("s", "a"): old}), Side("branch", {("s", "a"): new}), {})


def test_the_first_lines_are_the_sentence_and_its_p_value():
    lines = render(comparison()).splitlines()
    assert lines[0].startswith("mixed: 2 of 11 cases broke, 1 fixed, p = 1.00; ")
    assert lines[1] == (
        "main → branch · 11 pairs of attempts: 2 for the worse, 1 for the better; p is two-sided"
    )
    lines = render(repeated([seen()], [seen(FAIL)])).splitlines()
    assert lines[1].endswith("; p is one-sided, two-sided p = 1.00")
    lines = render(repeated([seen()], [seen()])).splitlines()
    assert lines[1] == "main → branch · 1 pair of attempts, all with the same verdict as before"


def test_the_measures_are_a_table():
    lines = render(comparison()).splitlines()
    needed = "cases are needed to detect a difference of 5 points (power 80%, p < 0.05)"
    assert lines.pop(2).endswith(needed)
    assert lines[3].split() == ["before", "after", "change", "95%", "interval"]
    # Eleven cases at 100 tokens before; after, (6·120 + 200 + 4·100) / 11 = 120.
    assert lines[5].split()[:4] == ["total_tokens", "100", "120", "+20"]
    assert lines[5].endswith("worse")
    assert lines[4].split()[:4] == ["cost_usd", "$0.01", "$0.012", "+$0.002"]
    assert lines[6].endswith("no clear difference")
    assert lines[7].split() == ["odd", "–", "–", "–", "–", "unknown", "(no", "pair", "has", "it)"]
    assert lines[8] == ""


def test_a_metric_equal_to_a_figure_is_shown_only_if_its_values_differ():
    assert "token_usage" not in render(comparison())
    found = repeated([seen(metrics={"token_usage": 7.0})], [seen(metrics={"token_usage": 8.0})])
    assert "token_usage" in render(found)


def test_why_a_measure_is_not_judged():
    few = render(repeated([seen()], [seen(tokens=900.0)]))
    assert "unknown (only 1 case)" in few
    cases = [seen(metrics={"m": 1.0}) for _ in range(60)]
    other = [seen(metrics={"m": 2.0 if n < 5 else 1.0}) for n in range(60)]
    found = compare(
        Side("main", {("s", str(n)): [case] for n, case in enumerate(cases)}),
        Side("branch", {("s", str(n)): [case] for n, case in enumerate(other)}),
        {"m": True},
    )
    assert "no clear difference (only 5 cases differ)" in render(found)
    some = {("s", str(n)): [seen(metrics={"m": 1.0 if n else None})] for n in range(8)}
    text = render(compare(Side("main", some), Side("branch", some), {}))
    assert "no clear difference (1 of 8 pairs do not have it)" in text


def test_broken_cases_come_first_then_fixed_ones_then_others():
    lines = render(comparison()).splitlines()
    kinds = [line.split()[:2] for line in lines if line[:1].isupper()]
    assert kinds == [
        ["BROKE", "broken"], ["BROKE", "nasty"], ["FIXED", "healed"], ["CHANGED", "warned"],
    ]  # fmt: skip
    start = lines.index("BROKE    broken  pass → fail")
    assert lines[start + 1 : start + 6] == [
        "         answer  30 days",
        "              →  14 days",
        "         path    search → browse (call 1)",
        "                 + search after call 2",
        "         took    $0.01 → $0.02 · 100 → 200 tokens · 1,500 → 1,500 ms",
    ]


def test_cases_with_the_same_verdict_are_counted_and_shown_when_verbose():
    assert "1 case with the same verdict but another answer or path: -v" in render(comparison())
    text = render(comparison(), verbose=True)
    assert "CHANGED  reworded  pass as before" in text
    assert "another answer or path: -v" not in text


def test_cases_that_were_not_compared_are_listed():
    lines = render(comparison()).splitlines()
    assert lines[lines.index("not compared") :] == [
        "not compared",
        "  only before (1): gone",
        "  only after (1): new",
        "  no verdict after (1): crashed (refused [redacted])",
        "",
        "compared, though",
        "  what was asked is not recorded: 11 cases, of a run by an older trialrun",
    ]


def test_repeats_show_pass_counts_and_which_attempt_is_shown():
    old, new = [seen(), seen(), seen(ERROR), seen()], [seen(), seen(FAIL, "no"), seen()]
    text = render(repeated(old, new))
    assert "BROKE    a  3/3 passed → 2/3 passed (attempt 2 is shown)" in text
    assert "1 pair of attempts without a verdict on both sides" in text
    assert "1 attempt without a counterpart on the other side" in text


def test_long_lists_of_names_are_cut_unless_verbose():
    before, after = sides()
    more = {("s", f"gone-{n}"): [seen()] for n in range(9)}
    found = compare(Side("main", {**before.cases, **more}), after, {})
    assert "only before (10): gone, gone-0, gone-1, gone-2, gone-3 and 5 more" in render(found)
    assert "gone-8" in render(found, verbose=True)


def test_long_answers_are_shown_where_they_differ():
    common = "The same beginning. " * 20
    found = repeated([seen(answer=common + "Yes" + "x" * 900)], [seen(FAIL, common + "No")])
    lines = [line.strip() for line in render(found).splitlines()]
    (old,) = [line for line in lines if line.startswith("answer")]
    (new,) = [line for line in lines if line.startswith("→")]
    assert "Yes" in old and len(old) < 200
    assert new.endswith("The same beginning. No")


def test_a_key_is_masked_before_an_answer_is_cut():
    """The answers differ in the middle of a key: its second half would not be recognised."""
    common = "word " * 30 + "sk-" + "a1" * 40
    found = repeated([seen(answer=common + "zzzz")], [seen(FAIL, common + "yyyy")])
    assert "a1a1a1" not in render(found)


@pytest.mark.parametrize("colour", [False, True])
def test_text_of_an_agent_is_escaped_on_the_terminal(colour):
    text = render(comparison(), colour=colour, verbose=True)
    text.encode()
    assert "\\x1b[31mred\\x00" in text
    assert "\u202e" not in text
    assert KEY not in text
    assert ("\x1b[" in text) is colour
    if not colour:
        assert {sign for sign in text if not sign.isprintable()} == {"\n"}


def test_json_is_ordered_versioned_complete_and_masked():
    text = render_json(comparison())
    read = json.loads(text)
    assert list(read)[:8] == [
        "format_version", "trialrun", "regression", "worse", "before", "after", "sentence",
        "compared",
    ]  # fmt: skip
    assert (read["format_version"], read["regression"], read["worse"]) == (1, True, True)
    assert read["test"] == {"p_two_sided": 1.0, "p_worse": 0.5, "p_better": 0.875}
    assert [case["case"] for case in read["only_before"]] == ["gone"]
    assert read["only_before"][0]["lost"] is True
    assert {change["case"] for change in read["changes"]} == {
        "broken", "healed", "warned", "reworded", "nasty",
    }  # fmt: skip
    assert [m["interval"] for m in read["measures"] if m["name"] == "odd"] == [None]
    assert KEY not in text and "\u202e" not in text and "\x1b" not in text
    assert text == render_json(comparison())
    assert text.endswith("}\n")


def test_the_document_is_plain_values():
    assert json.loads(json.dumps(document(comparison()))) is not None
