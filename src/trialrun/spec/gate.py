"""The lines that make a suite compare its runs with baselines, and how they get into a spec.

Lines are only added: every other byte of the file stays, comments included. The new text is read
again, and used only if it says what the old one said and the gate.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from trialrun.spec.document import read_document
from trialrun.spec.validation import Problems, Unreadable, plain

SAME = ("same_calls", "same_arguments", "same_order", "same_errors")
MULTIPLIER = "max_cost_multiplier"
LIMIT = {"value": 3, "severity": "fail"}
GATE = (*SAME, MULTIPLIER)
"""The checks that a suite gets with its first baselines."""

_MULTIPLIER_LINE = f"{MULTIPLIER}: {{value: 3, severity: fail}}"


def gate_lines(checks: Collection[str] = GATE) -> list[str]:
    """The gate of these checks as it is written where a spec has no defaults yet."""
    lines = ["defaults:", *(f"  {line}" for line in _regression_lines(checks))]
    return [*lines, "  cost:", f"    {_MULTIPLIER_LINE}"] if MULTIPLIER in checks else lines


def _regression_lines(checks: Collection[str]) -> list[str]:
    return ["regression:", *(f"  {name}: true" for name in SAME if name in checks)]


Edit = tuple[int, int, str]
"""A line, a column and the text to insert there."""


class CannotInsert(Exception):
    """Why the gate cannot be written into the spec."""


def has_regression(document: Any) -> bool:
    """Whether the spec has a `regression:` key, in its defaults or in a case."""
    if not isinstance(document, dict):
        return False
    cases = document.get("queries") or document.get("cases") or []
    holders = [document.get("defaults"), *(cases if isinstance(cases, list) else ())]
    return any(isinstance(holder, dict) and "regression" in holder for holder in holders)


def with_gate(data: bytes, checks: Collection[str] = GATE) -> tuple[bytes, list[str]] | None:
    """The spec with the gate in its defaults, and what to show of it; None if it has one.

    CannotInsert if that takes more than adding lines.
    """
    before = _read(data)
    if has_regression(before):
        return None
    cases = before.get("queries") or before.get("cases") or []
    if any(isinstance(case, dict) and "cases_from" in case for case in cases):
        raise CannotInsert("its cases come from a table")
    mark = "\ufeff" if data.startswith(b"\xef\xbb\xbf") else ""
    text = data.decode("utf-8-sig")
    new, added = _inserted(text, _edits(text, checks))
    made = (mark + new).encode()
    try:
        is_right = _read(made) == _wanted(before, checks)
    except CannotInsert:
        is_right = False
    if not is_right:  # aliases, tags, or anything else in the place of a plain block
        raise CannotInsert("its layout is an unusual one")
    return made, added


def _read(data: bytes) -> dict[str, Any]:
    try:
        document = plain(read_document(data, Problems()))
    except Unreadable:
        raise CannotInsert("it cannot be read") from None
    if not isinstance(document, dict):
        raise CannotInsert("it is not a mapping")
    return document


def _wanted(before: dict[str, Any], checks: Collection[str]) -> dict[str, Any]:
    """What the spec says when the gate is in it."""
    defaults = dict(before.get("defaults") or {})
    defaults["regression"] = {name: True for name in SAME if name in checks}
    if MULTIPLIER in checks:
        defaults["cost"] = {MULTIPLIER: LIMIT, **(defaults.get("cost") or {})}
    return {**before, "defaults": defaults}


_LINE = re.compile("[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029]|$)")  # "a: 1\r\n"


def _inserted(text: str, edits: list[Edit]) -> tuple[str, list[str]]:
    """The text with every edit made, and its new lines, each block below the key that it is in.

    The places are those in the old text.
    """
    lines = _LINE.findall(text)  # the last one is empty
    ending = "\r\n" if "\r\n" in text else "\n"
    added: list[str] = []
    for number, column, new in sorted(edits, reverse=True):
        if number == len(lines) - 1 and number and not lines[number - 1].endswith(("\n", "\r")):
            lines[number - 1] += ending
        old = lines[number]
        lines[number] = old[:column] + new.replace("\n", ending) + old[column:]
        shown = new if not column else lines[number]
        above = lines[number - 1].rstrip() if number and not column else ""
        is_within = above and _indent(above) < _indent(new)
        added[:0] = [*([above] if is_within else []), *filter(str.strip, shown.splitlines())]
    return "".join(lines), added


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _edits(text: str, checks: Collection[str]) -> list[Edit]:
    import yaml

    loader = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader
    root = yaml.compose(text, Loader=loader)
    top = _entries(root)
    if top is None:
        raise CannotInsert("it is written in flow style")
    if "defaults" not in top:
        return [_before_cases(text, top, checks)]
    key, value = top["defaults"]
    if isinstance(value, yaml.ScalarNode) and not value.value:
        at = key.end_mark.line + 1
        return [(at, 0, _indented(gate_lines(checks)[1:], key.start_mark.column))]
    inside = _entries(value)
    if not inside:
        raise CannotInsert("its `defaults` are written in flow style")
    column = value.start_mark.column
    lines = _regression_lines(checks)
    edits: list[Edit] = []
    if MULTIPLIER in checks and "cost" not in inside:
        lines += ["cost:", f"  {_MULTIPLIER_LINE}"]
    elif MULTIPLIER in checks:
        edits += _into_cost(*inside["cost"])
    # Directly below `defaults:`, so that a comment above the first key stays with that key.
    return [(key.end_mark.line + 1, 0, _indented(lines, column)), *edits]


def _into_cost(key: Any, block: Any) -> list[Edit]:
    entries = _entries(block)
    if entries is not None and MULTIPLIER in entries:
        return []
    if entries:
        column = block.start_mark.column
        return [(key.end_mark.line + 1, 0, _indented([_MULTIPLIER_LINE], column))]
    items = getattr(block, "value", None)
    if not isinstance(items, list) or not items:
        raise CannotInsert("its `cost` defaults have no block to add to")
    if any(name.value == MULTIPLIER for name, _ in items):
        return []
    end = items[-1][1].end_mark  # `{max_cost_usd: 1}`: after the last value
    return [(end.line, end.column, f", {_MULTIPLIER_LINE}")]


def _entries(node: Any) -> dict[str, tuple[Any, Any]] | None:
    """The keys of a mapping in block style, each with the nodes of key and value; else None."""
    if getattr(node, "id", "") != "mapping" or node.flow_style:
        return None
    return {key.value: (key, value) for key, value in node.value if key.id == "scalar"}


def _before_cases(text: str, top: dict[str, tuple[Any, Any]], checks: Collection[str]) -> Edit:
    """In front of `queries:` and of the comment above it, unless that begins the file."""
    names = [name for name in ("queries", "cases") if name in top]
    if not names:
        raise CannotInsert("it has no cases")
    start = top[names[0]][0].start_mark
    lines = text.splitlines()
    line = start.line
    while line and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    line = line or start.line
    return line, 0, _indented(gate_lines(checks), start.column) + "\n"


def _indented(lines: list[str], column: int) -> str:
    return "".join(f"{' ' * column}{line}\n" for line in lines)
