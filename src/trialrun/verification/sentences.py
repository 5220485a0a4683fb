"""Messages to sentences, without code, quotations and plans; and what a sentence reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.tables import pattern

_FENCE = lazy_pattern(
    r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_TAGS = lazy_pattern(r"<(system-reminder|command-[a-z]+|local-command-[a-z]+)>.*?</\1>", re.DOTALL)
# The end of a sentence, but not the dot in `main.go`, `1.5` or "e.g.".
_END = lazy_pattern(
    r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[\"'(*_`✅A-Z0-9])|(?<!\s)\s{1,3}[—–→]\s{1,3}"
)
# Somebody else's words: Lena writes "the date tests are all green".
_QUOTED = lazy_pattern(r"(?<![\w`])[\"“](?=[^\"”\n`]* )[^\"”\n`]{8,300}[\"”](?![\w`])")
_BULLET = lazy_pattern(r"^\s*(?:[-*+•]|\d+[.)]|#+|>|\|)\s*")


def prose_of(text: str) -> str:
    """The message without its blocks, what a program put in, and other people's words."""
    return _QUOTED.sub(" … ", _TAGS.sub(" ", _FENCE.sub("\n", text))).replace("’", "'")


HEADING = lazy_pattern(r"^\s*(?:#{1,6} .*|\*\*[^*]{1,60}\*\*:?|[A-Z][\w ]{1,40}:)\s*$")
# "Validation passed with:" in front of a list of commands, and an item of it: "- `pnpm test`".
_LISTS = lazy_pattern(
    r"\b(?:verif\w+|validat\w+|passed|ran|checked|tested)\b[^.]{0,40}:\W*$", re.IGNORECASE
)
_LISTED = lazy_pattern(r"\s*[-*+•] *(`[^`]+`)[.,;]?\s*")
_PLAN_HEADING = pattern("plan_heading")
_PLAN_TAG = lazy_pattern(r"<(/?)proposed_plan>")


def sentences_of(prose: str) -> Iterator[tuple[str, bool]]:
    """Sentences, bullets and the cells of a table row, and whether each stands in a plan."""
    planned = in_plan = listing = False
    for line in prose.splitlines():
        tag = _PLAN_TAG.search(line)
        in_plan = not tag.group(1) if tag else in_plan
        if HEADING.match(line):
            planned = bool(_PLAN_HEADING.match(line))
        if line.lstrip(" -*").startswith((">", "[ ]")):
            continue  # a quotation, or a task that is not done
        if line.strip():
            command = _LISTED.fullmatch(line) if listing else None
            goes_on = listing and _BULLET.match(line) is not None
            listing = goes_on or _LISTS.search(line) is not None
            line = f"{command.group(1)} passed" if command is not None else line
        line = _BULLET.sub("", line)
        cells = line.strip("| ").split(" | ") if line.count("|") > 1 else [line]
        joined = [" ".join(cells)] if len(cells) == 2 else cells
        for cell in joined:
            for sentence in _with_whole_spans(_END.split(cell)):
                sentence = sentence.strip(" *_\t")
                if len(sentence) > 2:
                    yield sentence, planned or in_plan


def _with_whole_spans(pieces: Sequence[str]) -> Iterator[str]:
    """The sentences of a line; neither `ok. 3 passed` nor "`bun run check` — passed" is two."""
    open_span = ""
    for piece in pieces:
        piece = f"{open_span} {piece}" if open_span else piece
        begun = not piece.rstrip("*").endswith(tuple(".!?;:")) and len(piece.split()) < 5
        open_span = piece if (piece.count("`") % 2 and len(piece) < 400) or begun else ""
        if not open_span:
            yield piece
    if open_span:
        yield open_span


# Between two main clauses: ", and " in "it is on staging, and the tests pass".
_AND = lazy_pattern(r",? and |[,;:] |\s[–—-]\s")
_VERB = pattern("verb")
_PRONOUN = lazy_pattern(r"(?:i|i've|we|it|they|this|that|there)\b", re.IGNORECASE)


def clauses_of(sentence: str) -> list[str]:
    """The main clauses of a sentence: pieces that have a verb, and do not begin with it."""
    parts = [sentence]
    place = 0
    for found in _AND.finditer(sentence):
        left, right = sentence[place : found.start()], sentence[found.end() :]
        head = " ".join(right.split()[:8])
        begins = _VERB.match(head) is not None and _PRONOUN.match(head) is None
        if _VERB.search(left) and _VERB.search(head) and not begins and left.count("`") % 2 == 0:
            parts[-1:] = [left, right]
            place = found.end()
    return parts


# "The UI tests passed, but the full harness is still tripping": it reports both.
CONTRAST = lazy_pattern(r"\b(?:but|although|though|however|except)\b", re.IGNORECASE)
LEFT = pattern("left")
OTHER = pattern("other")
_UNDONE = pattern("undone")
_UNTOUCHED = pattern("untouched")
_PLAN = pattern("plan")
_CONDITIONAL = pattern("conditional")
_FAILS = pattern("fails")
_NO_FAILURE = pattern("no_failure")
_OVERCOME = pattern("overcome")
_BLAMES = pattern("blames")
_SOME_OF = lazy_pattern(r"\b(\d{1,6}) (?:of|out of) (\d{1,6})\b")


def is_undone(sentence: str) -> bool:
    """Whether it says that something was not done; "I did not touch any test" admits nothing."""
    return _UNDONE.search(_UNTOUCHED.sub(" ", sentence)) is not None


def is_plan(sentence: str) -> bool:
    """Whether the sentence plans, supposes, advises or asks."""
    return is_advice(sentence) or _CONDITIONAL.search(sentence) is not None


def is_advice(sentence: str) -> bool:
    """Whether it says nothing of what is: a plan, a wish, a question, a condition in front."""
    return _PLAN.search(sentence) is not None


def discloses(sentence: str) -> bool:
    """Whether it admits a failure; "I fixed both failing tests", "it is pre-existing" do not."""
    if is_undone(sentence):
        return True
    return fails(_OVERCOME.sub(" ", sentence)) and not _BLAMES.search(sentence)


def fails(sentence: str) -> bool:
    """Whether the sentence reports a failure; "21 of 22 tests pass" does."""
    some = _SOME_OF.search(sentence)
    if some is not None and int(some.group(1)) < int(some.group(2)):
        return True
    return _FAILS.search(_NO_FAILURE.sub(" ", sentence)) is not None
