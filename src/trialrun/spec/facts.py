"""Finds the facts of an answer that a case could ask for: dates, amounts, numbers, names."""

from __future__ import annotations

import re

MOST_FACTS = 12

# Longer kinds come first: "2026-11-04" is one date, not three numbers.
_FACT = re.compile(
    "|".join(
        (
            r"https?://[^\s<>\"')\]]*[\w/]",  # https://example.org/orders/12
            r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",  # ann@example.org
            r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?",  # 2026-11-04, 2026-11-04 12:30
            r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b",  # 4.11.2026, 11/04/26
            r"\b\d{1,2}:\d\d\b",  # 12:30
            r"\b(?:\d{1,2}\.? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* "
            r"\d{1,2}(?:, \d{4})?(?:, )?\d*",  # 4 November 2026, Nov 4, 2026
            r"[$€£¥] ?\d[\d.,]*\d|[$€£¥] ?\d",  # $20.00, € 5
            r"\b[A-Za-z]+-?[A-Z]*\d[\w-]*\b",  # ORD-12, r2d2
            r"\b\d[\d.,]*\d ?%|\b\d ?%",  # 12.5 %
            r"\b\d[\d.,]*\d\b|\b\d\b",  # 1,290
            r"\"[^\"\n]{2,60}\"|“[^”\n]{2,60}”|`[^`\n]{2,60}`",  # "blue jacket", `pip install`
        )
    )
)
# Each of them has one of these characters: telling so takes a thirtieth of the time of the search.
_SIGN = re.compile(r"[\d@:\"“`]")  # the 4 of "4 November"
_UNIT = re.compile(r" (?:days?|hours?|minutes?|weeks?|months?|years?|EUR|USD|euros?|dollars?)\b")


def facts_in(answer: str) -> list[str]:
    """The facts of the answer in their order, each once: every one is a part of the answer."""
    found: dict[str, None] = {}
    if not _SIGN.search(answer):
        return []
    for match in _FACT.finditer(answer):
        text = match.group().strip()
        if text[0] in '"“`':
            text = text[1:-1].strip()
        unit = _UNIT.match(answer, match.end())
        if unit and text[-1].isdigit():  # "30 days" says more than "30"
            text += unit.group()
        if text:
            found[text] = None
    return list(found)[:MOST_FACTS]
