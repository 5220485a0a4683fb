"""A pattern behind marks must find what it would find without them."""

import importlib
import pkgutil
import re
import re._constants as signs
import re._parser as parser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trialrun.verification
from trialrun.verification.marks import Marked


def every_marked():
    for module in pkgutil.walk_packages(trialrun.verification.__path__, "trialrun.verification."):
        for name, value in vars(importlib.import_module(module.name)).items():
            several = value if isinstance(value, tuple) else (value,)
            for place, one in enumerate(several):
                if isinstance(one, Marked):
                    yield pytest.param(one, id=f"{module.name.rpartition('.')[2]}-{name}-{place}")


EVERY = list(every_marked())


def fixed_text(sign, value):
    """The letters that this part of a pattern is, if it is nothing but letters."""
    if sign is signs.LITERAL:
        return chr(value)
    if sign is signs.SUBPATTERN and all(inner is signs.LITERAL for inner, _ in value[3]):
        return "".join(chr(letter) for _, letter in value[3])
    return None


def alternatives(sign, value):
    """The patterns of which one must match where this part does."""
    if sign is signs.SUBPATTERN:
        return [value[3]]
    if sign is signs.BRANCH:
        return value[1]
    repeats = sign in (signs.MAX_REPEAT, signs.MIN_REPEAT) and value[0] >= 1
    return [value[2]] if repeats else []


def never_lacks(items, marks, folded, run=""):
    """Whether each text that these parts of a pattern match, behind `run`, has one of the marks."""

    def found():
        return any(mark in (run.casefold() if folded else run) for mark in marks)

    for sign, value in items:
        fixed = fixed_text(sign, value)
        if fixed is not None:
            run += fixed
            continue
        if sign is signs.MAX_REPEAT and len(value[2]) == 1 and value[2][0][0] is signs.LITERAL:
            # `E  +`: one blank more is there whatever the number.
            run += chr(value[2][0][1]) * value[0]
            if found():
                return True
            run = ""
            continue
        if found():
            return True
        inner = alternatives(sign, value)
        if inner and all(never_lacks(part, marks, folded, run) for part in inner):
            return True
        run = ""
    return found()


def test_the_proof_can_fail():
    assert never_lacks(parser.parse("ab|xbc"), ["b"], False)
    assert not never_lacks(parser.parse("ab|xc"), ["b"], False)
    assert not never_lacks(parser.parse("ab?c"), ["b"], False)
    assert never_lacks(parser.parse("abb|acc"), ["ab", "ac"], False)
    assert not never_lacks(parser.parse("abb|acc"), ["ab"], False)
    assert not never_lacks(parser.parse("a(?:b)*c"), ["b"], False)
    assert never_lacks(parser.parse("a(?:b|cb)+"), ["b"], False)
    assert not never_lacks(parser.parse("a[bc]"), ["ab"], False)
    assert never_lacks(parser.parse("ab+"), ["ab"], False)
    assert not never_lacks(parser.parse("ab+"), ["abb"], False)
    assert not never_lacks(parser.parse("(?:ab){2}"), ["aa"], False)
    assert not never_lacks(parser.parse("AB"), ["b"], False)
    assert never_lacks(parser.parse("AB"), ["b"], True)


@pytest.mark.parametrize("marked", EVERY)
def test_no_match_lacks_all_marks(marked):
    parts = parser.parse(marked.pattern.pattern, marked.pattern.flags)
    assert never_lacks(parts, marked.marks, marked.folded)
    if marked.folded:
        assert all(mark == mark.casefold() for mark in marked.marks), "looked for in lower case"


@pytest.mark.parametrize("marked", EVERY)
@given(data=st.data())
@settings(max_examples=20)
def test_it_finds_what_the_pattern_finds(marked, data):
    text = data.draw(
        st.from_regex(re.compile(marked.pattern.pattern, marked.pattern.flags)) | st.text()
    )
    plain, found = marked.pattern.search(text), marked.search(text)
    assert (found and found.span()) == (plain and plain.span())
    assert [one.span() for one in marked.finditer(text)] == [
        one.span() for one in marked.pattern.finditer(text)
    ]


def test_where_no_mark_occurs_the_pattern_is_not_tried():
    marked = Marked(("x",), "x|y")
    assert marked.search("y") is None
    assert list(marked.finditer("y")) == []
    assert marked.search("yx")


@pytest.mark.parametrize("text", ["FAILS", "Fail\u017f", "fails", "FA\u0130LS", "fa\u0131ls"])
def test_case_is_folded_as_the_pattern_folds_it(text):
    assert Marked(("fails",), "fails", re.IGNORECASE).search(text)
