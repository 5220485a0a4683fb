"""A text as prose and blocks: fences, indented lines, transcripts that stand between paragraphs.

What stands in a block was shown; what stands in prose was said. A transcript that is taken for prose
makes its own output a claim, and its failures an admission.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

PROSE = ""
FENCED = "fence"
INDENTED = "indented"
TRANSCRIPT = "transcript"


class Part(Struct, frozen=True):
    """Some lines of a text, and how they are set off from the rest."""

    kind: str
    lines: list[str]
    info: str = ""  # of a fence: the word behind it, in lower case


FENCE = re.compile(r"^\s{0,12}(```+|~~~+)\s*([\w+-]*)")
_NAMED = (
    r"[\w.-]+@[\w.~/:-]*[#$%]"  # root@db1:~#
    r"|\[[\w.-]+@[^\]\n]{1,80}\][#$%]"  # [root@db1 ~]#
    r"|\w+=[#>]|(?:\w*sql|sqlite)>|MariaDB \[[^\]\n]{1,80}\]>"  # shop=#, mysql>
    r"|PS [A-Za-z]:[^>\n]{0,200}>"
)
_ENVIRONMENT = r"(?:\([\w.-]+\)\s*)?"  # (venv) of Python
PROMPT = re.compile(
    rf"^\s*{_ENVIRONMENT}(?:[\w.@~/:-]*[$%❯]|{_NAMED}|PS[^>]*>|>)\s+(?=\S)", re.IGNORECASE
)
"""A prompt and a command behind it, within a block."""

# Outside a block ">" is a quotation, "%" and "#" alone are text, and "$ 40" is money.
_BARE_PROMPT = re.compile(
    rf"^{_ENVIRONMENT}(?:[\w.@~/:-]*\$|❯|{_NAMED})\s+(?=[A-Za-z./~_(])", re.IGNORECASE
)
NO_COMMAND = re.compile(rf"^\s*{_ENVIRONMENT}(?:{_NAMED}|\$)\s*$", re.IGNORECASE)
"""A prompt at which nothing was typed: the end of a transcript, and nobody's output."""

BULLET = re.compile(r"^\s*(?:[-*+•‣▪]|\d{1,3}[.)])\s+")
_INDENT = 4


def parts_of(text: str) -> Iterator[Part]:
    """Prose and blocks, in turn."""
    lines = text.split("\n")
    prose: list[str] = []
    content = 0  # where the text of the list item begins that the lines stand in
    at = 0
    while at < len(lines):
        line = lines[at]
        fence = FENCE.match(line)
        if fence:
            end, block = _fenced(lines, at, fence.group(1)[:3])
            part = Part(FENCED, block, fence.group(2).lower())
        elif _is_indented(lines, at, content):
            end = _end_of_indented(lines, at)
            part = Part(INDENTED, [one.expandtabs(_INDENT)[_INDENT:] for one in lines[at:end]])
        elif _opens_transcript(line):
            end = _end_of_transcript(lines, at)
            part = Part(TRANSCRIPT, lines[at:end])
        else:
            bullet = BULLET.match(line)
            if bullet:
                content = bullet.end()
            elif line.strip() and not line.startswith((" ", "\t")):
                content = 0
            prose.append(line)
            at += 1
            continue
        if any(one.strip() for one in prose):
            yield Part(PROSE, prose)
        prose = []  # blank lines alone do not part a command from the block with its output
        yield part
        at = end
    if any(one.strip() for one in prose):
        yield Part(PROSE, prose)


def outside_blocks(text: str) -> str:
    """What the text says, without what it shows."""
    return "\n\n".join("\n".join(part.lines) for part in parts_of(text) if part.kind == PROSE)


def _fenced(lines: Sequence[str], at: int, fence: str) -> tuple[int, list[str]]:
    """Where the fence ends that opens here, and what is in it; nobody may have closed it."""
    for end in range(at + 1, len(lines)):
        closes = FENCE.match(lines[end])
        if closes and closes.group(1).startswith(fence) and not lines[end].strip().strip("`~"):
            return end + 1, list(lines[at + 1 : end])
    return len(lines), list(lines[at + 1 :])


def _opens_transcript(line: str) -> bool:
    # Most lines have no sign of a prompt, and a message may have a hundred thousand of them.
    return any(sign in line for sign in "$#%>❯") and bool(_BARE_PROMPT.match(line))


def _width(line: str) -> int:
    expanded = line.expandtabs(_INDENT)
    return len(expanded) - len(expanded.lstrip())


def _is_indented(lines: Sequence[str], at: int, content: int) -> bool:
    """Whether a block begins here: by a prompt, or set off from the paragraph above."""
    line = lines[at]
    if not line.startswith(("    ", "\t")) or not line.strip():
        return False
    if PROMPT.match(line) and not line.lstrip().startswith(">"):
        return True
    above = lines[at - 1].rstrip() if at else ""
    # Within a list item four spaces are its second paragraph, or an item of its own.
    return (
        (not above or above.endswith(":"))
        and _width(line) >= content + _INDENT
        and not BULLET.match(line)
    )


def _end_of_indented(lines: Sequence[str], at: int) -> int:
    end = at + 1
    while end < len(lines):
        following = _next_line(lines, end)
        if following == len(lines) or not lines[following].startswith(("    ", "\t")):
            break
        end = following + 1
    return end


def _end_of_transcript(lines: Sequence[str], at: int) -> int:
    """A transcript ends with the paragraph, unless what follows it is no prose either."""
    end = at + 1
    while end < len(lines):
        if lines[end].strip():
            if FENCE.match(lines[end]):
                break
            end += 1
            continue
        following = _next_line(lines, end)
        if following == len(lines) or not _is_output(lines, following):
            break
        end = following
    return end


def _next_line(lines: Sequence[str], at: int) -> int:
    """The first line from here on that is not blank."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at


_SENTENCE_END = re.compile(r"[\w`)\"'*”’][.!?:]\**$")
_PROSE_START = re.compile(r"^(?:[A-Z\"“*`][\w'`*./-]*|I|[a-z]+) \S+ \S+")
_MARKED = re.compile(r"^\s*(?:#{1,6}\s|\||>|[✅✔❌])")


def _is_output(lines: Sequence[str], at: int) -> bool:
    """Whether a paragraph below a transcript goes on with it: another command, dots, a summary."""
    first = lines[at]
    if _opens_transcript(first):
        return True
    if FENCE.match(first) or BULLET.match(first) or _MARKED.match(first):
        return False
    end = at
    while end < len(lines) and lines[end].strip():
        end += 1
    ends = any(_SENTENCE_END.search(line.rstrip()) for line in (first, lines[end - 1]))
    return not (ends and _PROSE_START.match(first)) and not _speaks(first)


# Sentences without a full stop are prose all the same where somebody speaks in them.
_SPEAKS = re.compile(r"\b(?:I|I've|I'd|we|it|this|that|they|is|are|now|should)\b")


def _speaks(line: str) -> bool:
    return bool(_PROSE_START.match(line)) and bool(_SPEAKS.search(line))
