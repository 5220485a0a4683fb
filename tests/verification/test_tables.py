"""The catalogue: each alternative of a pattern has an example, and finds something in it."""

from __future__ import annotations

import re

import pytest

from trialrun.verification import tables
from trialrun.verification.outcomes import SUMMARIES, read_tests

ALTERNATIVES = [
    pytest.param(row, place, id=f"{name}-{place}")
    for name, row in tables.rows().items()
    for place in range(len(row.parts))
]


@pytest.mark.parametrize(("row", "place"), ALTERNATIVES)
def test_an_alternative_finds_something_in_its_examples(row, place):
    assert row.examples[place], "an example stands in front of each alternative"
    for text in row.examples[place]:
        assert re.search(row.parts[place], text, row.flags), text


def test_the_example_of_a_summary_is_read_as_twelve_tests():
    names = [name for name in tables.rows() if name.startswith("summary ")]
    assert len(names) == len(SUMMARIES) > 30
    for name in names:
        (examples,) = tables.rows()[name].examples
        printed = read_tests(examples[0])
        assert printed is not None, name
        assert 12 in (printed.counts.total, printed.counts.passed), name


def test_a_table_of_words():
    assert tables.words("doing")[:2] == ("editing", "modifying")
    assert "kubectl rollout restart" in tables.words("deploys")
    assert tables.group("subject")["ci"] == ("ci",)


@pytest.mark.parametrize("file", sorted(tables.CATALOGUE.glob("*.txt")), ids=lambda file: file.name)
def test_its_lines_are_short(file):
    long = [line for line in file.read_text(encoding="utf-8").splitlines() if len(line) > 100]
    assert not long
