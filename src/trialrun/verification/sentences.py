"""A final message as statements: without code, quotations of others, tables' rules and headings.

Every statement is a piece of the message as it stands there, so that a claim can be found again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from trialrun.verification.blocks import BULLET, FENCE
from trialrun.verification.readable import squeezed

LONGEST_STATEMENT = 2_000


class Statement(Struct, frozen=True):
    """One statement, where it stands, and what its surroundings say about it."""

    text: str
    plain: str  # without emphasis, bullets and links
    heading: str = ""  # the heading that it stands under, in lower case
    mark: str = ""  # "yes" or "no", for a tick or a cross in front of it
    question: bool = False
    sentence: str = ""  # the whole sentence that it is a part of
    intro: str = ""  # of an item of a list: the sentence before the list, in lower case


_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*)$")
_BOLD_HEADING = re.compile(r"^\s*(?:\*\*|__)([^*]{2,80}?(?<![.!]))(?:\*\*|__):?\s*$")
_WORD_HEADING = re.compile(r"^([A-ZÄÖÜÉ][\w' /&-]{2,40}):\s*$")
_CALLOUT = re.compile(
    r">\s*(?:[⚠ℹ💡📝🔴🟡❗]|\*\*|\[!\w+\]|(?:note|warning|caveat|heads[- ]up|hinweis)\b)",
    re.IGNORECASE,
)
_CALLOUT_SIGN = re.compile(r"^>\s*(?:[⚠ℹ💡📝🔴🟡❗]\ufe0f?\s*|\[!\w+\]\s*)?")
_TICKS = "✅✔✓☑🟢👍🎉"
_CROSSES = "❌✗✘✖🔴⛔🚫"
_MARK = re.compile(
    rf"^\s*(?:\[(?P<box>[xX ])\]\s*)?(?P<sign>[{_TICKS}{_CROSSES}⚠ℹ️🟡📝🔧💡✨🚀]*)\s*"
)
_TABLE_RULE = re.compile(r"^(?=[^-]*-)[\s:|-]+$")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\n]{0,500}\)")
_CODE_SPAN = re.compile(r"``[^`\n]+``|`[^`\n]+`")
# A sentence ends at one of these, followed by space and not by a small letter after a short word.
_END = re.compile(
    r"[🎉🚀✨🙌🧹👍]\ufe0f?(?=\s+[A-Z])|[.!?…](?:[\"'”’)*_]*)(?=\s|$)|[。\uff01\uff1f]"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|z\.B|d\.h|u\.a|bzw|p\.ej|ej|par ex|ca|incl|resp|Mr|Dr|St|fig|v)\.|\b[A-Za-z]\.)$",
    re.IGNORECASE,
)


def statements(text: str) -> Iterator[Statement]:
    """The statements of a message, in order."""
    heading = intro = ""
    paragraph: list[str] = []

    def flush() -> Iterator[Statement]:
        nonlocal intro
        if paragraph:
            joined = "\n".join(paragraph)
            paragraph.clear()
            if not BULLET.match(joined):
                intro = _intro_of(joined)
            yield from _sentences(joined, heading, "", intro)

    fence = ""
    before_blank = True
    header_seen = False
    for line in squeezed(text).split("\n"):
        opened = FENCE.match(line)
        if fence:
            if opened and opened.group(1).startswith(fence) and not line.strip().strip("`~"):
                fence = ""
            continue
        if opened:
            yield from flush()
            fence = opened.group(1)[:3]
            continue
        stripped = line.strip()
        if not stripped:
            yield from flush()
            before_blank, header_seen = True, False
            continue
        headline = _headline(line)
        if headline is not None:
            yield from flush()
            title = headline.strip(" *_:")
            if (
                _SAYS.search(title)
                and " " in title
                and not re.match(r"(?i)(?:why|how|what|when|where|if|not|un\w+) ", title)
            ):  # "## Both problems are fixed"
                yield from _sentences(headline, "", "")
            else:
                heading = title.lower()
        elif _CALLOUT.match(stripped):
            yield from flush()  # the agent's own remark, set off as a quotation
            paragraph.append(_CALLOUT_SIGN.sub("", stripped))
        elif stripped.startswith(">") or (
            before_blank
            and line.startswith(("    ", "\t"))
            and not paragraph
            and not BULLET.match(line)
        ):
            yield from flush()  # a quotation, or indented code
            continue
        elif stripped.startswith("|") and stripped.count("|") >= 2:
            yield from flush()
            if _TABLE_RULE.match(line):
                header_seen = True
            elif header_seen:
                yield from _row(stripped, heading)
        elif BULLET.match(line) or _MARK.match(line).group("sign"):  # type: ignore[union-attr]
            yield from flush()
            paragraph.append(line)
        else:
            paragraph.append(line)
        before_blank = False
    yield from flush()


def _headline(line: str) -> str | None:
    """The words of a heading; None for any other line."""
    marked = _HEADING.match(line)
    if marked:
        return marked.group(1).rstrip().rstrip("#").strip()  # "## Done ##"
    titled = _BOLD_HEADING.match(line) or _WORD_HEADING.match(line)
    return titled.group(1).strip() if titled else None


def _intro_of(paragraph: str) -> str:
    """The sentence by which a paragraph leads up to a list, or nothing."""
    if not paragraph.rstrip(" *_").endswith((":", "：")):
        return ""
    sentences = list(_split(paragraph.rstrip()[-500:]))
    return _plain(sentences[-1]).lower() if sentences else ""


def _row(line: str, heading: str) -> Iterator[Statement]:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    text = line.strip("| ").strip()
    mark = ""
    for cell in cells:
        found = _MARK.match(cell)
        if found and found.group("sign"):
            mark = _mark_of(found) or mark
    plain = ": ".join(_plain(_MARK.sub("", cell)) or _spoken(cell) for cell in cells if cell)
    if plain:
        yield Statement(text[:LONGEST_STATEMENT], plain[:LONGEST_STATEMENT], heading, mark)


def _spoken(cell: str) -> str:
    return "" if cell.strip(_TICKS + _CROSSES + " ️") == "" else cell


def _mark_of(found: re.Match[str]) -> str:
    sign, box = found.group("sign") or "", found.group("box")
    if any(one in _CROSSES for one in sign) or box == " ":
        return "no"
    if any(one in _TICKS for one in sign) or box in ("x", "X"):
        return "yes"
    return ""


def _sentences(block: str, heading: str, mark: str, intro: str = "") -> Iterator[Statement]:
    bullet = BULLET.match(block)
    if bullet is None:
        intro = ""
    else:
        block = block[bullet.end() :]
    found = _MARK.match(block)
    if found and found.end():
        mark = _mark_of(found)
        block = block[found.end() :]
    if not mark and block.rstrip(" ️.")[-1:] in _TICKS + _CROSSES:
        mark = "no" if block.rstrip(" ️.")[-1:] in _CROSSES else "yes"
    for sentence in _split(block):
        question = sentence.rstrip("\"'”’)*_ ").endswith(("?", "\uff1f"))
        whole = _plain(sentence)[:LONGEST_STATEMENT]
        for clause in _asides(sentence):
            text = clause.strip().strip(",;").strip()
            if not text:
                continue
            plain = _plain(text)
            if plain:
                yield Statement(
                    text[:LONGEST_STATEMENT],
                    plain[:LONGEST_STATEMENT],
                    heading,
                    mark,
                    question,
                    whole,
                    intro,
                )


def _plain(text: str) -> str:
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    if "*" in text or "_" in text:
        # Emphasis is taken off outside code only: `__init__.py` keeps its underscores.
        parts = [_EMPHASIS.sub("", part) for part in _CODE_SPAN.split(text)]
        spans = [*_CODE_SPAN.findall(text), ""]
        text = "".join(part + span for part, span in zip(parts, spans, strict=True))
    text = text.replace("’", "'").replace("‘", "'").replace("\u00a0", " ")
    return " ".join(text.split()).strip(" .,:;。、")


def _masked(text: str) -> str:
    """The same length, with code spans and brackets blanked: nothing is split inside them."""
    if not _HIDES.search(text):
        return text
    masked = _CODE_SPAN.sub(lambda found: "`" * len(found.group()), text)
    masked = _BRACKETS.sub(lambda found: "(" * len(found.group()), masked)
    return _QUOTATIONS.sub(lambda found: "`" * len(found.group()), masked)


_HIDES = re.compile(r"[`(（\"“„«「]")
_BRACKETS = re.compile(r"\([^()\n]{0,300}\)|（[^（）\n]{0,300}）")
_QUOTATIONS = re.compile(
    r"\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|„[^“\n]{0,300}“|«[^»\n]{0,300}»|「[^」\n]{0,300}」"
)


def _split(block: str) -> Iterator[str]:
    masked = _masked(block)
    start = 0
    for found in _END.finditer(masked):
        end = found.end()
        if masked[found.start()] == "." and _ABBREVIATION.search(
            masked[max(0, found.start() - 8) : found.start() + 1]
        ):
            continue
        yield block[start:end]
        start = end
    if block[start:].strip():
        yield block[start:]


_VERB = (
    r"(?:is|are|was|were|has|have|had|pass\w*|fail\w*|work\w*|return\w*|now|succeed\w*|run\w*|compile\w*|build\w*|show\w*|report\w*|say\w*|do|does|did|can|could|will|would|should|get\w*|use\w*|contain\w*|match\w*|exist\w*"
    r"|ist|sind|war|wurde\w*|hat|haben|läuft|laufen|funktionier\w*|está|están|pasa\w*|funciona\w*|fue|ha|han|est|sont|passe\w*|fonctionne\w*|a|ont|answers?|responds?|stays?|stayed|went|came|comes|goes|finish\w*|complete\w*|ran|fires?|lists?|reads?|accepts?|rejects?|refuses?|remain\w*|need\w*|changed|added|updated|fixed|verified|confirmed|tested|checked|haven't|didn't|couldn't|wasn't|isn't|doesn't|don't|hasn't)"
)
_SAYS = re.compile(
    r"\b(?:is|are|was|were|has|have|now|pass(?:es|ed)?|works?|fixed|succeeded|failed|fails|verified|confirmed|green|passing|tested|complete|completed|finished|renamed|migrated|ist|sind|está|están|est|sont)\b|です|ました|済み",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?<!\w)(?:\*\*|__|\*|_)|(?:\*\*|__|\*|_)(?!\w)")
_JOINT = re.compile(
    rf"\s+and\s+(?=(?:is|are|was|were|has|have)\s+(?!been\b))|\s*;\s+|\s+[—–]\s+|\s+-\s+|,\s+(?:and|but|so|while|whereas|und|aber|sodass|y|pero|et|mais|donc|although|though|yet)\s+(?=\S+\s+\S+\s+\S+)"
    rf"|,\s+(?:and|but)\s+(?=`+\s+{_VERB}\b)|,\s+(?!(?:that|which|this|it|there|what|who)\b)(?=(?:`+|[\w./-]+)\s+(?:is|are|has|have|reports?|shows?|says?|finds?|comes?)\s+(?:clean|green|no|\d+|ok|fine|happy|nothing|all|valid|back)\b)|,\s+(?=which (?:\w+ )?(?:fixes|fixed|resolves|solves|cures|closes)\b)"
    rf"|\s+(?:but|aber|pero|mais|so(?!\s+that\b))\s+(?=(?:\S+\s+){{0,8}}?{_VERB}\b)|\s+(?:y|et|und)\s+(?=(?:el|la|los|las|le|les|der|die|das)\s+\S+\s+\S)|\s+and\s+(?=each of\b|(?:I|all|the|it|there|no|both|every|everything|this|that|they|\d+|\w+ (?:is|are|was|were|has|now|no longer|pass\w*|fail\w*))\b)"
    r"|、(?=[^、]{6,})|(?:ですが|ましたが)、?|(?<=ており)、|(?<=ていて)、|:\s+(?=(?:all|none|every|\d+|no|the|I|it|this|that|they|there|both|each|ahora|jetzt|nun|désormais|es|il|elle|HTTP)\s)",
    re.IGNORECASE,
)


_HAS_VERB = re.compile(rf"\b{_VERB}\b", re.IGNORECASE)


# "Restarted `ingest` and it is healthy again" reports, and then claims.
_REPORTS = re.compile(
    r"\W*(?:i|we)(?:'ve| have)? \w+|\W*\w{2,}ed\b|\W*re(?:built|set|wrote)\b", re.IGNORECASE
)
_SUBJECT = re.compile(r"(?:it|they|everything|all|both|each|the|this|that)\b", re.IGNORECASE)


# "All tests pass (I did not run the slow ones)" says two things, and one does not excuse the other.
_ASIDE = re.compile(
    r"\s*\((?=(?:I|we|though|although|but|not|except|apart from|without) )([^()\n]{3,300})\)\s*[.!;]?\s*$",
    re.IGNORECASE,
)


def _asides(sentence: str) -> Iterator[str]:
    found = _ASIDE.search(sentence)
    if found is None or not sentence[: found.start()].strip():
        yield from _clauses(sentence)
    else:
        yield from _clauses(sentence[: found.start()])
        yield from _clauses(found.group(1))


_COUNTER = re.compile(
    r"\b(?:run|passed|failed|failures?|errors?|skipped|ignored|warnings?|total)$", re.IGNORECASE
)


def _is_label(left: str) -> bool:
    """Whether what stands before a colon only names what the rest is about."""
    most = 6 if left.lstrip(" *_").startswith("`") else 3  # "`rubocop` on the touched files: …"
    return len(left.split()) <= most and not _HAS_VERB.search(left)


def _clauses(sentence: str) -> Iterator[str]:
    masked = _masked(sentence)
    start = 0
    for found in _JOINT.finditer(masked):
        left, right = sentence[start : found.start()], sentence[found.end() :]
        if (
            found.group().strip() in ("and", "y", "et", "und")
            and not _HAS_VERB.search(left)
            and not (_REPORTS.match(left) and _SUBJECT.match(right))
        ):
            continue  # "mypy and ruff are clean" is one statement
        if found.group().startswith(":") and _is_label(masked[start : found.start()]):
            continue  # "`tsc --noEmit`: no errors" is one too, and "ESLint: no findings"
        if found.group().startswith(":") and _COUNTER.search(left) and right[:1].isdigit():
            continue  # "Tests run: 5, failures: 0"
        if (len(left.split()) < 2 and len(left) < 6) or not right.strip():
            continue
        yield left
        start = found.end()
    yield sentence[start:]
