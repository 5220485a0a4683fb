"""Charts as SVG: histograms, curves with an interval, intervals of differences, trends, heat maps.

Colours come from the style sheet, by class, so that a chart is dark where the page is. A chart
says in words what it shows (`label`), for people who do not see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, isfinite, log10

from msgspec import Struct

from trialrun.reports.views.printable import unhidden

Show = Callable[[float], str]


class Markup(str):
    """Text that is markup already, which templates do not escape again."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


class Interval(Struct, frozen=True):
    """A row of `intervals`: a difference with its interval, both as shares of the value before."""

    name: str
    value: float
    low: float
    high: float
    word: str  # better, worse, or "" where chance may explain it


class Point(Struct, frozen=True):
    """A point of `curve` or `trend`; `low` and `high` are its interval."""

    x: str
    y: float
    low: float | None = None
    high: float | None = None
    note: str = ""
    href: str = ""


def _svg(width: int, height: int, label: str, parts: Sequence[str]) -> Markup:
    title = _text_of(label)
    inside = "".join(parts)
    # What is in an image cannot be reached by keyboard: one with links is a group.
    role = "group" if "<a " in inside else "img"
    return Markup(
        f'<svg class="chart" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="{role}" aria-label="{title}">'
        f"<title>{title}</title>{inside}</svg>"
    )


def _text_of(text: str) -> str:
    return escape(unhidden(text), quote=True)


def _words(x: float, y: float, text: str, place: str = "start", word: str = "") -> str:
    kind = f' class="{word}"' if word else ""
    return f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{place}"{kind}>{_text_of(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, word: str) -> str:
    ends = f'x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"'
    return f'<line {ends} class="{word}"/>'


def _n(value: float) -> str:
    """A coordinate with at most one digit behind the point."""
    return f"{value:.1f}".removesuffix(".0")


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, at most so many: 0, 20, 40, 60."""
    if not high > low:
        return [low]
    raw = (high - low) / max(1, most - 1)
    power = 10.0 ** floor(log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw)
    first = ceil(round(low / step, 9))
    last = floor(round(high / step, 9))
    return [round(step * place, 12) for place in range(first, last + 1)]


# One number per attempt


def histogram(
    values: Sequence[float],
    name: str,
    show: Show,
    bins: int = 24,
    within: tuple[float, float] | None = None,
) -> Markup:
    """How often which value occurs, with the median and the 95th percentile.

    `within`: the axis, for charts that are compared with each other.
    """
    width, height, left, right, top, bottom = 420, 158, 8, 8, 30, 24
    known = sorted(value for value in values if isfinite(value))
    if not known:
        return _svg(width, height, f"{name}: no values", [_words(8, 40, "nothing recorded")])
    low, high = within or (known[0], known[-1])
    median, late = _quantile(known, 0.5), _quantile(known, 0.95)
    span = high - low
    bins = 1 if span == 0 else min(bins, max(5, len(known)))
    counts = [0] * bins
    for value in known:
        counts[min(bins - 1, int((value - low) / span * bins)) if span else 0] += 1
    inner, base = width - left - right, height - bottom
    parts, wide = [], inner / bins
    for place, count in enumerate(counts):
        tall = count / max(counts) * (base - top)
        if count:
            bar = f'x="{_n(left + place * wide)}" y="{_n(base - tall)}"'
            size = f'width="{_n(max(1, wide - 1))}" height="{_n(tall)}"'
            parts.append(f'<rect {bar} {size} class="bar"/>')

    def at(value: float) -> float:
        return left + (inner * (value - low) / span if span else inner / 2)

    parts.append(_line(left, base, width - right, base, "axis"))
    parts.append(_words(left, height - 8, show(low)))
    if span:
        parts.append(_words(width - right, height - 8, show(high), "end"))
    for value, word, y in ((median, "median", 11), (late, "95% ≤", 24)):
        parts.append(_line(at(value), top - 4, at(value), base, "mark"))
        side = "end" if at(value) > width * 0.55 else "start"
        parts.append(_words(at(value) + (-4 if side == "end" else 4), y,
                            f"{word} {show(value)}", side, "strong"))  # fmt: skip
    label = f"{name} of {len(known):,} attempts: median {show(median)}, 95% at most {show(late)}"
    return _svg(width, height, label, parts)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The value at or below which that share of the values lies."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


# Points in order


def curve(points: Sequence[Point], name: str) -> Markup:
    """Shares from 0 to 1 over the points, with the interval of each as a band."""
    width, height, left, right, top, bottom = 420, 190, 44, 14, 14, 30
    inner, tall = width - left - right, height - top - bottom
    step = inner / max(1, len(points) - 1)

    def x(place: int) -> float:
        return left + (place * step if len(points) > 1 else inner / 2)

    def y(share: float) -> float:
        return top + (1 - share) * tall

    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(_line(left, y(tick), width - right, y(tick), "grid"))
        parts.append(_words(left - 6, y(tick) + 4, f"{tick:.0%}", "end"))
    parts += _band([(x(i), one) for i, one in enumerate(points)], y)
    parts.append(_polyline([(x(i), y(one.y)) for i, one in enumerate(points)]))
    every = max(1, ceil(len(points) / 12))
    for place, one in enumerate(points):
        if place % every == 0 or place == len(points) - 1:
            parts.append(_words(x(place), height - 10, one.x, "middle"))
        parts.append(_dot(x(place), y(one.y), one))
    said = ", ".join(f"{one.x} {one.y:.0%}" for one in points[:20])
    return _svg(width, height, f"{name}: {said}", parts)


def trend(points: Sequence[Point], name: str, show: Show, share: bool = False) -> Markup:
    """A value over runs, the oldest first; a point with an address is a link."""
    width, height, left, right, top, bottom = 320, 130, 66, 10, 10, 24
    known = [one for one in points if isfinite(one.y)]
    if not known:
        return _svg(width, height, f"{name}: no values", [_words(8, 40, "nothing recorded")])
    most = 1.0 if share else max(one.high if one.high is not None else one.y for one in known)
    most = most or 1.0
    inner, tall = width - left - right, height - top - bottom
    step = inner / max(1, len(known) - 1)

    def x(place: int) -> float:
        return left + (place * step if len(known) > 1 else inner / 2)

    def y(value: float) -> float:
        return top + (1 - value / most) * tall

    parts = []
    for tick in ticks(0, most, 4):
        parts.append(_line(left, y(tick), width - right, y(tick), "grid"))
        parts.append(_words(left - 6, y(tick) + 4, show(tick), "end"))
    parts += _band([(x(i), one) for i, one in enumerate(known)], y)
    parts.append(_polyline([(x(i), y(one.y)) for i, one in enumerate(known)]))
    parts += [_dot(x(place), y(one.y), one) for place, one in enumerate(known)]
    parts.append(_words(left, height - 8, known[0].x))
    if len(known) > 1:
        parts.append(_words(width - right, height - 8, known[-1].x, "end"))
    label = f"{name} over {len(known)} runs, last {show(known[-1].y)}"
    return _svg(width, height, label, parts)


def _band(points: Sequence[tuple[float, Point]], y: Callable[[float], float]) -> list[str]:
    """The area between the lower and the upper ends of the intervals."""
    known = [(x, one.low, one.high) for x, one in points if one.low is not None]
    if not known:
        return []
    if len(known) == 1:
        x, low, high = known[0]
        return [_line(x, y(low), x, y(low if high is None else high), "whisker")]
    upper = [f"{_n(x)},{_n(y(low if high is None else high))}" for x, low, high in known]
    lower = [f"{_n(x)},{_n(y(low))}" for x, low, _ in reversed(known)]
    return [f'<polygon points="{" ".join((*upper, *lower))}" class="band"/>']


def _polyline(points: Sequence[tuple[float, float]]) -> str:
    places = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
    return f'<polyline points="{places}" class="line"/>'


def _dot(x: float, y: float, one: Point) -> str:
    note = f"<title>{_text_of(one.note)}</title>" if one.note else ""
    dot = f'<circle cx="{_n(x)}" cy="{_n(y)}" r="3.5" class="dot">{note}</circle>'
    return f'<a href="{_text_of(one.href)}">{dot}</a>' if one.href else dot


# Differences


def intervals(rows: Sequence[Interval], name: str) -> Markup:
    """Differences with their intervals around zero. One that contains zero may be chance."""
    width, left, right, top, each = 640, 170, 90, 10, 28
    height = top + each * len(rows) + 26
    most = max([0.01, *(max(abs(row.low), abs(row.high)) for row in rows)])
    # An interval far beyond all others would press them into a point: it is cut, with an arrow.
    usual = sorted(max(abs(row.low), abs(row.high)) for row in rows)
    most = min(most, max(0.1, 4 * usual[len(usual) // 2])) if usual else most
    middle, half = (left + width - right) / 2, (width - left - right) / 2

    def x(value: float) -> float:
        return middle + max(-1.0, min(1.0, value / most)) * half

    base = height - 22
    parts = [_line(middle, top - 4, middle, base, "axis")]
    for tick in ticks(-most, most, 5):
        parts.append(_line(x(tick), base, x(tick), base + 4, "axis"))
        parts.append(_words(x(tick), height - 4, f"{tick:+.0%}" if tick else "0", "middle"))
    for place, row in enumerate(rows):
        y = top + each * place + each / 2
        word = row.word or "unsure"
        parts.append(_words(left - 10, y + 4, row.name, "end", "strong"))
        parts.append(_line(x(row.low), y, x(row.high), y, f"whisker {word}"))
        parts.append(f'<circle cx="{_n(x(row.value))}" cy="{_n(y)}" r="5" class="{word}"/>')
        cut = "…" if max(abs(row.low), abs(row.high)) > most else ""
        parts.append(_words(width - right + 10, y + 4, f"{row.value:+.1%}{cut}"))
    said = "; ".join(
        f"{row.name} {row.value:+.1%} ({row.low:+.1%} to {row.high:+.1%})" for row in rows
    )
    return _svg(width, height, f"{name}: {said}", parts)


# Statuses


def shares(counts: Sequence[tuple[str, int]], name: str) -> Markup:
    """One bar, divided by status: (word, count)."""
    total = sum(count for _, count in counts)
    parts, at = [], 0.0
    for word, count in counts:
        wide = 1000 * count / total if total else 0
        if count:
            place = f'x="{_n(at)}" width="{_n(wide)}" height="10"'
            parts.append(f'<rect {place} class="w-{escape(word)}"/>')
        at += wide
    said = ", ".join(f"{count} {word}" for word, count in counts if count)
    title = _text_of(f"{name}: {said}")
    return Markup(
        '<svg class="shares" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{title}"><title>{title}</title>{"".join(parts)}</svg>'
    )


def heat_map(rows: Sequence[tuple[str, str, Sequence[str]]], name: str) -> Markup:
    """Cases × attempts: (name, address, the status of each attempt)."""
    left, cell, gap = 190, 14, 2
    columns = max((len(states) for _, _, states in rows), default=0)
    width, height = left + columns * (cell + gap) + 10, len(rows) * (cell + gap) + 8
    parts = []
    for place, (text, href, states) in enumerate(rows):
        y = 4 + place * (cell + gap)
        short = text if len(text) <= 26 else f"{text[:25]}…"
        label = _words(left - 8, y + 11, short, "end")
        parts.append(f'<a href="{_text_of(href)}">{label}</a>' if href else label)
        for number, word in enumerate(states):
            spot = f'x="{left + number * (cell + gap)}" y="{y}" width="{cell}" height="{cell}"'
            note = f"<title>{_text_of(text)} #{number + 1}: {escape(word)}</title>"
            parts.append(f'<rect {spot} rx="2" class="w-{escape(word)}">{note}</rect>')
    return _svg(width, height, f"{name}: {len(rows)} cases, {columns} attempts", parts)
