"""The answer of an attempt with the terms marked that checks found in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from trialrun.reports.pages.texts import bounded

_MOST_MARKS = 300
_SHORTEST = 2


class Span(Struct, frozen=True, gc=False):
    """A part of the answer: `word` is "hit" for a wanted term, "bad" for a forbidden one."""

    text: str
    word: str = ""


def marked(answer: str, checks: Iterable[Mapping[str, Any]]) -> list[Span]:
    """The answer in parts. A term that is both wanted and forbidden is marked as forbidden."""
    terms: dict[str, str] = {}
    for check in checks:
        if check["layer"] != "correctness":
            continue
        word = "bad" if "unwanted" in check["data"] else "hit"
        for term in _terms(check["data"].get("found")):
            if terms.get(term) != "bad":
                terms[term] = word
    return _spans(bounded(answer), terms)


def missing(checks: Iterable[Mapping[str, Any]]) -> list[str]:
    """The terms that were wanted in the answer and are not in it."""
    found = []
    for check in checks:
        if check["layer"] == "correctness":
            for group in check["data"].get("missing") or ():
                found.append(" or ".join(_terms(group)) if isinstance(group, list) else str(group))
    return list(dict.fromkeys(found))


def _terms(found: Any) -> list[str]:
    """The texts in what a check found: a list of terms, or of groups of terms."""
    if isinstance(found, str):
        return [found] if len(found) >= _SHORTEST else []
    if isinstance(found, (list, tuple)):
        return [term for one in found for term in _terms(one)]
    return []


def _spans(text: str, terms: Mapping[str, str]) -> list[Span]:
    if not terms:
        return [Span(text)]
    # Longest first: of "30 days" and "30", the longer one is marked where both would match.
    names = sorted(terms, key=len, reverse=True)
    by_text = {name.lower(): terms[name] for name in names}
    pattern = re.compile("|".join(map(re.escape, names)), re.IGNORECASE)  # "30\ days|receipt"
    spans: list[Span] = []
    done = 0
    for number, match in enumerate(pattern.finditer(text)):
        if number >= _MOST_MARKS:
            break
        if match.start() > done:
            spans.append(Span(text[done : match.start()]))
        spans.append(Span(match.group(), by_text.get(match.group().lower(), "hit")))
        done = match.end()
    if done < len(text):
        spans.append(Span(text[done:]))
    return spans
