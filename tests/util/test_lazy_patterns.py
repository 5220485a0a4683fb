"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import importlib
import pkgutil
import re

import pytest

import trialrun
from trialrun.util.lazy_patterns import _LazyPattern, lazy_pattern


def test_it_does_what_a_compiled_pattern_does() -> None:
    lazy, compiled = (
        lazy_pattern(r"(?P<word>a+)b", re.IGNORECASE),
        re.compile("(?P<word>a+)b", re.I),
    )
    text = "xAAb ab b"
    assert lazy.findall(text) == compiled.findall(text) == ["AA", "a"]
    assert [one.span() for one in lazy.finditer(text)] == [(1, 4), (5, 7)]
    assert lazy.sub("-", text) == compiled.sub("-", text)
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, 1)
    assert lazy.fullmatch("ab") and lazy.match("ab") and lazy.search(text) and lazy.split("ab")


def test_it_is_compiled_on_first_use_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    compile_now = re.compile
    monkeypatch.setattr(re, "compile", lambda text, flags: asked.append(text) or compile_now(text))
    lazy = lazy_pattern("a")
    assert asked == []
    assert lazy.search("a") and lazy.search("b") is None and lazy.match("a")
    assert asked == ["a"]


def test_it_has_nothing_else() -> None:
    with pytest.raises(AttributeError):
        lazy_pattern("a").no_such_thing  # type: ignore[attr-defined]  # noqa: B018
    assert copy.copy(lazy_pattern("a")) is not None


def test_every_lazy_pattern_compiles() -> None:
    """A mistake in one would else show only when it is first used."""
    found = 0
    for module in pkgutil.walk_packages(trialrun.__path__, "trialrun."):
        if module.name.startswith(("trialrun.integrations.", "trialrun.__main__")):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            waiting = [value]
            for one in waiting:
                if isinstance(one, _LazyPattern):
                    found += 1
                    assert one.pattern is not None
                elif isinstance(one, tuple):
                    waiting += one
    assert found > 70
