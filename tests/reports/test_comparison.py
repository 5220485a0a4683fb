"""The report of a comparison: readable, complete, and safe for any text of an agent."""

from __future__ import annotations

import json

import pytest

from tests.reports.runs import NASTY
from trialrun.engine.compare import compare
from trialrun.model.behaviour import Call
from trialrun.model.comparison import Seen, Side
from trialrun.model.results import LayerStatus
from trialrun.reports.views.comparison import document, render, render_json

PASS, WARN, FAIL, ERROR = (LayerStatus(name) for name in ("pass", "warn", "fail", "error"))
KEY = "sk-" + "a1" * 15


def seen(status=PASS, answer="30 days", path=("search", "rank"), tokens=100.0, **fields):
    fields.setdefault("metrics", {"token_usage": tokens, "odd": None})
    calls = [Call(name, {}, reply=number) for number, name in enumerate(path)]
    fields.setdefault("calls", calls)
    return Seen(
        status=status, answer=answer, cost_usd=tokens / 1e4, total_tokens=tokens,
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
    lines = render(comparison()).splitlines()[3:]
    assert lines[0].startswith(
        "mixed: 2 of 11 cases broke, 1 fixed, 1 with new warnings or unknown checks, p = 0.62; "
    )
    assert lines[1] == (
        "main → branch · 11 pairs of attempts: 3 for the worse, 1 for the better; p is two-sided"
    )
    lines = render(repeated([seen()], [seen(FAIL)])).splitlines()
    assert lines[1].endswith("; p is one-sided, two-sided p = 1.00")
    lines = render(repeated([seen()], [seen()])).splitlines()
    assert lines[1] == "main → branch · 1 pair of attempts, all with the same verdict as before"


def test_what_was_loosened_comes_before_everything_else():
    lines = render(comparison()).splitlines()
    assert lines[:3] == [
        "loosened: 1 case is checked less than before",
        "  the case is not in the later run: gone",
        "",
    ]
    assert list(json.loads(render_json(comparison())))[2] == "loosened"
    more = {("s", f"gone-{n}"): [seen()] for n in range(9)}
    before, after = sides()
    text = render(compare(Side("main", {**before.cases, **more}), after, {}))
    assert "not in the later run: gone, gone-0, gone-1, gone-2, gone-3 and 5 more" in text
    assert not render(repeated([seen()], [seen()])).startswith("loosened")


def test_the_measures_are_a_table():
    lines = render(comparison()).splitlines()[3:]
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
        ["BROKE", "broken"], ["BROKE", "nasty"], ["WORSE", "warned"], ["FIXED", "healed"],
        ["CHANGED", "reworded"],
    ]  # fmt: skip
    start = lines.index("BROKE    broken  pass → fail")
    assert lines[start + 1 : start + 5] == [
        "         browse is extra",
        "         rank moved",
        "         answer: 30 days → 14 days",
        "         took: $0.01 → $0.02 · 100 → 200 tokens · 1,500 → 1,500 ms",
    ]
    assert "CHANGED  reworded  pass as before" in lines


def called(**arguments):
    return [Call("issue_refund", arguments)]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (called(amount=20), called(amount=200), "issue_refund: amount 20 → 200"),
        (called(amount=20), called(), "issue_refund: amount 20 left out"),
        (called(amount=20), [], "issue_refund(amount: 20) is missing"),
        ([], called(amount=20), "issue_refund(amount: 20) is extra"),
        (
            [Call("find", {}, "sent")],
            [Call("find", {}, None, '"timeout"')],
            'find fails now: "timeout"',
        ),
        (
            [Call("find", {}, None, '"timeout"')],
            [Call("find", {}, "sent")],
            'find succeeds now; it failed before: "timeout"',
        ),
        ([Call("find", {}, 1)], [Call("find", {}, 2)], "find result: 1 → 2"),
        (
            [Call("a", {}, reply=1), Call("b", {}, reply=2)],
            [Call("b", {}, reply=1), Call("a", {}, reply=2)],
            "a moved",
        ),
        (
            [Call("handoff to billing", {})],
            [Call("handoff to sales", {})],
            "handoff to billing is missing",
        ),
        (
            [Call("a", None), Call("b", {})],
            [Call("a", {}, 1)],
            "a: arguments not recorded on both sides",
        ),
    ],
)
def test_each_change_is_a_line_without_v(before, after, line):
    text = render(repeated([seen(calls=before)], [seen(calls=after)]))
    assert f"\n         {line}" in text
    assert "CHANGED  a  pass as before" in text


def test_how_a_run_ended_and_newly_unknown_checks_are_lines():
    old = seen(stop="stop", decided=frozenset({"cost.max_cost_usd"}))
    new = seen(stop="length", unknown=frozenset({"cost.max_cost_usd"}))
    text = render(repeated([old], [new]))
    assert "WORSE    a  pass as before\n         cost.max_cost_usd is unknown now\n" in text
    assert "         ended: stop → length\n" in text


def test_the_first_twenty_changes_are_shown_and_the_rest_counted():
    names = [f"c{n:02}" for n in range(30)]
    before = Side("main", {("s", name): [seen(calls=called(amount=20))] for name in names})
    after = Side("branch", {("s", name): [seen(calls=called(amount=200))] for name in names})
    found = compare(before, after, {})
    text = render(found)
    assert text.count("issue_refund: amount 20 → 200") == 20
    assert "and 10 changes of 10 cases more: -v shows all" in text
    assert "c19" in text and "c20" not in text
    whole = render(found, verbose=True)
    assert whole.count("issue_refund: amount 20 → 200") == 30
    assert "-v shows all" not in whole
    assert len(json.loads(render_json(found))["changes"]) == 30


def test_json_has_the_changes_as_data():
    found = repeated([seen(calls=called(amount=20))], [seen(calls=called(amount=200))])
    read = json.loads(render_json(found))
    (change,) = read["changes"]
    assert change["behaviour"]["changed"][0]["arguments"] == [
        {"name": "amount", "before": "20", "after": "200"}
    ]
    assert (read["changed"], read["behave_differently"]) == (True, 1)


def test_different_numbers_of_attempts_do_not_look_like_one_each():
    text = render(repeated([seen()], [seen(), seen(FAIL), seen(FAIL)]))
    assert "BROKE    a  1/1 passed → 1/3 passed (attempt 2 is shown)" in text
    assert "1 pair of attempts, with the same verdict as before, 2 attempts without a pair" in text
    text = render(repeated([seen()] * 5, [seen(calls=called(amount=1))] * 2))
    assert "5/5 passed → 2/2 passed (2 of 2 behave differently, attempt 1 is shown)" in text


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
        "2 values masked",
    ]


def test_repeats_show_pass_counts_and_which_attempt_is_shown():
    old, new = [seen(), seen(), seen(ERROR), seen()], [seen(), seen(FAIL, "no"), seen()]
    text = render(repeated(old, new))
    assert (
        "BROKE    a  3/3 passed → 2/3 passed (1 of 3 behaves differently, attempt 2 is shown)"
        in text
    )
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
    (line,) = [line for line in lines if line.startswith("answer: ")]
    old, _, new = line.partition(" → ")
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
    assert list(read)[:10] == [
        "format_version", "trialrun", "loosened", "regression", "worse", "changed", "before",
        "after", "sentence", "compared",
    ]  # fmt: skip
    assert (read["format_version"], read["regression"], read["worse"]) == (1, True, True)
    # Three pairs for the worse, one for the better: (4 + 1) / 16 and 15 / 16.
    assert read["test"] == {"p_two_sided": 0.625, "p_worse": 0.3125, "p_better": 0.9375}
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
