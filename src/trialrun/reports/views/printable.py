"""Makes text of an agent safe to show: escapes control characters, masks secrets, cuts length.

An answer may hold escape sequences that clear or recolour the screen, marks that reverse the order
of what follows, NULs, lone surrogates, line breaks that imitate a line of the report, a megabyte of
noise, and API keys.
"""

from __future__ import annotations

import json
import re

from trialrun.redaction import redact
from trialrun.util.lazy_patterns import lazy_pattern

LONGEST_LINE = 1000

# Controls (C0, C1), marks of direction, format characters, fillers without width, tags, line
# separators, surrogates, non-characters: "\x1b" in "\x1b[2J" (clears the screen), "\u202e"
# (reverses the order of what follows), "\u200b" (two names look alike), "\U000e0041" (an "A" that
# only a model reads).
_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
# Joiners and the choice of an emoji's form are spelling in these places: "\u2764\ufe0f" (a red
# heart), Persian, Hindi.
_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_JOINED = "\u0620-\u08e1\u0900-\u0dff\ufb50-\ufdff\ufe70-\ufefc"
_HIDDEN_PATTERN = (
    f"[{_ALWAYS}]"
    f"|(?<![#*0-9{_EMOJI}])[\ufe0e\ufe0f]"
    f"|(?<![{_EMOJI}{_JOINED}\ufe0f])\u200d|\u200d(?![{_EMOJI}{_JOINED}])"
    f"|(?<![{_JOINED}])\u200c|\u200c(?![{_JOINED}])"
)
_HIDDEN = lazy_pattern(_HIDDEN_PATTERN)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def printable(text: str) -> str:
    """The text with secrets masked and every character escaped that a terminal or XML acts on."""
    return unhidden(redact(text))


def unhidden(text: str) -> str:
    """The text with every character escaped that cannot be seen, or that acts on what shows it."""
    # Most text is plain: telling so takes a twentieth of the time of the search.
    if text.isascii() and (
        text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()
    ):
        return text
    return _HIDDEN.sub(_escaped, text)


def one_line(text: str) -> str:
    """The same as `printable`, on one line and cut to a readable length."""
    if len(text) > 2 * LONGEST_LINE:
        text = text[: 2 * LONGEST_LINE]  # a key cut here is masked or cut off below
    line = printable(text).replace("\n", "\\n").replace("\t", " ")
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…"


def lines(text: str, indent: str, most: int = 40) -> str:
    """The text in lines, each as by `one_line`; `indent` begins all but the first.

    A mark in the indent keeps a line from looking like one of the report. Only the last lines of a
    long text are shown, where a traceback has its reason.
    """
    found = text.rstrip().split("\n")
    if len(found) > most:
        found = [f"… {len(found) - most} lines before", *found[-most:]]
    return f"\n{indent}".join(one_line(line.rstrip("\r")) for line in found)


def escaped_json(text: str) -> str:
    """The same JSON, with every character escaped that a terminal would act on."""
    # JSON writes a character beyond U+FFFF as two escapes; `dumps` knows how.
    return _HIDDEN_IN_JSON.sub(lambda match: json.dumps(match.group())[1:-1], text)


# The same without the control characters that JSON escapes itself: "\u202e", but not "\x1b".
_HIDDEN_IN_JSON = lazy_pattern(_HIDDEN_PATTERN.replace("\x00-\x08\x0b-\x1f", ""))
