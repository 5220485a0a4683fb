"""Charts: what they draw is computed by hand, and kept as files that a person has looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lxml import etree

from trialrun.reports.pages import svg
from trialrun.reports.pages.svg import Interval, Point

GOLDEN = Path(__file__).parent / "golden"


def percent(value: float) -> str:
    return f"{value:.0%}"


CHARTS = {
    "histogram": svg.histogram([1, 2, 2, 3, 3, 3, 4, 10], "Cost", lambda value: f"${value:g}"),
    "one-value": svg.histogram([5, 5, 5], "Tokens", lambda value: f"{value:g}"),
    "curve": svg.curve(
        [Point("k=1", 0.9, 0.8, 1.0), Point("k=2", 0.7, 0.5, 0.9), Point("k=3", 0.5, 0.2, 0.8)],
        "pass^k",
    ),
    "trend": svg.trend(
        [Point("a", 0.5, note="run a", href="/runs/a"), Point("b", 1.0), Point("c", 0.75)],
        "Pass rate",
        percent,
        share=True,
    ),
    "intervals": svg.intervals(
        [
            Interval("cost", 0.1, 0.05, 0.15, "worse"),
            Interval("tokens", -0.02, -0.1, 0.06, ""),
            Interval("latency", -0.2, -0.3, -0.1, "better"),
        ],
        "change",
    ),
    "shares": svg.shares([("fail", 1), ("pass", 3), ("error", 0)], "agent"),
    "heat-map": svg.heat_map(
        [("case a", "/a", ["pass", "fail"]), ("case b", "", ["pass"])], "stability"
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_as_it_was_when_it_was_looked_at(name):
    """WRITE_GOLDEN=1 writes the files again: then look at them in a browser."""
    file = GOLDEN / f"{name}.svg"
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(f"{CHARTS[name]}\n", encoding="utf-8")
    assert f"{CHARTS[name]}\n" == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_well_formed_and_says_what_it_shows(name):
    root = etree.fromstring(CHARTS[name])
    has_links = "<a " in CHARTS[name]
    assert root.get("role") == ("group" if has_links else "img") and len(root.get("aria-label")) > 5
    assert not [one for one in root.iter() if "style" in one.attrib]


def test_the_bars_of_a_histogram_are_counts():
    # 8 values in 8 bins of 1.125 from 1 to 10: [1, 2, 2], [3, 3, 3], [4], and 10 in the last.
    root = etree.fromstring(CHARTS["histogram"])
    heights = [float(one.get("height")) for one in root.iter("rect")]
    assert heights == [104.0, 104.0, pytest.approx(34.7), pytest.approx(34.7)]
    assert root.get("aria-label") == "Cost of 8 attempts: median $3, 95% at most $10"


def test_shares_are_parts_of_the_whole():
    root = etree.fromstring(CHARTS["shares"])
    parts = [(one.get("class"), one.get("x"), one.get("width")) for one in root.iter("rect")]
    assert parts == [("w-fail", "0", "250"), ("w-pass", "250", "750")]


def test_an_interval_across_zero_is_drawn_as_unsure():
    root = etree.fromstring(CHARTS["intervals"])
    assert [one.get("class") for one in root.iter("circle")] == ["worse", "unsure", "better"]


def test_an_interval_far_beyond_the_others_does_not_press_them_into_a_point():
    rows = [Interval(f"m{n}", 0.01, 0.0, 0.02, "") for n in range(4)]
    root = etree.fromstring(svg.intervals([*rows, Interval("odd", 50, 40, 60, "worse")], "x"))
    first, *_ = [one for one in root.iter("line") if "whisker" in one.get("class")]
    assert float(first.get("x2")) - float(first.get("x1")) > 15


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.25, 0.5, 0.75, 1]), (-3, 3, [-2, 0, 2]), (0, 70, [0, 20, 40, 60]), (5, 5, [5])],
)
def test_ticks_are_round(low, high, expected):
    assert svg.ticks(low, high) == expected


@pytest.mark.parametrize("values", [[], [float("nan"), float("inf")]])
def test_without_values_a_chart_says_so(values):
    assert "nothing recorded" in svg.histogram(values, "Cost", percent)
    assert "nothing recorded" in svg.trend([Point("a", one) for one in values], "Cost", percent)


def test_text_in_a_chart_never_becomes_markup():
    hostile = '"><script>x</script>\u202e'
    for chart in (
        svg.heat_map([(hostile, f'/a"{hostile}', ["pass"])], hostile),
        svg.intervals([Interval(hostile, 0, 0, 0, "")], hostile),
        svg.trend([Point(hostile, 1, note=hostile, href=hostile)], hostile, percent),
    ):
        assert {etree.QName(one).localname for one in etree.fromstring(chart).iter()} <= {
            "svg", "title", "text", "line", "circle", "rect", "a", "polyline", "polygon",
        }  # fmt: skip
        assert "\u202e" not in chart
