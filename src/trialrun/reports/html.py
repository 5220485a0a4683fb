"""The HTML report: a run as one file that opens from disk and asks the network for nothing."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from trialrun import __version__
from trialrun.model.audit import Audit
from trialrun.model.comparison import Comparison
from trialrun.model.results import RunResult
from trialrun.model.session_results import run_of
from trialrun.model.verified import Verification
from trialrun.model.withheld import Withheld
from trialrun.redaction import MASK
from trialrun.reports.base import Report, View
from trialrun.reports.views.ledger import summary_lines
from trialrun.reports.views.printable import unhidden
from trialrun.reports.views.texts import WithTexts, masked_among, masked_text

if TYPE_CHECKING:
    from trialrun.reports.pages.rows import Row

CHUNK = 750
"""Cases in one compressed part of the file: opening a case unpacks its part only."""

SESSIONS_CHUNK = 20
"""Sessions in one part: fewer, because their pages are long and a part is unpacked whole."""

_FIRST_ROWS = 40
# These are never in a page, because control characters of texts are escaped.
_SEPARATOR = "\x1e"  # between the cases of a part, and between the texts that they share
_AFTER_TEXTS = "\x1c"
_TEXT = "\x1d"  # around the number of a text
# In place of `c12-`, which begins the anchors of case 12: what cases share becomes identical.
_ANCHOR = "\x1a"
# Documents that many cases retrieved: `<pre>Returns are accepted within …</pre>`. Compression finds
# a repetition only within 32 kB.
_LONG = re.compile(r"<pre>([^<]{24,})</pre>")
_LEVEL = 6  # of compression


class HtmlReport(Report):
    """One HTML file, for people: failures first, each case with its timeline. Needs Jinja2."""

    name = "html"
    suffixes = (".html", ".htm")
    reads_sessions = True
    reads_comparisons = True
    reads_audits = True
    reads_traces = True

    @classmethod
    def require(cls) -> None:
        from trialrun.reports.pages.environment import require_jinja

        require_jinja()

    def render(self, run: RunResult, view: View) -> str:
        return _run_file(run, view.strict)

    def render_sessions(self, found: Verification, view: View) -> str:
        about = " · ".join(summary_lines(found)[:2])
        run = run_of(replace(found, masked=masked_among(found)))
        return _run_file(run, view.strict, "verified sessions", about)

    def render_comparison(self, found: Comparison, view: View) -> str:
        from trialrun.reports.pages.compare_page import compare_page

        page = compare_page(found)
        return _page("compare.html", f"{page.before} → {page.after}", page, found)

    def render_audit(self, audit: Audit, view: View) -> str:
        from trialrun.reports.pages.audit_page import audit_page

        return _page("audit.html", "audit of a judge", audit_page(audit), audit)


def _page(template: str, title: str, page: Any, found: WithTexts) -> str:
    from trialrun.reports.pages.environment import Shell, render

    foot = _foot(masked_among(found), found.withheld)
    return render(template, shell=Shell(title=title), page=page, foot=foot) + "\n"


def _run_file(run: RunResult, strict: bool, title: str = "", about: str = "") -> str:
    from trialrun.reports.pages import run_page
    from trialrun.reports.pages.environment import Shell, case_markup, render
    from trialrun.reports.pages.figures import FigureCounter
    from trialrun.reports.pages.links import Links
    from trialrun.reports.pages.texts import ORDER

    links = Links()
    rows: list[Row] = []
    figures = FigureCounter()
    masks = 0

    def pages() -> Iterator[str]:
        nonlocal masks
        for page, row, made in run_page.cases_of(run):
            rows.append(row)
            figures.add(made)
            text = case_markup(page, links)
            masks += page.masks if MASK in text else 0
            yield text.replace(f"c{page.number}-", _ANCHOR)

    size = SESSIONS_CHUNK if run.sessions else CHUNK
    chunks = list(_chunks(pages(), size))
    first = sorted(rows, key=lambda row: (ORDER[row.word], row.number))[:_FIRST_ROWS]
    head = run_page.head_of(run, rows, strict)
    text = render(
        "run_file.html",
        shell=Shell(
            title=title or run.run_id or _title(rows),
            links=((f"{head.noun.capitalize()}s", "#", True), ("Figures", "#figures", False)),
            scripts=("page.js", "file.js"),
        ),
        head=replace(head, origin=about) if about else head,
        figures=figures.figures(run.stability),
        rows=first,
        blank=run_page.BLANK,
        links=links,
        index=packed(msgspec.json.encode([_entry(row) for row in rows]).decode()),
        chunks=chunks,
        size=size,
        foot=_foot(masks if run.masked is None else run.masked, run.withheld, run.prices),
    )
    return text + "\n"


def _title(rows: Iterable[Row]) -> str:
    suites = list(dict.fromkeys(row.suite for row in rows if row.suite))
    return ", ".join(suites[:3]) or "run"


def _chunks(pages: Iterable[str], size: int) -> Iterator[str]:
    for part in batched(pages, size):
        yield packed(_part(part))


def batched(items: Iterable[str], size: int) -> Iterator[list[str]]:
    """The items in lists of that size."""
    left = iter(items)
    while found := list(islice(left, size)):
        yield found


def _part(pages: Iterable[str]) -> str:
    """Several pages, with each long text only once: first the texts, then the pages."""
    texts: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"<pre>{_TEXT}{texts.setdefault(match[1], len(texts))}{_TEXT}</pre>"

    short = _SEPARATOR.join([_LONG.sub(number, page) for page in pages])
    return f"{_SEPARATOR.join(texts)}{_AFTER_TEXTS}{short}"


def packed(text: str) -> str:
    """The text as gzip in base64, the same for the same text."""
    squeeze = zlib.compressobj(_LEVEL, wbits=31)
    data = squeeze.compress(text.encode("utf-8", "backslashreplace")) + squeeze.flush()
    return b64encode(data).decode()


def _entry(row: Row) -> list[Any]:
    """A row of the list as the script reads it, by place."""
    return [
        row.number,
        row.word,
        unhidden(row.name),
        unhidden(row.agent),
        unhidden(row.check),
        unhidden(row.said),
        row.step,
        unhidden(row.step_name),
        row.more,
        row.cost_text,
        row.tokens_text,
        row.time_text,
        [-1 if one is None else one for one in (row.cost, row.tokens, row.time)],
        unhidden(row.search_text),
        "".join(mark[0] for mark in row.marks),
        "" if row.marks else " ".join(f"{word[0]}{layer}" for layer, word in row.layers),
        row.unknown,
    ]


def _foot(masks: int, withheld: Withheld | None, prices: str | None = None) -> str:
    """What made the report, and what it does not show."""
    parts = [f"trialrun {__version__}"]
    parts += [f"prices {prices}"] if prices else []
    parts += [str(withheld)] if withheld is not None else []
    return " · ".join([*parts, masked_text(masks)])
