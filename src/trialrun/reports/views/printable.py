"""Text of an agent made safe to show.

An answer may hold escape sequences that clear the screen or recolour it, marks that reverse the
order of what follows, NULs, halves of characters, line breaks that forge a line of their own, a
megabyte of noise, and keys. They are shown as escapes, cut, and masked.
"""

from __future__ import annotations

import re

from trialrun.redaction import redact

LONGEST_LINE = 1000

# C0 and C1 controls, bidirectional marks, line separators, surrogates, non-characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\ufffe\uffff]"
)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def printable(text: str) -> str:
    """The text with everything that a terminal or an XML parser would act on escaped."""
    return _HIDDEN.sub(_escaped, redact(text))


def one_line(text: str) -> str:
    """The same on one line, cut to a readable length."""
    if len(text) > 2 * LONGEST_LINE:
        text = text[: 2 * LONGEST_LINE]  # a key that this cuts is masked or cut again below
    line = printable(text).replace("\n", "\\n").replace("\t", " ")
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…"


def escaped_json(text: str) -> str:
    """A JSON text that says the same without a character that a terminal would act on."""
    return _HIDDEN_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


_HIDDEN_IN_JSON = re.compile(_HIDDEN.pattern.replace("\x00-\x08\x0b-\x1f", ""))
