"""Makes text of an agent safe to show: escapes control characters, masks secrets, cuts length.

An answer may hold escape sequences that clear or recolour the screen, marks that reverse the order
of what follows, NULs, lone surrogates, line breaks that imitate a line of the report, a megabyte of
noise, and API keys.
"""

from __future__ import annotations

import re

from trialrun.redaction import redact

LONGEST_LINE = 1000

# C0 and C1 controls, bidirectional marks, line separators, surrogates, non-characters:
# "\x1b" in "\x1b[2J" (clears the screen), "\u202e" (reverses the order of what follows).
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\ufffe\uffff]"
)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def printable(text: str) -> str:
    """The text with secrets masked and every character escaped that a terminal or XML acts on."""
    return _HIDDEN.sub(_escaped, redact(text))


def one_line(text: str) -> str:
    """The same as `printable`, on one line and cut to a readable length."""
    if len(text) > 2 * LONGEST_LINE:
        text = text[: 2 * LONGEST_LINE]  # a key cut here is masked or cut off below
    line = printable(text).replace("\n", "\\n").replace("\t", " ")
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…"


def escaped_json(text: str) -> str:
    """The same JSON, with every character escaped that a terminal would act on."""
    return _HIDDEN_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


# The same without the control characters that JSON escapes itself: "\u202e", but not "\x1b".
_HIDDEN_IN_JSON = re.compile(_HIDDEN.pattern.replace("\x00-\x08\x0b-\x1f", ""))
