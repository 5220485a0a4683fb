"""YAML read strictly: places, YAML 1.2 scalars, no duplicate keys, bounded aliases and depth."""

from __future__ import annotations

import math

import pytest

from trialrun.spec import validation
from trialrun.spec.document import MAX_ALIASED, MAX_DEPTH, read_document
from trialrun.spec.validation import Problems, Unreadable


def read(text):
    return read_document(text.encode() if isinstance(text, str) else text, Problems())


def refused(text):
    problems = Problems("spec.yaml")
    with pytest.raises(Unreadable):
        read_document(text.encode() if isinstance(text, str) else text, problems)
    return [str(problem) for problem in problems.found]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("12", 12),
        ("-3", -3),
        ("0o17", 15),
        ("0x1F", 31),
        ("017", 17),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("+.inf", math.inf),
        ("2026-01-01", "2026-01-01"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("|\n  12\n", "12\n"),
        ("=", "="),
    ],
)
def test_scalars_follow_yaml_1_2(text, value):
    found = read(f"key: {text}")["key"]
    assert found == value
    assert type(validation.plain(found)) is type(value)


def test_every_value_knows_its_line_and_column():
    document = read("a: 1\nb:\n  - x\n  - {c: 2}\n")
    assert document.key_marks == {"a": (1, 1), "b": (2, 1)}
    assert document.value_marks == {"a": (1, 4), "b": (3, 3)}
    assert document["b"].marks == [(3, 5), (4, 5)]
    assert document["b"][1].value_marks["c"] == (4, 9)


def test_every_duplicate_key_is_reported_with_both_places():
    assert refused("a: 1\nb: {c: 1, c: 2}\na: 3\n") == [
        "spec.yaml:2:11: b.c: the key `c` is given twice; first at 2:5",
        "spec.yaml:3:1: a: the key `a` is given twice; first at 1:1",
    ]


def test_aliases_are_expanded():
    assert read("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}


def test_an_alias_bomb_is_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for number in range(1, 12):
        lines.append(f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]")
    (message,) = refused("\n".join(lines))
    assert f"more than {MAX_ALIASED:,} values" in message


def test_an_alias_inside_its_own_anchor_is_refused():
    (message,) = refused("a: &a [*a]")
    assert "1:8" in message and "*a" in message


def test_depth_is_bounded():
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    (message,) = refused("[" * 20_000 + "]" * 20_000)
    assert f"more than {MAX_DEPTH} levels" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("# only a comment\n", "empty"),
        ("a: 1\n---\nb: 2\n", "second document"),
        ("a: !!python/object:os.system x", "is not allowed"),
        ("a: !!python/name:os.system", "is not allowed"),
        ("a: !custom {b: 1}", "is not allowed"),
        ("a: [1, 2", "not YAML"),
        ("a: b: c", "not YAML"),
        ("\tb: 1", "not YAML"),
        ("<<: {a: 1}", "merge keys"),
        ("? [a]\n: 1", "cannot be a key"),
        (b"a: \xff", "byte 0xff at offset 3"),
        (b"a: \x00", "NUL"),
    ],
)
def test_unsupported_yaml_is_refused(text, message):
    found = refused(text)
    assert len(found) == 1 and message in found[0]


def test_a_byte_order_mark_is_ignored():
    assert read(b"\xef\xbb\xbfa: 1") == {"a": 1}


def test_keys_are_strings():
    assert read("1: a\ntrue: b\nnull: c\n") == {"1": "a", "true": "b", "null": "c"}
