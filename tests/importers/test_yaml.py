"""YAML of other programs: plain values, and nothing that never ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from trialrun import TraceError
from trialrun.importers import _yaml
from trialrun.importers._yaml import read_yaml


def test_scalars_are_numbers_words_or_text():
    text = """
    whole: [0, -12, +3]
    parts: [1.5, .5, -2.5e-3, 2e9]
    words: [true, False, null, ~, ]
    texts: ['12', "true", yes, 1_000, 1.2.3, 2026-01-02, e5, !!str 7]
    block: |
      12
    bytes: !!binary aGk=
    8: eight
    other: !!python/unicode x
    """
    assert read_yaml(text.encode()) == {
        "whole": [0, -12, 3],
        "parts": [1.5, 0.5, -0.0025, 2e9],
        "words": [True, False, None, None],
        "texts": ["12", "true", "yes", "1_000", "1.2.3", "2026-01-02", "e5", "7"],
        "block": "12\n",
        "bytes": b"hi",
        "8": "eight",
        "other": "x",
    }


def test_references_are_followed():
    assert read_yaml(b"a: &x [1, &y two]\nb: *x\nc: *y") == {
        "a": [1, "two"],
        "b": [1, "two"],
        "c": "two",
    }


def test_a_merge_key_is_an_ordinary_key():
    """Followed, eight levels of ten of them are 100 million values."""
    levels = ["- &m0 {k: 1}"]
    levels += [f"- &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}" for n in range(1, 6)]
    found = read_yaml("\n".join(levels).encode())
    assert found[1] == {"<<": [{"k": 1}] * 10}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "nested more than 200 levels deep"),
        ("- " * 100_000, "nested more than 200 levels deep"),
        ("\n".join(["- &a0 []"] + [f"- &a{n} [*a{n - 1}]" for n in range(1, 300)]), "nested more"),
        (
            "\n".join(["- &a0 []"] + [f"- &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]),
            "large",
        ),
        ("&a [*a]", "the reference \\*a has no value yet"),
        ("{[1]: 2}", "cannot be a key"),
        ("- &a [1]\n- {*a : 2}", "cannot be a key"),
        ("a: 1\n---\nb: 2", "a second document"),
        ("a: [", "not valid YAML"),
        ("a: !!binary a", "not valid YAML"),
    ],
)
def test_what_cannot_be_read_is_an_error(text, reason):
    with pytest.raises(TraceError, match=reason):
        read_yaml(text.encode())


def test_a_deep_cassette_does_not_end_the_process(tmp_path):
    """In a process of its own, as a parser in C that recurses takes the tests with it."""
    file = tmp_path / "deep.yaml"
    file.write_text("interactions:\n- request: " + "[" * 100_000, encoding="utf-8")
    code = "import pathlib, sys; from trialrun.importers import scan"
    code += "; print(scan(pathlib.Path(sys.argv[1]))[1][0])"
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True)
    assert done.returncode == 0
    assert "nested more than 200 levels deep" in done.stdout


def test_a_number_of_many_parts_is_text():
    """As a number to the base of 60 it would take time that grows with the square of its size."""
    number = "1" + ":1" * 150_000
    assert read_yaml(f"a: {number}".encode()) == {"a": number}


def test_values_are_counted_once(monkeypatch):
    monkeypatch.setattr(_yaml, "_MOST_NODES", 8)
    assert read_yaml(b"[[1, 2], [3, [4]]]") == [[1, 2], [3, [4]]]  # 4 lists, 4 numbers
    with pytest.raises(TraceError, match="too large"):
        read_yaml(b"[[1, 2], [3, [4, 5]]]")
