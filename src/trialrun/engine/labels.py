"""A person's verdicts on stored answers, in a file that is written one line at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trialrun import strict_json
from trialrun.engine.audit import Item
from trialrun.errors import UsageError
from trialrun.files import reason

_MEANING = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "1", "p"), True),
    **dict.fromkeys(("fail", "failed", "no", "false", "0", "f"), False),
}


def read_labels(path: Path, items: Sequence[Item]) -> dict[str, bool]:
    """The labels of a CSV or JSONL file, by the keys of the items that they are about.

    A line says which answer it means by `key` (as `judge label` writes it), or by `case`, and
    perhaps `attempt` and `check`. One that means none is an error: it would be ignored in silence.
    """
    found: dict[str, bool] = {}
    for number, row in _rows(path):
        label = _MEANING.get(str(row.get("label", "")).strip().lower())
        if label is None:
            raise UsageError(
                f"{path}:{number}: the label is {row.get('label')!r}, expected pass or fail"
            )
        meant = [item for item in items if _is_meant(item, row)]
        if not meant and row.get("key"):
            continue  # of another run: an answer that has changed since is to be labelled anew
        if not meant:
            named = row.get("case") or "nothing"
            raise UsageError(f"{path}:{number}: no answer of these runs is meant by {named!r}")
        for item in meant:
            if found.get(item.key, label) is not label:
                raise UsageError(f"{path}:{number}: {item.case} has another label before")
            found[item.key] = label
    return found


def _is_meant(item: Item, row: dict[str, Any]) -> bool:
    if row.get("key"):
        return bool(row["key"] == item.key)
    return (
        row.get("case") == item.case
        and str(row.get("attempt") or item.attempt) == str(item.attempt)
        and (row.get("check") or item.check) == item.check
    )


def _rows(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {reason(error)}") from None
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(text.splitlines())
        try:
            if "label" not in (reader.fieldnames or ()):
                raise UsageError(f"{path}: has no column `label`")
            for row in reader:
                yield reader.line_num, dict(row)
        except csv.Error as error:
            raise UsageError(f"{path}:{reader.line_num}: is not CSV: {error}") from None
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = strict_json.decode(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise UsageError(f"{path}:{number}: expected an object with `label`")
        yield number, value


def write_label(path: Path, item: Item, label: bool) -> None:
    """Add one label to the file; it is on disk when this returns."""
    line = {
        "key": item.key,
        "case": item.case,
        "attempt": item.attempt,
        "check": item.check,
        "rule": item.request.rubric.rule,
        "label": "pass" if label else "fail",
    }
    try:
        begun = path.read_bytes() if path.exists() else b""
        glue = "\n" if begun and not begun.endswith(b"\n") else ""
        with path.open("a", encoding="utf-8") as stream:
            stream.write(glue + json.dumps(line) + "\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {reason(error)}") from None
