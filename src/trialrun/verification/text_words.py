"""The words by which a text without tool calls is read: hedges, deeds, and what a change is about.

The patterns are defaults: a subclass of the compliance metric may bring others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from trialrun.errors import UsageError
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification import tables
from trialrun.verification.runners import default_table, language_of
from trialrun.verification.sentences import sentences_of
from trialrun.verification.text_parts import Part, own_words, parts_of

HEDGES = tables.rows()["hedges"].parts
OPERATIONS = tables.rows()["operations"].parts
CODE_WORK = tables.rows()["code_work"].parts
READ_BACK = tables.rows()["read_back"].parts


class Words(Struct, frozen=True):
    """The compiled patterns by which a text is read."""

    hedges: re.Pattern[str]
    operations: re.Pattern[str]
    code: re.Pattern[str]
    verified: re.Pattern[str]


@cache
def words_of(
    hedges: tuple[object, ...] = HEDGES,
    operations: tuple[object, ...] = OPERATIONS,
    code: tuple[object, ...] = CODE_WORK,
    verified: tuple[object, ...] = READ_BACK,
) -> Words:
    """The words, compiled once for each set of them. UsageError for one that is no pattern."""
    return Words(*(_one_of(texts) for texts in (hedges, operations, code, verified)))


_OURS = (HEDGES, OPERATIONS, CODE_WORK, READ_BACK)


def _one_of(given: tuple[object, ...]) -> re.Pattern[str]:
    texts = [str(getattr(one, "pattern", one)) for one in given]
    for text in texts if given not in _OURS else ():
        try:
            re.compile(text)
        except re.error as error:
            raise UsageError(f'"{text}" is not a regular expression: {error}') from None
    return lazy_pattern("|".join(f"(?:{one})" for one in texts) or r"(?!)", re.IGNORECASE)


def hedges_in(text: str, words: Words | None = None) -> tuple[str, ...]:
    """Every hedge of a message outside of code and quotations, each once."""
    return hedges_of(parts_of(text, default_table()), words or words_of())


def hedges_of(parts: Sequence[Part], words: Words) -> tuple[str, ...]:
    """The same for a text that is already taken apart."""
    found: dict[str, None] = {}
    for part in parts:
        for line in () if part.block else part.text.split("\n"):
            if not line.lstrip().startswith(">"):
                found |= dict.fromkeys(
                    match.group() for match in words.hedges.finditer(own_words(line))
                )
    return tuple(found)


_NOT_ABOUT_WORK = tables.pattern("not_about_work")


def doubts_of(sentences: Sequence[str], words: Words) -> list[str]:
    """The hedges of sentences that speak of work done."""
    found: list[str] = []
    for sentence in sentences:
        plain = own_words(sentence)
        if not _NOT_ABOUT_WORK.search(plain):
            found += [match.group() for match in words.hedges.finditer(plain)]
    return list(dict.fromkeys(found))


def sentences_in(parts: Sequence[Part]) -> Iterator[tuple[int, str]]:
    """The sentences of the prose that stand in no plan, and the place of their part."""
    for at, part in enumerate(parts):
        if not part.block:
            for sentence, planned in sentences_of(part.text):
                if not planned and len(sentence) <= 1500:
                    yield at, sentence


class Deeds(Struct, frozen=True, gc=False):
    """What the author says to have changed: whether anything, whether code, and where."""

    any: bool
    code: bool
    places: tuple[tuple[int, str], ...] = ()


def deeds_of(sentences: Sequence[tuple[int, str]], words: Words) -> Deeds:
    """The changes that a text tells of."""
    done = [(at, one) for at, one in sentences if is_deed(one, words)]
    if not done:
        return Deeds(False, False)
    return Deeds(True, any(_is_of_code(one, words) for _, one in done), tuple(done))


_BY_AUTHOR = tables.pattern("by_author")
_FURTHER = lazy_pattern(r"(?:\band|\bthen|,|&|;)(?: (?:also|then|\w+ly))? $", re.IGNORECASE)
_FOREIGN = lazy_pattern(
    r"\b(?:habe|haben|wurden?|he|hemos|j'ai|nous avons|été|déployée?)\b|[぀-ヿ]", re.I
)
_NOT_DONE = tables.pattern("not_done")
_TALK = tables.pattern("talk")
_PLANNED = tables.pattern("planned")


def is_deed(sentence: str, words: Words) -> bool:
    """Whether the author says to have changed something."""
    if sentence.endswith("?"):
        return False
    plain = own_words(sentence)
    foreign = _FOREIGN.search(plain) is not None
    earlier = False
    for match in words.operations.finditer(plain):
        before = plain[max(0, match.start() - 80) : match.start()]
        if _NOT_DONE.search(before) or _PLANNED.search(before) or _TALK.match(plain[match.end() :]):
            continue
        own = _BY_AUTHOR.search(before) is not None or (foreign and not match.group().isascii())
        if own or (foreign and _BEHIND_VERB.search(plain)) or (earlier and _FURTHER.search(before)):
            return True
        earlier = earlier or own
    return False


_BEHIND_VERB = lazy_pattern(r"\b(?:ich|wir) habe?n?\b|\bwurden?\b|\b(?:he|hemos)\b|\bj'ai\b", re.I)
_ROLLOUT = tables.pattern("rollout")
_FILE = lazy_pattern(r"(?<![\w./-])[\w./-]+\.\w{1,6}\b")
_NO_CODE = frozenset({"docs", "markup", "docker", "terraform"})


def _is_of_code(sentence: str, words: Words) -> bool:
    languages = {language_of(name) for name in _FILE.findall(sentence)} - {None}
    if languages:
        return bool(languages - _NO_CODE)
    verbs = [match.group() for match in words.operations.finditer(own_words(sentence))]
    if all(_ROLLOUT.fullmatch(verb) for verb in verbs):
        return False
    return words.code.search(sentence) is not None


OTHERS = tables.pattern("others")
"""Words that say that an output, or a sentence, is somebody else's."""
