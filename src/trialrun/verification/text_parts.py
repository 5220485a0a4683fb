"""A text without tool calls, taken apart into prose and blocks: what it says, and what it shows."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence

from msgspec import Struct

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.calls import without_colours
from trialrun.verification.commands import done_by
from trialrun.verification.done import CHECK
from trialrun.verification.runners import Table
from trialrun.verification.sentences import HEADING, sentences_of
from trialrun.verification.shell import parse
from trialrun.verification.tables import pattern, words
from trialrun.verification.wrappers import unwrapped

LONGEST_TEXT = 100_000
"""Of a longer text its beginning and its end are read, half of this each."""

LONGEST_LINE = 2_000
"""A longer line is data: it is never a prompt, a heading or an announcement."""

QUOTATION = "quotation"  # the language of lines behind `>`

_Row = tuple[bool, str, list[str]]


class Part(Struct, frozen=True, gc=False):
    """Consecutive lines: prose, or a block that shows something (a fence, a transcript)."""

    block: bool
    text: str
    lead: str = ""  # of a block: the sentence that announces it
    planned: bool = False  # of a block: it stands in a section of plans or advice
    after: str = ""  # of a block: the line behind it
    language: str = ""  # of a fence


class Shown(Struct, frozen=True, gc=False):
    """A command of a block and the output below it; without a command, only an output."""

    command: str
    output: str


def within_limits(text: str) -> str:
    """The text, or both ends of one that is too long to be a message."""
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    return f"{text[:half]}\n\n{text[-half:]}"


def parts_of(text: str, table: Table) -> list[Part]:
    """The parts of a text in order; its common indentation is taken off first."""
    text = within_limits(
        without_colours(text).replace("\0", " ").replace("\r\n", "\n").replace("\r", "\n")
    )
    rows = list(_rows(textwrap.dedent(text).split("\n"), table))
    found: list[Part] = []
    heading = said = ""
    for index, (block, language, lines) in enumerate(rows):
        content = textwrap.dedent("\n".join(lines))
        if not block:
            found.append(Part(False, content))
            heading = next((line for line in reversed(lines) if HEADING.match(line)), heading)
            said = content[-_ANNOUNCEMENT:]
            continue
        sentences = list(sentences_of(f"{heading}\n{said}"))
        lead, planned = sentences[-1] if sentences else ("", False)
        found.append(Part(True, content, lead, planned, _line_behind(rows, index), language))
    return found


_ANNOUNCEMENT = 600  # characters in front of a block among which its announcement is


def _line_behind(rows: Sequence[_Row], index: int) -> str:
    """The first line behind a block, if prose follows it."""
    if index + 1 >= len(rows) or rows[index + 1][0]:
        return ""
    return next((line for line in rows[index + 1][2] if line.strip()), "")[:LONGEST_LINE]


_FENCE = lazy_pattern(r"^\s*(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")


def _rows(lines: Sequence[str], table: Table) -> Iterator[_Row]:
    """Runs of lines, and whether each is a block: fences, transcripts, indented code."""
    prose: list[str] = []
    index = 0
    while index < len(lines):
        end, language, block = _block_at(lines, index, prose, table)
        if end == index:
            prose.append(lines[index])
            index += 1
            continue
        if prose:
            yield False, "", prose
            prose = []
        if block:
            yield True, language, block
        index = end
    if prose:
        yield False, "", prose


def _block_at(
    lines: Sequence[str], index: int, prose: Sequence[str], table: Table
) -> tuple[int, str, list[str]]:
    """Where the block that begins at this line ends, its language and its lines; else `index`."""
    line = lines[index]
    if len(line) > LONGEST_LINE or not line.strip():
        return index, "", []
    fence = _FENCE.match(line)
    if fence is not None:
        end = _end_of_fence(lines, index, fence.group(1))
        return end + 1, fence.group(2).lower(), list(lines[index + 1 : end])
    if command_at_prompt(line, table) or _is_bare_command(lines, index, table):
        return _transcript(lines, index, table)
    if line.lstrip().startswith("> "):
        end = next((i for i in range(index, len(lines)) if not lines[i].lstrip().startswith(">")),
                   len(lines))  # fmt: skip
        return end, QUOTATION, [one.lstrip().removeprefix(">") for one in lines[index:end]]
    if line.startswith(("    ", "\t")) and (not prose or not _is_item(prose, line)):
        end = _end_of_indented(lines, index)
        block = list(lines[index:end])
        if _is_code(block, prose, table):
            return end, "", block
    return index, "", []


def _is_bare_command(lines: Sequence[str], index: int, table: Table) -> bool:
    """Whether the line is a command without a prompt, above its indented output."""
    following = lines[index + 1] if index + 1 < len(lines) else ""
    indented = following.startswith("  ") and not lines[index].startswith(" ")
    return indented and len(lines[index].split()) <= 12 and is_check(lines[index], table)


def _end_of_fence(lines: Sequence[str], start: int, mark: str) -> int:
    for index in range(start + 1, len(lines)):
        line = lines[index].strip()
        if line.startswith(mark) and not line.strip(mark[0]):
            return index
    return len(lines)


def _end_of_indented(lines: Sequence[str], start: int) -> int:
    end = start
    for index in range(start, len(lines)):
        if lines[index].startswith(("    ", "\t")):
            end = index + 1
        elif lines[index].strip():
            break
    return end


_ITEM = lazy_pattern(r"^\s*(?:[-*+•]|\d+[.)])\s")


def _is_item(prose: Sequence[str], line: str) -> bool:
    """Whether the line goes on with a list, as in `- a\\n    - b`."""
    return bool(_ITEM.match(line)) and bool(_ITEM.match(prose[-1]))


_SENTENCE = pattern("sentence")
# Assignments, calls, brackets, keywords: `timeout = 45`, `def f():`, `</div>`, `x: 1`.
_CODE = lazy_pattern(r"[={}();<>\[\]]|^\s*(?:def|class|return|import|from|if|for|else|#|//|\w+:\s)")


def _is_code(block: Sequence[str], prose: Sequence[str], table: Table) -> bool:
    """Whether indented lines show something: a transcript, or code; and are not just indented."""
    filled = [line for line in block if line.strip()][:200]
    if any(command_at_prompt(line, table) for line in filled):
        return True
    if any(len(line) > LONGEST_LINE or _SENTENCE.search(line) for line in filled):
        return False
    last = next((line for line in reversed(prose[-5:]) if line.strip()), "")
    signs = sum(bool(_CODE.search(line)) for line in filled)
    return last.rstrip(" *_").endswith(":") or 2 * signs > len(filled)


_PROMPT = pattern("prompt")
# `> dotnet test`, `% npm test`, `> bash: pytest`: a sign that also quotes, or that programs print.
_WEAK_PROMPT = lazy_pattern(r"^\s*[%>❯➜]\s+(?:(?:bash|shell|run): )?(?P<command>[\w./-]+(?: .*)?)$")
# `mysql> select …`, `shop=# select …`
_DATABASE = lazy_pattern(
    r"^\s*(?:(?:mysql|sqlite|psql|postgres|MariaDB \S+)> ?|[\w.-]+[=-][#>] )(?P<query>.+)$"
)
_QUERY = lazy_pattern(r"^\s*(?:select|explain|show|describe|with|\\d\S*)\s", re.IGNORECASE)
_AMOUNT = lazy_pattern(r"^[\d.,]+(?:\s|$)")  # "$ 40 for a run"


def command_at_prompt(line: str, table: Table) -> str:
    """The command behind a prompt of a shell or a database, or nothing."""
    if len(line) > LONGEST_LINE:
        return ""
    found = _PROMPT.match(line)
    if found is not None:
        command = found.group("command").strip()
        return "" if _AMOUNT.match(command) or command.startswith(("|", "$")) else command
    found = _DATABASE.match(line)
    if found is not None:
        return query(found.group("query")) or f": {shlex.quote(found.group('query'))}"
    found = _WEAK_PROMPT.match(line)
    if found is not None and is_check(found.group("command"), table):
        return found.group("command").strip()
    return ""


def query(text: str) -> str:
    """The command that asks a database what the text asks; nothing where it changes data."""
    return f"psql -c {shlex.quote(text)}" if _QUERY.match(text) else ""


_LAUNCHERS = frozenset(words("launchers"))


def is_check(text: str, table: Table) -> bool:
    """Whether the text is a command that checks something: `dotnet test`, `npx vitest run`."""
    given = text.split()
    if not given or not {given[0].rpartition("/")[2], *given[1:3]} & table.rows.keys():
        return False
    if given[0].rpartition("/")[2] not in table.rows and given[0] not in _LAUNCHERS:
        return False
    return any(
        done.kind == CHECK
        for command in parse(text).commands[:1]
        for inner in unwrapped(command)
        for done in done_by(inner, table)
    )


_LABEL = lazy_pattern(
    r"^\W*(?:results?|outputs?|responses?|stdout|log)\b[^.!?]{0,30}:", re.IGNORECASE
)


def _transcript(lines: Sequence[str], start: int, table: Table) -> tuple[int, str, list[str]]:
    """A transcript outside of a fence: prompts, and the output below each.

    A blank line ends it unless another prompt, an output or a fence follows.
    """
    block: list[str] = []
    index = start
    while index < len(lines):
        line = lines[index]
        prompt = bool(command_at_prompt(line, table))
        fence = _FENCE.match(line)
        if fence is not None and command_at_prompt(block[-1], table):
            end = _end_of_fence(lines, index, fence.group(1))
            return end + 1, "", [*block, *lines[index + 1 : end]]
        if fence is not None or (line.strip() and not prompt and _is_prose(line)):
            break
        if line.strip():
            block.append(line)
            index += 1
            continue
        first, end = _next_paragraph(lines, index)
        if not _belongs(lines[first:end], block[-1], table):
            break
        labelled = not _FENCE.match(lines[first]) and _LABEL.match(lines[first])
        block += lines[first:end] if labelled else []
        index = end if labelled else first
    return index, "", block


def _next_paragraph(lines: Sequence[str], start: int) -> tuple[int, int]:
    first = start
    while first < len(lines) and not lines[first].strip():
        first += 1
    end = first
    while end < len(lines) and lines[end].strip():
        end += 1
    return first, end


def _belongs(paragraph: Sequence[str], last: str, table: Table) -> bool:
    """Whether a paragraph goes on with the transcript whose last line is given."""
    if not paragraph:
        return False
    if _FENCE.match(paragraph[0]):
        return bool(command_at_prompt(last, table))  # else the command has its output
    return _is_output(paragraph, table)


def _is_prose(line: str) -> bool:
    return len(line) > LONGEST_LINE or bool(_SENTENCE.search(line)) or line.startswith(("#", "**"))


def _is_output(paragraph: Sequence[str], table: Table) -> bool:
    """Whether a paragraph below a transcript belongs to it."""
    first = paragraph[0]
    if command_at_prompt(first, table) or _LABEL.match(first):
        return True
    return not any(
        _is_prose(line) or _ITEM.match(line) or len(line.split()) > 8 or line.endswith(":")
        for line in paragraph[:50]
    )


# `root@db1:~#` below the last output.
_EMPTY_PROMPT = lazy_pattern(r"^\s*(?:[\w.-]+@[\w.-]+\S*)?[$#%❯>]\s*$")


def shown_in(part: Part, table: Table) -> list[Shown]:
    """The commands of a block with their outputs; one without a command where it has none."""
    lines = part.text.split("\n")
    found: list[Shown] = []
    command, output = "", list[str]()
    prompted = False
    for line in lines:
        given = command_at_prompt(line, table)
        if not given:
            output += [] if _EMPTY_PROMPT.match(line) else [line]
            continue
        if command or "".join(output).strip():
            found.append(Shown(command, "\n".join(output)))
        command, output, prompted = given, [], True
    found.append(Shown(command, "\n".join(output)))
    if prompted:
        return [one for one in found if one.command]
    return _unprompted(part, lines, table)


_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "powershell"})


def _unprompted(part: Part, lines: Sequence[str], table: Table) -> list[Shown]:
    """`pytest -q` above its output without a prompt; or commands only; or an output only."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return []
    if part.language in _SHELLS and all(_starts_command(line) for line in filled[:20]):
        return [Shown(line.strip(), "") for line in filled[:20]]
    if len(filled[0]) <= LONGEST_LINE and is_check(filled[0], table):
        start = lines.index(filled[0])
        return [Shown(filled[0].strip(), "\n".join(lines[start + 1 :]))]
    return [Shown("", part.text)]


def _starts_command(line: str) -> bool:
    return len(line) <= LONGEST_LINE and bool(re.match(r"\s*[\w./~-]+(?:\s|$)", line))


_CODE_SPAN = lazy_pattern(r"``[^`\n]+``|`[^`\n]*`")
_QUOTATION = pattern("quotation")


def own_words(text: str) -> str:
    """The text without code spans and quotations."""
    return _QUOTATION.sub(" ", _CODE_SPAN.sub(" `it` ", text))
