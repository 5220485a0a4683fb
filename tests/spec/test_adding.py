"""A case is added at the end of a spec; every other byte stays."""

from __future__ import annotations

import pytest

from trialrun import UsageError, load_suite
from trialrun.spec.adding import add_case

LINES = ["- name: new", '  query: "q"', "  path: {max_tool_calls: 1}"]
NEW = "".join(f"  {line}\n" for line in LINES)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("queries:\n  - {query: a, path: {max_steps: 1}}\n", NEW),
        ("queries:\n  - {query: a, path: {max_steps: 1}}  # no line break", "\n" + NEW),
        ("# c\ncases:\n- {query: a, path: {max_steps: 1}}\n", "".join(f"{x}\n" for x in LINES)),
        ("agent: x\nqueries:\n", NEW),
    ],
)
def test_lines_are_added_at_the_end(tmp_path, before, after):
    spec = tmp_path / "spec.yaml"
    spec.write_text(before)
    add_case(spec, LINES)
    assert spec.read_text() == before + after
    assert [case.name for case in load_suite(spec).cases][-1] == "new"


def test_a_new_spec_is_begun(tmp_path):
    add_case(tmp_path / "spec.yaml", LINES)
    assert (tmp_path / "spec.yaml").read_text() == f"version: 1\n\nqueries:\n{NEW}"


def test_line_breaks_of_the_file_are_kept(tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_bytes(b"queries:\r\n  - {query: a, path: {max_steps: 1}}\r\n")
    add_case(spec, LINES)
    assert b"\n" not in spec.read_bytes().replace(b"\r\n", b"")


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("queries:\n  - {name: new, query: a}\n", "a case named `new` already"),
        ("queries: [{query: a}]\n", "cannot be added at the end"),
        ("queries:\n  - {query: a}\nagent: x\n", "cannot be added at the end"),
        ("queries:\n  - {query: a}\nmetrics:\n  - step_count\n", "cannot be added at the end"),
        ("- a\n", "not a spec"),
        ("queries: [\n", "not YAML"),
    ],
)
def test_what_cannot_be_added_leaves_the_file(tmp_path, before, why):
    spec = tmp_path / "spec.yaml"
    spec.write_text(before)
    with pytest.raises(UsageError, match=why):
        add_case(spec, LINES)
    assert spec.read_text() == before
