"""Read and write a person's verdicts on stored answers: in files, and in the store."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trialrun.engine.judge_audit import Item, items_in
from trialrun.engine.regrade import Regrader
from trialrun.errors import UsageError
from trialrun.model.case import Suite
from trialrun.redaction import redact
from trialrun.store.labels import Label, LabelPlace
from trialrun.store.records import Attempt
from trialrun.util import strict_json
from trialrun.util.files import reason

if TYPE_CHECKING:
    from trialrun.store.store import Store

_LABEL_VALUES = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "1", "p"), True),
    **dict.fromkeys(("fail", "failed", "no", "false", "0", "f"), False),
}


class Labels(Struct, frozen=True):
    """Labels by item key, and how many labels match no item."""

    known: dict[str, bool]
    others: int = 0


class _Line(Struct, frozen=True, kw_only=True):
    """A label, and the answer that it is about."""

    label: bool
    key: str | None
    case: str | None
    rule: str | None
    check: str | None
    attempt: int | None

    def matches(self, item: Item) -> bool:
        if self.key is not None:
            return self.key == item.key
        return (
            self.case == item.case
            and self.rule in (None, item.request.rubric.rule.strip())
            and self.check in (None, item.check)
            and self.attempt in (None, item.attempt)
        )


def read_labels(path: Path, items: Sequence[Item]) -> Labels:
    """Read the labels of a CSV or JSONL file.

    A line identifies its answer by `key` (as `judge label` writes it), or by `case` and, if that
    leaves several, by `rule`, `check` and `attempt`. A line that matches no answer or several is an
    error: it would be ignored, or applied to answers that no person has looked at.
    """
    found: dict[str, bool] = {}
    others = 0
    for number, row in _rows(path):
        try:
            line = _line(row)
            matching = [item for item in items if line.matches(item)]
            if not matching and line.key is not None:
                others += 1  # from another run, or the rubric or context has changed since
                continue
            item = _single_item(line, matching)
            if found.setdefault(item.key, line.label) is not line.label:
                raise UsageError(f"{item.case} has a different label earlier in the file")
        except UsageError as error:
            raise UsageError(f"{path}:{number}: {error}") from None
    return Labels(found, others)


def _single_item(line: _Line, matching: Sequence[Item]) -> Item:
    """The one item that the line is about; the same item in several suites counts once."""
    if not matching:
        rule = "" if line.rule is None else f", rule {line.rule!r}"
        raise UsageError(f"no answer of these runs matches {line.case or 'nothing'!r}{rule}")
    if len({item.key for item in matching}) > 1:
        several, by = "answers", "key"  # `judge label` writes the key
        if len({item.request.rubric.rule for item in matching}) > 1:
            several, by = "rubrics", "rule"
        elif len({item.attempt for item in matching}) == len(matching):
            by = "attempt"
        raise UsageError(f"{line.case} has several {several}; name one with `{by}`")
    return matching[0]


def _line(row: dict[str, Any]) -> _Line:
    label = _LABEL_VALUES.get(str(row.get("label", "")).strip().lower())
    if label is None:
        raise UsageError(f"the label is {row.get('label')!r}, expected pass or fail")
    rule = _text(row, "rule")
    return _Line(
        label=label,
        key=_text(row, "key"),
        case=_text(row, "case"),
        rule=None if rule is None else rule.strip(),
        check=_text(row, "check"),
        attempt=_attempt(row.get("attempt")),
    )


def _text(row: dict[str, Any], name: str) -> str | None:
    """The text of a cell; None if it is missing or empty."""
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"the {name} is {value!r}, expected text")
    return value or None


def _attempt(value: Any) -> int | None:
    """An attempt number, from 1 on. 0 is an error: it must not match every attempt."""
    if value is None or value == "":
        return None
    number = int(value) if isinstance(value, str) and value.strip().isdecimal() else value
    if type(number) is int and number >= 1:
        return number
    raise UsageError(f"the attempt is {value!r}, expected a whole number from 1 on")


def _rows(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {reason(error)}") from None
    return _csv(path, text) if path.suffix.lower() == ".csv" else _json_lines(path, text)


def _csv(path: Path, text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))  # a rule may span several lines
    try:
        columns = list(reader.fieldnames or ())
        if "label" not in columns:
            raise UsageError(f"{path}: has no column `label`")
        for name in columns:
            if columns.count(name) > 1:  # csv would silently use the last one
                raise UsageError(f"{path}:1: the column `{name}` occurs twice")
        for row in reader:
            if None in row:
                raise UsageError(f"{path}:{reader.line_num}: has more cells than there are columns")
            yield reader.line_num, dict(row)
    except csv.Error as error:
        raise UsageError(f"{path}:{reader.line_num}: is not CSV: {error}") from None


def _json_lines(path: Path, text: str) -> Iterable[tuple[int, dict[str, Any]]]:
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


def stored_labels(store: Store, suites: Sequence[Suite]) -> dict[str, bool]:
    """The labels that were given in the viewer, by item key; the last one of a key counts.

    Those about answers or rules that the specs do not ask about any more are left out.
    """
    found: dict[str, bool] = {}
    for run_id in store.labels.runs():
        labels = store.labels.of([run_id])
        named = {case.position: (case.suite, case.case) for case in store.plan(run_id)}
        regrader = Regrader(suites, named, None, None, [])
        for stored in store.attempts(run_id, {place.position for place in labels}):
            for item in items_in(regrader, stored):
                label = _label_of(item, run_id, stored, labels)
                if label is not None:
                    found[item.key] = label.follows
    return found


def _label_of(
    item: Item, run_id: str, stored: Attempt, labels: Mapping[LabelPlace, Label]
) -> Label | None:
    rule = item.request.rubric.rule
    for text in (rule, redact(rule)):  # what is stored is masked
        place = LabelPlace(
            run_id, stored.position, stored.attempt, item.check, item.turn, text.strip()
        )
        if place in labels:
            return labels[place]
    return None


def write_label(path: Path, item: Item, label: bool) -> None:
    """Append one label to the file; it is on disk when this returns."""
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
