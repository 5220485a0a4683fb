"""The markup of what a page has many of: signs, answers, checks and timelines.

It is not in a template: ten thousand cases have a hundred thousand steps with twenty values each,
and a template takes four times as long over them. Every text passes `shown`, which does what
`_finalized` and autoescape do for templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape

from msgspec.structs import astuple

from trialrun.reports.pages.attempt_part import AttemptPart, CheckRow, Exchange
from trialrun.reports.pages.links import Links
from trialrun.reports.pages.svg import Markup
from trialrun.reports.pages.texts import MARKS
from trialrun.reports.pages.timeline import Pin, StepRow, Timeline
from trialrun.reports.views.printable import unhidden

_MOST_PINS = 3


def shown(text: str) -> str:
    """Text as markup that shows it: nothing in it is a tag, an attribute or a hidden character."""
    return escape(unhidden(text)) if text else ""


# Names of tools, models and metrics, and summaries of steps, which are short.
_shown_again = lru_cache(maxsize=5000)(shown)


@lru_cache(maxsize=500)
def sign(word: str, text: str = "") -> Markup:
    """The sign of a status, with its word for people who do not see it."""
    said = shown(text or word)
    return Markup(
        f'<span class="sign {word}" title="{said}"><span aria-hidden="true">{MARKS[word]}</span>'
        f'<span class="hidden">{said}</span></span>'
    )


@cache
def badge(word: str) -> Markup:
    """The sign and the word of a status, as the coloured label of a case."""
    return Markup(f'<span class="badge {word}">{MARKS[word]} {word.upper()}</span>')


def step_links(steps: Sequence[int], number: int, attempt: int, links: Links) -> Markup:
    """Links to the steps of an attempt at the case with that number."""
    made = [
        f'<a class="step-link" href="{shown(links.step(number, attempt, step))}">step {step}</a> '
        for step in steps
    ]
    return Markup("".join(made))


def pairs(given: Sequence[tuple[str, str]]) -> Markup:
    """Names with their values, for a `dl`."""
    made = [f"<div><dt>{shown(name)}</dt><dd>{shown(value)}</dd></div>" for name, value in given]
    return Markup("".join(made))


def exchanges(part: AttemptPart) -> Markup:
    """What was asked and answered, in each turn."""
    last = len(part.exchanges)
    made = [
        f'<div class="said-by"><h3>Question{_numbered(turn, last)}</h3>'
        f'<p class="text">{shown(one.question)}</p></div>\n'
        f'<div class="said-by answer"><h3>Answer{_numbered(turn, last)}</h3>'
        f"{_answer(one)}{_missing(part.missing) if turn == last else ''}</div>\n"
        for turn, one in enumerate(part.exchanges, 1)
    ]
    return Markup(f'<div class="exchange">\n{"".join(made)}</div>')


def _numbered(turn: int, last: int) -> str:
    return f" {turn}" if last > 1 else ""


def _answer(one: Exchange) -> str:
    """The answer with the terms marked that checks found in it."""
    if one.answer is None:
        return '<p class="dim">no answer</p>'
    spans = [
        f'<mark class="{span.word}">{shown(span.text)}</mark>' if span.word else shown(span.text)
        for span in one.answer
    ]
    return f'<p class="text">{"".join(spans)}</p>'


def _missing(terms: Sequence[str]) -> str:
    if not terms:
        return ""
    made = " ".join([f'<span class="term">{shown(term)}</span>' for term in terms])
    return f'<p class="missing">missing: {made}</p>'


def reason_items(checks: Sequence[CheckRow], number: int, attempt: int, links: Links) -> Markup:
    """The checks that did not pass, each as an item with the steps that decided it."""
    made = [
        f'<li class="reason {check.word}">{sign(check.word)} <span><b>{shown(check.name)}</b> '
        f"{shown(check.message)} {step_links(check.steps, number, attempt, links)}</span></li>"
        for check in checks
    ]
    return Markup("".join(made))


_COLUMNS = (
    '<div class="wide"><table class="checks"><thead><tr><th><span class="hidden">status</span></th>'
    "<th>check</th><th>wanted</th><th>found</th><th>why</th><th>step</th></tr></thead><tbody>\n"
)


def checks(part: AttemptPart, number: int, links: Links) -> Markup:
    """The table of the checks of an attempt at the case with that number."""
    unknown = f' <small class="unknown">{part.unknown} unknown</small>' if part.unknown else ""
    rows = "".join([_check_row(check, number, part.number, links) for check in part.checks])
    return Markup(
        f"<section><h2>Checks{unknown}</h2>\n{_COLUMNS}{rows}</tbody></table></div></section>\n"
    )


def _check_row(check: CheckRow, number: int, attempt: int, links: Links) -> str:
    more = _votes(check) if check.votes else ""
    if check.other:
        more += f"<details><summary>more</summary><pre>{shown(check.other)}</pre></details>"
    steps = step_links(check.steps, number, attempt, links) if check.steps else ""
    return f"{_check_cells(*astuple(check)[:7])}{more}</td><td>{steps}</td></tr>\n"


def _votes(check: CheckRow) -> str:
    is_open = "" if check.word == "pass" else " open"
    votes = [
        f'<p>{sign(vote.word)} <b>{shown(vote.score)}</b> <span class="dim">{shown(vote.model)}'
        f"</span> for “{shown(vote.rule)}”: {shown(vote.rationale)}</p>"
        for vote in check.votes
    ]
    summary = "<summary>the judge's reasons</summary>"
    return f'<details class="votes"{is_open}>{summary}{"".join(votes)}</details>'


# Most checks that pass say the same in case after case.
@lru_cache(maxsize=2000)
def _check_cells(
    layer: str, name: str, word: str, message: str, wanted: str, found: str, turn: int
) -> str:
    """The cells of a check up to its message; the last of them is left open."""
    of_turn = f" · turn {turn}" if turn else ""
    return (
        f'<tr class="{word}"><td>{sign(word)}</td><th scope="row">{shown(name)} <small class="dim">'
        f'{layer}{of_turn}</small></th><td class="text">{shown(wanted)}</td><td class="text">'
        f'{shown(found)}</td><td class="text">{shown(message)}'
    )


_HEAD = (
    '<p class="s-head" aria-hidden="true"><span>step</span><span></span>'
    "<s>tokens</s><s>cost</s><s>time</s></p>\n"
)


def timeline(line: Timeline, number: int, attempt: int) -> Markup:
    """The timeline of an attempt at the case with that number."""
    said = f"{line.total:,} step{'' if line.total == 1 else 's'}"
    if line.scale:
        said += f" in {line.scale}"
    elif line.total:
        said += "; times are not recorded"
    if line.guessed:
        said += "; the trace has durations only, so steps are drawn one after the other"
    title = f'<h2>Timeline <small class="dim">{said}</small>'
    if not line.rows:
        steps = '</h2>\n<p class="dim">The trace has no steps.</p>'
    else:
        prefix = f"c{number}-{attempt}-"
        steps = (
            ' <button type="button" class="plain" data-do="expand">expand all</button></h2>\n'
            f'<div class="steps{"" if line.scale else " no-time"}">\n{_HEAD}'
            f"{''.join([_step(row, prefix) for row in line.rows])}\n</div>"
        )
    return Markup(f'<section class="timeline">{title}{steps}\n</section>\n')


def _step(row: StepRow, prefix: str) -> str:
    gap = ""
    if row.skipped:
        gap = f'<p class="dim">… {row.skipped:,} steps are not in this page …</p>'
    words = f"s k-{row.kind} d{row.depth}"
    if row.word:
        words += f" {row.word}"
    pins = flags = ""
    if row.pins:
        words += f" pinned {row.pins[0].word}-pin"
        flags, pins = _flags(row.pins), "".join(map(_pin, row.pins))
    bar = ""
    if row.start >= 0:
        bar = (
            '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect x="{row.start}" width="{row.width}" height="10"/></svg>'
        )
    parts = "".join([f"<h4>{title}</h4><pre>{shown(text)}</pre>" for title, text in row.parts])
    return (
        f'{gap}<details class="{words}" id="{prefix}{row.index}"><summary><i>{row.index}</i>'
        f'<u>{row.kind}</u><span class="n"><span><b>{_shown_again(row.name)}</b> '
        f"{_shown_again(row.summary)}</span>{flags}</span>{bar}<s>{row.tokens}</s><s>{row.cost}</s><s>{row.time}</s></summary>"
        f"{pins}{parts or _NOTHING}</details>"
    )


_NOTHING = '<p class="dim">nothing more is recorded of this step</p>'


def _flags(pins: Sequence[Pin]) -> str:
    flags = [
        f'<em class="pin {pin.word}">{MARKS[pin.word]} {shown(pin.check)}</em>'
        for pin in pins[:_MOST_PINS]
    ]
    if len(pins) > _MOST_PINS:
        flags.append(f'<em class="pin">+{len(pins) - _MOST_PINS}</em>')
    return f'<span class="pins">{"".join(flags)}</span>'


def _pin(pin: Pin) -> str:
    words = f"<b>{shown(pin.check)}</b> {shown(pin.message)}"
    return f'<p class="reason {pin.word}">{sign(pin.word)} <span>{words}</span></p>'
