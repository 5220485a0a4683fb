"""Pieces of Markdown for GitHub: text that stays text whatever is in it, a page of bounded size.

Text of an agent is shown in code spans only. There GitHub makes nothing of `@name`, `#1`, links,
images and HTML; outside of code it would notify people and link issues even where the characters
are escaped, because it looks for them in the finished page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from trialrun.reports.views.printable import one_line

LONGEST = 65_000
"""Characters of a report: GitHub refuses comments of more than 65,536, and people add to them."""

_LONGEST_TEXT = 300
_BACKTICKS = re.compile(r"`+")
# A pipe would end a cell of a table, in code too, and a backslash before it does not always help.
_BAR = str.maketrans("|", "\u2502")


def code(text: str, longest: int = _LONGEST_TEXT) -> str:
    """The text as a code span that is safe in a table, on one line and cut to a readable length."""
    line = _cut(text, longest).translate(_BAR)
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(line)), default=0) + 1)
    # One space at either end is not shown; it keeps a backtick apart from the fence.
    pad = " " if line[:1] in ("`", " ", "") or line[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{line or ' '}{pad}{fence}"


def html_code(text: str, longest: int = 100) -> str:
    """The text as code in HTML: within `<summary>`, Markdown is not read."""
    return f"<code>{html.escape(_cut(text, longest))}</code>"


def _cut(text: str, longest: int) -> str:
    line = one_line(text)
    return line if len(line) <= longest else f"{line[:longest]}…"


def width(text: str) -> int:
    """The characters of a text as GitHub counts them: those beyond U+FFFF as two."""
    return len(text) + sum(sign > "\uffff" for sign in text)


class Page:
    """A page of Markdown that is never longer than its limit, and says how much is missing."""

    def __init__(self, limit: int = LONGEST, reserve: int = 1_500) -> None:
        """`reserve` is kept for the end of the page."""
        self._lines: list[str] = []
        self._left = limit - reserve
        self._reserve = reserve

    @property
    def text(self) -> str:
        """The page."""
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def add(self, *lines: str) -> bool:
        """Add the lines if they fit, all or none."""
        needed = sum(width(line) + 1 for line in lines)
        if needed > self._left:
            return False
        self._left -= needed
        self._lines += lines
        return True

    def end(self) -> None:
        """From here on, the reserve may be used."""
        self._left, self._reserve = self._left + self._reserve, 0

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[str]], total: int, share: float = 1.0
    ) -> None:
        """A table with as many of the rows as fit into this share of what is left."""
        kept = int(self._left * (1 - share))
        self._left -= kept
        self.add(f"| {' | '.join(header)} |", f"|{'---|' * len(header)}")
        shown = 0
        for row in rows:
            if not self.add(f"| {' | '.join(row)} |"):
                break
            shown += 1
        self._left += kept
        self.more(total - shown)
        self.add("")

    def more(self, number: int, what: str = "") -> None:
        """Say that there are more rows, or more of something."""
        if number > 0:
            noun = f" {what}" if what else ""
            line = f"and {number:,} more{noun}, in the other formats of this report"
            self._reserve -= width(line) + 2
            self._lines += ["", line]

    def end_details(self) -> None:
        """End what began with `<details>`: from the reserve, because it must not be missing."""
        self._reserve -= len("</details>") + 3
        self._lines += ["", "</details>", ""]

    def details(self, summary: str, *lines: str) -> bool:
        """Lines that are collapsed under a summary, which is HTML."""
        return self.add(f"<details><summary>{summary}</summary>", "", *lines, "", "</details>", "")
