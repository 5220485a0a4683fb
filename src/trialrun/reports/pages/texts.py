"""Texts of pages: values as readable JSON, bounded; amounts; the marks of every status."""

from __future__ import annotations

from typing import Any

import msgspec

from trialrun.model.exchanges import shown_object
from trialrun.model.results import CheckResult, CheckStatus, LayerStatus, Severity
from trialrun.redaction import redact
from trialrun.util.money import dollars

LONGEST_VALUE = 20_000
"""Characters of one value that a page shows; what is left out is said, with its length."""

MARKS = {
    "pass": "✓",
    "warn": "!",
    "fail": "✗",
    "error": "?",
    "unknown": "?",
    "skip": "–",
    "skipped": "–",
    "flaky": "~",
}

ORDER = {"fail": 0, "error": 1, "flaky": 2, "warn": 3, "pass": 4, "skip": 5}
"""Failures first, then what has no verdict."""

TITLES = {
    LayerStatus.FAIL: "failed",
    LayerStatus.ERROR: "in error",
    LayerStatus.WARN: "warned",
    LayerStatus.PASS: "passed",
    LayerStatus.SKIP: "skipped",
}


def value_text(value: Any) -> str:
    """The value as it is if it is text, else as indented JSON; bounded."""
    if isinstance(value, str):
        return bounded(value)
    try:
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (TypeError, ValueError, RecursionError):
        # Text that did not exist when the trace was masked.
        text = redact(shown_object(value))
    return bounded(text)


def line_text(value: Any, longest: int = 90) -> str:
    """The value on one short line."""
    if isinstance(value, str):
        text = value[: 4 * longest]
    else:
        try:
            text = msgspec.json.encode(value).decode()
        except (TypeError, ValueError, RecursionError):
            text = redact(shown_object(value))
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def bounded(text: str, longest: int = LONGEST_VALUE) -> str:
    """The text, or its beginning and how much more there is."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n… {len(text) - longest:,} more characters are not in this page"


def check_word(check: CheckResult) -> str:
    """`warn` for a failed check of severity warn, else the status of the check."""
    if check.status is CheckStatus.FAIL and check.severity is Severity.WARN:
        return "warn"
    return check.status.value


def duration(milliseconds: float | None) -> str:
    """`0.5 ms`, `640 ms`, `2.1 s`, `3 min 20 s`; "" if it is not known."""
    if milliseconds is None:
        return ""
    if milliseconds < 10:
        return f"{milliseconds:.2g} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 100:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def amount(cost: float | None) -> str:
    """Dollars; "" if they are not known."""
    return "" if cost is None else dollars(cost)


def number(count: float | None) -> str:
    """`1,204`; "" if it is not known."""
    return "" if count is None else f"{count:,}"
