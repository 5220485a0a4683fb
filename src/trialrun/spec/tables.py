"""`cases_from`: makes a case from a template for each row of a table.

The strings of a template that contain a `{{column}}` are found once. For each row they are replaced
in a copy of the template, which is then read like any other case. Every row is read when the spec
is loaded, so that mistakes are found before anything runs; but cases are not kept, because tens of
thousands would fill the memory: they are built again on access.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from trialrun.errors import Problem, SpecError
from trialrun.model.case import EvalCase, LazyCases, MetricPlan
from trialrun.model.results import LAYERS
from trialrun.pricing import PriceBook
from trialrun.spec.case import TEXTS, checks_nothing, read_case, read_variant
from trialrun.spec.defaults import Block, Reading
from trialrun.spec.table_files import MOST_REPORTED, Row, Table, read_table
from trialrun.spec.types import Text
from trialrun.spec.validation import (
    LocatedDict,
    LocatedList,
    Place,
    Problems,
    Unreadable,
    described,
    did_you_mean,
    read,
)
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.util.packed import PackedTexts

_PLACEHOLDER = lazy_pattern(r"\{\{(.*?)\}\}", re.DOTALL)  # {{column}}

Filler = Callable[[Row, Problems], Any]
"""Makes a value of one case from a row, and adds problems if that is not possible."""


class Template:
    """A case with `{{column}}` in some of its strings."""

    def __init__(self, data: LocatedDict, place: Place, problems: Problems) -> None:
        self.data = data
        self.columns: dict[str, Place] = {}  # column → where it is first named
        self._problems = problems
        self._fillers: dict[str, Filler] = {}
        for key, value in data.items():
            filler = self._filler(value, place.value(data, key))
            if filler is not None:
                self._fillers[key] = filler

    def varies(self, key: str) -> bool:
        """Whether the value of this key depends on the row."""
        return key in self._fillers

    def varies_only(self, keys: Collection[str]) -> bool:
        """Whether only values of these keys depend on the row."""
        return all(key in keys for key in self._fillers)

    def same(self) -> set[str]:
        """The layers whose blocks are the same for every row: their checks are shared."""
        if self.varies("reference_tools") or self.varies("severity"):  # of checks of any layer
            return set()
        varying = {"correctness"} if self.varies("state") else set()
        return {layer for layer in LAYERS if not self.varies(layer)} - varying

    def value(self, key: str, row: Row) -> Any:
        """The value of one key for a row that has been read before."""
        return self._fillers[key](row, Problems()) if key in self._fillers else self.data.get(key)

    def filled(self, row: Row, problems: Problems) -> LocatedDict:
        """The keys of the row's case. Values that no row changes are shared, not copied."""
        return _with_values(self.data, self._fillers, row, problems)

    def _filler(self, value: Any, place: Place) -> Filler | None:
        """The filler for a value, or None if nothing in it depends on the row."""
        if isinstance(value, str):
            return self._text_filler(value, place) if "{{" in value else None
        if isinstance(value, LocatedDict):
            keyed = {
                key: self._filler(item, place.value(value, key)) for key, item in value.items()
            }
            varying = {key: filler for key, filler in keyed.items() if filler is not None}
            if varying:
                return lambda row, problems: _with_values(value, varying, row, problems)
        elif isinstance(value, LocatedList):
            listed = [self._filler(item, place.item(value, n)) for n, item in enumerate(value)]
            numbered = {n: filler for n, filler in enumerate(listed) if filler is not None}
            if numbered:
                return lambda row, problems: _with_items(value, numbered, row, problems)
        return None

    def _text_filler(self, text: str, place: Place) -> Filler | None:
        pieces = _PLACEHOLDER.split(text)  # text, column, text, column, …, text
        pieces[1::2] = [column.strip() for column in pieces[1::2]]
        if any("{{" in piece for piece in pieces[::2]):
            self._problems.add(place, "`{{` without `}}` after it")
            return None
        for column in pieces[1::2]:
            self.columns.setdefault(column, place)
        if pieces[0] == "" == pieces[-1] and len(pieces) == 3:
            column = pieces[1]
            return lambda row, problems: row[column]
        return lambda row, problems: _joined(pieces, row, place, problems)


def _with_values(
    source: LocatedDict, fillers: dict[str, Filler], row: Row, problems: Problems
) -> LocatedDict:
    copy = LocatedDict()
    copy.update(source)
    copy.key_marks, copy.value_marks = source.key_marks, source.value_marks
    for key, filler in fillers.items():
        copy[key] = filler(row, problems)
    return copy


def _with_items(
    source: LocatedList, fillers: dict[int, Filler], row: Row, problems: Problems
) -> LocatedList:
    copy = LocatedList()
    copy.extend(source)
    copy.marks = source.marks
    for number, filler in fillers.items():
        copy[number] = filler(row, problems)
    return copy


def _joined(pieces: list[str], row: Row, place: Place, problems: Problems) -> str:
    made = list(pieces)
    for number in range(1, len(pieces), 2):
        value = row[pieces[number]]
        if isinstance(value, (dict, list)):
            what = f"`{pieces[number]}` is {described(value)}"
            problems.add(place, f"{what}, which cannot be part of a text")
        made[number] = value if isinstance(value, str) else json.dumps(value)
    return "".join(made)


class TableCases(LazyCases):
    """The cases that one template makes from the rows of one table."""

    def __init__(
        self,
        template: Template,
        table: Table,
        place: Place,
        reading: Reading,
        metrics: Sequence[MetricPlan] | None,
        prices: PriceBook | None,
    ) -> None:
        self.template = template
        self.table = table
        self.place = place
        self.names = PackedTexts()
        self._reading = reading
        self._same = template.same()
        self._kept: dict[str, Block | None] = {}
        self._texts_only = template.varies_only(TEXTS)
        self._model: EvalCase | None = None  # a case already read, if rows differ only in texts
        self._metrics = metrics
        self._prices = prices

    def __len__(self) -> int:
        return len(self.table)

    def build(self, index: int) -> EvalCase:
        problems = Problems(self._reading.problems.file)
        case = self.read(self.table.row(index), problems)
        if case is None:  # it was readable when the spec was loaded: a plug-in has changed
            raise SpecError(problems.found)
        case.name = self.names[index]
        case.metrics, case.prices = self._metrics, self._prices
        return case

    def label(self, index: int) -> tuple[str, Sequence[str]]:
        row = self.table.row(index) if self.template.varies("tags") else {}
        return self.names[index], list(self.template.value("tags", row) or ())

    def takes_turns(self) -> bool:
        return "turns" in self.template.data

    def read(self, row: Row, problems: Problems) -> EvalCase | None:
        """The case of a row, or None if it has mistakes."""
        data = self.template.filled(row, problems)
        spec = self._reading
        reading = Reading(
            problems, spec.defaults, spec.folder, self._same, self._kept, spec.severities
        )
        if self._model is not None:
            case: EvalCase | None = read_variant(self._model, data, self.place, reading)
        else:
            case = read_case(data, self.place, reading)
        if problems.found:
            return None
        if self._model is None and case is not None and self._texts_only:
            self._model = replace(case)  # a copy, because the caller may change the case
        return case

    def is_named(self) -> bool:
        """Whether the template gives its cases a name."""
        return self.template.data.get("name") is not None

    def read_all(self, needs_checks: bool) -> None:
        """Read every row once, to collect the names of the cases and every mistake."""
        found = _Mistakes(self)
        numbered = self.is_named() and not self.template.varies("name")
        for index in range(len(self)):
            row = self.table.row(index)
            absent = [column for column in self.template.columns if row.get(column) is None]
            if absent:
                found.absent(index, absent, row)
                continue
            problems = Problems(self._reading.problems.file)
            case = self.read(row, problems)
            if case is not None and needs_checks and checks_nothing(case):
                problems.add(self.place, "the case checks nothing; it could only pass")
            found.add(index, problems.found)
            if case is not None:
                self.names.append(f"{case.name}-{index + 1}" if numbered else case.name)
        found.report(self._reading.problems)


class _Mistakes:
    """The mistakes in a table's cases. One that occurs in every row is reported once."""

    def __init__(self, cases: TableCases) -> None:
        self._cases = cases
        self._rows_of: dict[Problem, list[int]] = {}
        self._absent: list[Problem] = []

    def add(self, index: int, problems: Sequence[Problem]) -> None:
        """Add the problems of this row's case."""
        for problem in problems:
            self._rows_of.setdefault(problem, []).append(index)

    def absent(self, index: int, columns: Sequence[str], row: Row) -> None:
        """Add columns of the template for which the row has no value."""
        table = self._cases.table
        for column in columns:
            what = "null" if column in row else "missing"
            message = f"the column `{column}` is {what}, and the case needs it"
            self._absent.append(Problem(message, "", table.file, table.line(index)))

    def report(self, problems: Problems) -> None:
        """Add the first mistakes to the problems of the spec, and how many more there are."""
        total = len(self._absent) + len(self._rows_of)
        first = list(self._rows_of.items())[:MOST_REPORTED]
        for problem, rows in first:
            mark = (problem.line, problem.column) if problem.line and problem.column else None
            problems.add(Place(problem.path, mark), problem.message + self._rows(problem, rows))
        problems.found += self._absent[: MOST_REPORTED - len(first)]
        if total > MOST_REPORTED:
            more = f"and {total - MOST_REPORTED} more in {self._cases.table.file}"
            problems.add(self._cases.place, more)

    def _rows(self, problem: Problem, rows: list[int]) -> str:
        table = self._cases.table
        numbers = ("expected a number", "expected a whole number", "expected true or false")
        untyped = not table.is_typed and problem.message.startswith(numbers)
        hint = "; a .csv holds texts: use .jsonl for other values" if untyped else ""
        if len(rows) == len(table) > 1:
            return hint
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        return f"{hint} ({table.place(rows[0])}{more})"


class AllCases(LazyCases):
    """The cases of a spec in order: some written in the spec, others from tables."""

    def __init__(self, parts: Sequence[EvalCase | TableCases]) -> None:
        self._parts = parts
        sizes = (1 if isinstance(part, EvalCase) else len(part) for part in parts)
        self._ends = list(accumulate(sizes))

    def __len__(self) -> int:
        return self._ends[-1]

    def build(self, index: int) -> EvalCase:
        part, offset = self._part(index)
        return part if isinstance(part, EvalCase) else part.build(offset)

    def label(self, index: int) -> tuple[str, Sequence[str]]:
        part, offset = self._part(index)
        return (part.name, part.tags) if isinstance(part, EvalCase) else part.label(offset)

    def takes_turns(self) -> bool:
        return any(
            bool(part.turns) if isinstance(part, EvalCase) else part.takes_turns()
            for part in self._parts
        )

    def _part(self, index: int) -> tuple[EvalCase | TableCases, int]:
        number = bisect_right(self._ends, index)
        return self._parts[number], index - (self._ends[number - 1] if number else 0)


def read_table_cases(
    data: LocatedDict,
    place: Place,
    reading: Reading,
    metrics: Sequence[MetricPlan] | None,
    prices: PriceBook | None,
) -> TableCases | None:
    """The cases of a template with `cases_from`, or None if there are mistakes."""
    problems = reading.problems
    before = len(problems.found)
    where = place.value(data, "cases_from")
    try:
        file = read(data["cases_from"], Text, where, problems)
        table = read_table(Path(reading.folder or "") / file, where, problems)
    except Unreadable:
        return None
    case = LocatedDict()
    case.update({key: value for key, value in data.items() if key != "cases_from"})
    case.key_marks, case.value_marks = data.key_marks, data.value_marks
    template = Template(case, place, problems)
    for column, named_at in template.columns.items():
        if column not in table.columns:
            hint = did_you_mean(column, table.columns)
            problems.add(named_at, f"{table.file} has no column `{column}`{hint}")
    if not template.columns:
        hint = ", ".join(f"{{{{{column}}}}}" for column in list(table.columns)[:8])
        problems.add(where, f"no row would change this case: write {hint} where a value belongs")
    if len(problems.found) > before:
        return None
    cases = TableCases(template, table, place, reading, metrics, prices)
    gated = any(plan.gated for plan in metrics or ())
    cases.read_all(needs_checks=not gated)
    return None if len(problems.found) > before else cases
