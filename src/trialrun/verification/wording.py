"""How a statement reads without its code and its quotations, and what it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trialrun.verification import phrases as p

CODE = re.compile(r"`([^`\n]+)`")
# By these a word without a folder is known to be the name of a file.
ENDINGS = (
    "py|js|mjs|cjs|ts|tsx|jsx|go|rs|rb|java|kt|cs|php|c|h|cpp|swift|ex|exs|md|rst|txt|ya?ml|toml|json|ini|cfg|conf|sh"
    "|sql|tf|html|css|scss|vue|svelte|env|csv|ipynb|lock|xml|proto|scala|ml|lua|dart|hs|clj|gradle|cmake"
)
_NUMBERS = {
    "both": 2, "twice": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "twenty": 20, "fifty": 50, "hundred": 100,
}  # fmt: skip
HOW_MANY = rf"({'|'.join(_NUMBERS)}|\d{{1,4}})"


def number_of(word: str) -> int:
    """The number that `HOW_MANY` has found."""
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


PATH = re.compile(
    rf"(?<![\w/`])(?:~|\.{{1,2}})?/?(?:[\w.@-]+/)+[\w.@-]+|(?<![\w/`.])[\w-]+\.(?:{ENDINGS})\b"
)
_ADDRESS = re.compile(r"\bhttps?://[^\s)\]>,;\"']+")
_QUOTED = re.compile(
    r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|„([^“”\n]{2,200})[“”]|«([^»\n]{2,200})»|「([^」\n]{2,200})」"
)
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def names_in(text: str) -> Iterator[str]:
    """What a statement names: code spans, paths, quoted texts."""
    for match in CODE.finditer(text):
        yield match.group(1)
    prose = CODE.sub(" ", text)
    for match in _ADDRESS.finditer(prose):
        yield match.group()
    for match in PATH.finditer(_ADDRESS.sub(" ", prose)):
        yield match.group()
    for match in _QUOTED.finditer(text):
        yield next(group for group in match.groups() if group)


def spoken(text: str) -> str:
    """Full stops inside code spans and addresses end no thought: `refunds.py` is one word."""
    text = CODE.sub(lambda found: found.group().replace(".", "_"), text)
    return re.sub(r"(?<=[a-z])\.(?=[a-z/])", "·", text)


def without_code(text: str) -> str:
    """Words only: a code span is a name, whatever stands in it."""
    return CODE.sub(lambda found: "`" if len(found.group(1).split()) < 2 else "``", text)


def outside_quotations(text: str) -> str:
    return _QUOTED.sub('""', text)


def letters(text: str) -> str:
    """The letters alone: `Retry-After`, `retryAfter` and RETRY_AFTER are one name."""
    return re.sub(r"[^a-z\0]", "", text.lower())


def matches(words: str, table: Mapping[str, str], languages: Sequence[str]) -> bool:
    return any(p.compiled(table[language]).search(words) for language in languages)
