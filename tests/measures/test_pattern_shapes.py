"""Which patterns find something in every text: by their form, compared with searches."""

from __future__ import annotations

import re

import pytest

from trialrun.measures.pattern_shapes import finds_in_every_text

EVERY = [
    *("(30 days)?", ".*", "a*", "x*?", "x{0,3}", "()", "(?i)", "a|", "(a|b|)+", "(a?)(b*)"),
    *("$", "^", r"\A", r"\Z", "(?m)^", r"\s*$", r"^\s*", r"\b|^", "(?=a?)"),
    *("(?!.*no)", "(?<!x)", "(?!x)"),
    *("(?s)^.*$", r"^[\s\S]*$", r"^(.|\n)*$", r"^(?s:.*)\Z", r"^[\d\D]*?\Z"),
]
SOME = [
    *("a", "a+", ".", r"\S", "[^x]", r"\b", "(?s)^.+$", r"(a?)\1x", "(?s:.*)x"),
    *("^$", "^x*$", r"^\s*$", "^.*$", r"^[^\n]*$", "^(?-s:.*)$", r"^[\s\d]*$"),
    *("^(?!.*no)", "^(?!Error)", "(?=a)", "(?<=a)", "(?!x)y", "(?<!x)y"),
]
TEXTS = [
    *("", "x", "a", "b", "y", "no", "Error", "30 days", " ", "\n", "\n\n", "a\nb", "no\nno"),
    *("xx", "é", "🙂", "x\ny\n", "\t", "0", "-", "Error: no", "aab", "a" * 50),
]


@pytest.mark.parametrize("pattern", EVERY)
def test_patterns_that_find_something_in_every_text(pattern):
    assert finds_in_every_text(pattern)
    assert all(re.search(pattern, text) for text in TEXTS)


@pytest.mark.parametrize("pattern", SOME)
def test_patterns_that_find_nothing_in_some_text(pattern):
    assert not finds_in_every_text(pattern)
    assert not all(re.search(pattern, text) for text in TEXTS)


@pytest.mark.skipif("sys.version_info < (3, 11)", reason="syntax of Python 3.11")
def test_repeats_that_give_nothing_back():
    assert finds_in_every_text("(?s)^.*+$")
    assert not finds_in_every_text("(?s)^.*+x")
    assert not finds_in_every_text("^a*+$")
