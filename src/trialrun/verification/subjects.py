"""What a file is about, by the words of its name."""

from __future__ import annotations

import re
from functools import lru_cache

# Folder and file words that say nothing about the subject of a test.
_GENERIC = frozenset(
    "test tests spec specs unit integration e2e functional acceptance src lib app apps main java kotlin scala python js ts cmd pkg packages package services service crates crate modules module libs internal"
    " __tests__ testing it its features feature index init conftest py mod rs go test_helper suite all core common shared models views controllers requests components utils helpers api server client backend frontend web".split()
)
# Of these some do say something, where a path has nothing else.
MILD = frozenset(
    "core common shared models views controllers requests components utils helpers api server client backend frontend web services service app apps".split()
)
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")

_NO_SUBJECTS = _GENERIC | {word.rstrip("s") for word in _GENERIC}
_TEST_WORDS = frozenset({"test", "tests", "spec"})


@lru_cache(maxsize=50_000)
def subject_words(path: str, keep_generic: bool = False) -> frozenset[str]:
    """The words of a path that say what it is about: `tests/test_orders.py` → order."""
    words = set()
    for word in map(str.lower, _PARTS.findall(_ENDING.sub("", path))):
        if word[-1] == "s" and len(word) > 3:
            word = _singular(word)
        if len(word) > 1:
            words.add(word)
    return frozenset(words - (_TEST_WORDS if keep_generic else _NO_SUBJECTS))


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word if word.endswith("ss") else word[:-1]
