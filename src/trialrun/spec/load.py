"""Loads specs from files; reports all mistakes of a file at once, with line and column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from trialrun.checks.base import require_pattern
from trialrun.errors import NothingSelected, Problem, SpecError, UsageError
from trialrun.measures.patterns import search
from trialrun.model.case import EvalCase, JudgeSettings, MetricPlan, Suite
from trialrun.model.results import LAYERS
from trialrun.pricing import PriceBook
from trialrun.spec import validation
from trialrun.spec.agents import agent_keys, read_agents
from trialrun.spec.case import AROUND, checks_nothing, read_case, read_metrics
from trialrun.spec.defaults import MAY_BE_NULL, Reading, refuse_null, refuse_unknown
from trialrun.spec.document import MAX_BYTES, read_document
from trialrun.spec.severities import KEY, read_severities
from trialrun.spec.table_files import MOST_REPORTED
from trialrun.spec.tables import AllCases, TableCases, read_table_cases
from trialrun.spec.types import Seconds, Text
from trialrun.spec.validation import LocatedDict, Place, Problems, Unreadable
from trialrun.util.files import files_below, is_folder, reason
from trialrun.util.packed import PackedTexts
from trialrun.util.texts import did_you_mean, shown

SPEC_VERSION = 1
DEFAULT_SPEC = "trialrun.yaml"
SUFFIXES = (".yaml", ".yml")

_FIELDS: dict[str, Any] = {
    "version": int,
    "name": Text,
    "description": str,
    "agent": Text,
    "timeout": Seconds,
    "redact": list[Text],
    "prices": Text,
    "match": Literal["name", "all"],
}
_CASES = ("queries", "cases")
_DEFAULTS = (*LAYERS, *AROUND)
_KEYS = {*_FIELDS, *_CASES, "agents", "defaults", "judge", "metrics", KEY}


def load_suite(path: str | Path) -> Suite:
    """The suite of one spec file. SpecError lists every mistake in it."""
    path = Path(path)
    problems = Problems(str(path))
    suite = _read_file(path, problems)
    if suite is None:
        raise SpecError(problems.found)
    return suite


def load_suites(path: str | Path) -> list[Suite]:
    """The suites of a spec file, or of every spec file in a folder and the folders below it."""
    path = Path(path)
    if not is_folder(path):
        return [load_suite(path)]
    files, unread = files_below(path, SUFFIXES)
    if not files and not unread:
        raise NothingSelected(f"{path}: no spec here; a spec is a file that ends in .yaml or .yml")
    suites: list[Suite] = []
    found = [Problem(why, file=str(place)) for place, why in unread]
    for file in files:
        problems = Problems(str(file))
        try:
            suite = _read_file(file, problems)
        except SpecError as error:
            found += error.problems
            continue
        found += problems.found
        if suite is not None:
            suites.append(suite)
    if found:
        raise SpecError(found)
    _make_names_unique(suites, path)
    return suites


def _make_names_unique(suites: list[Suite], folder: Path) -> None:
    """Name suites by their path if files in different folders have the same name."""
    names = Counter(suite.name for suite in suites)
    for suite in suites:
        file = Path(suite.file or "")
        if names[suite.name] > 1 and suite.name == file.stem:
            suite.name = str(file.relative_to(folder).with_suffix(""))
    for name, count in Counter(suite.name for suite in suites).items():
        if count > 1:
            files = ", ".join(suite.file or "" for suite in suites if suite.name == name)
            raise SpecError(f"{count} specs are named `{name}`: {files}")


def _read_bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SpecError([Problem(f"at most {MAX_BYTES:,} bytes are read", file=str(path))])
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path}: a folder, where a file is expected") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)[:200]}: cannot be read: {reason(error)}") from None


def _read_file(path: Path, problems: Problems) -> Suite | None:
    try:
        document = read_document(_read_bytes(path), problems)
    except Unreadable:
        return None
    if not isinstance(document, dict):
        found = "nothing" if document is None else validation.described(document)
        problems.add(Place("", (1, 1)), f"a spec is a mapping with `queries`, found {found}")
        return None
    if "models" in document and not {*_CASES, "agents", "defaults"} & set(document):
        place = Place().key(document, "models")
        problems.add(
            place, "this looks like a file of prices: keep it outside of the specs' folder"
        )
        return None
    suite = _read_suite(document, path, problems)
    return None if problems.found else suite


def _read_suite(document: dict[str, Any], path: Path, problems: Problems) -> Suite:
    top = Place()
    folder = str(path.parent)
    keys_of_agents = agent_keys(document, _KEYS)
    refuse_unknown(document, {*_KEYS, *keys_of_agents}, top, problems)
    fields = _read_fields(document, problems)
    prices = _read_prices(document, fields.pop("prices", None), path, problems)
    for key in ("judge", "metrics"):
        refuse_null(document, key, top, problems)
    fields["judge"] = read_judge(document, problems)
    fields["agents"] = read_agents(document, fields.get("agent"), keys_of_agents, problems)
    defaults = _read_defaults(document, problems)
    severities = read_severities(document, top, problems)
    reading = Reading(problems, defaults, folder, severities=severities)
    metrics: list[MetricPlan] | None = None
    if document.get("metrics") is not None:
        place = top.value(document, "metrics")
        metrics = read_metrics(document["metrics"], place, reading)
    cases = _read_cases(document, reading, metrics, prices)
    return Suite(
        file=str(path),
        cases=cases,
        metrics=metrics,
        defaults=validation.plain(defaults),
        **{"name": path.stem, **fields},
    )


def _read_fields(document: dict[str, Any], problems: Problems) -> dict[str, Any]:
    top = Place()
    fields = {}
    for key, kind in _FIELDS.items():
        if document.get(key) is None:
            if key not in MAY_BE_NULL:
                refuse_null(document, key, top, problems)
            continue
        place = top.value(document, key)
        try:
            fields[key] = validation.read(document[key], kind, place, problems)
        except Unreadable:
            continue
    version = fields.pop("version", SPEC_VERSION)
    if version != SPEC_VERSION:
        problems.add(
            top.value(document, "version"),
            f"this trialrun reads version {SPEC_VERSION}, found {version}",
        )
    for index, pattern in enumerate(fields.get("redact", ())):
        wrong = _problem_with_mask(pattern)
        if wrong is not None:
            problems.add(top.value(document, "redact").item(document["redact"], index), wrong)
    return fields


def _problem_with_mask(pattern: str) -> str | None:
    """What is wrong with a pattern of `redact:`, or None."""
    try:
        require_pattern(pattern)
    except ValueError as error:
        return str(error)
    if search(pattern, ""):
        return f'"{pattern}" matches the empty text: it would mask everything'
    return None


def read_judge(document: dict[str, Any], problems: Problems) -> JudgeSettings | str | None:
    """The `judge:` block of a document."""
    if document.get("judge") is None:
        return None
    try:
        judge: JudgeSettings | str = validation.read(
            document["judge"], JudgeSettings | Text, Place().value(document, "judge"), problems
        )
    except Unreadable:
        return None
    if isinstance(judge, JudgeSettings) and judge.model is not None and judge.models is not None:
        place = Place().value(document, "judge").key(document["judge"], "models")
        problems.add(place, "give either `model` or `models`, not both")
    if isinstance(judge, JudgeSettings) and judge.base_url is not None:
        place = Place().value(document, "judge").value(document["judge"], "base_url")
        if not _is_address(judge.base_url):
            problems.add(place, f"expected http(s)://host…, found {shown(judge.base_url)}")
    return judge


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port, a bracket that is not closed
        return False


def _read_defaults(document: dict[str, Any], problems: Problems) -> dict[str, Any]:
    place = Place().value(document, "defaults")
    defaults = document.get("defaults")
    if defaults is None:
        return {}
    if not isinstance(defaults, dict):
        problems.add(place, f"expected a mapping, found {shown(defaults)}")
        return {}
    for key, block in defaults.items():
        if key not in _DEFAULTS:
            problems.add(place.key(defaults, key), "unknown key" + did_you_mean(key, _DEFAULTS))
        elif block is None:
            refuse_null(defaults, key, place, problems)
        elif key in LAYERS and not isinstance(block, dict):
            problems.add(place.value(defaults, key), f"expected a mapping, found {shown(block)}")
    return defaults


def _read_prices(
    document: dict[str, Any], file: str | None, spec: Path, problems: Problems
) -> PriceBook | None:
    if file is None:
        return None
    try:
        return load_prices(spec.parent / file)
    except SpecError as error:
        problems.found += error.problems
    except UsageError as error:
        problems.add(Place().value(document, "prices"), str(error))
    return None


def load_prices(path: str | Path) -> PriceBook:
    """The user's prices: `models: {mine: {input: 1.0, output: 2.0}}`, $ per million tokens."""
    path = Path(path)
    problems = Problems(str(path))
    try:
        document = read_document(_read_bytes(path), problems)
        book: PriceBook = validation.read(document, PriceBook, Place(), problems)
    except Unreadable:
        raise SpecError(problems.found) from None
    return book


def _read_cases(
    document: dict[str, Any],
    reading: Reading,
    metrics: list[MetricPlan] | None,
    prices: PriceBook | None,
) -> Sequence[EvalCase]:
    problems = reading.problems
    top = Place()
    given = [key for key in _CASES if key in document]
    if len(given) == 2:
        problems.add(top.key(document, "cases"), "`cases` and `queries` are the same key: give one")
    if not given:
        return []
    place = top.value(document, given[0])
    listed = document[given[0]]
    if listed is None:
        return []
    if not isinstance(listed, list):
        problems.add(place, f"expected a list of cases, found {shown(listed)}")
        return []
    gated = any(plan.gated for plan in metrics or ())
    parts: list[EvalCase | TableCases] = []
    names = _Names(problems)
    for index, data in enumerate(listed):
        where = place.item(listed, index)
        if isinstance(data, LocatedDict) and "cases_from" in data:
            cases = read_table_cases(data, where, reading, metrics, prices)
            if cases is not None:
                names.add_table(cases)
                parts.append(cases)
            continue
        case = read_case(data, where, reading)
        if case is None:
            continue
        if not gated and checks_nothing(case):
            problems.add(where, f"the case `{case.name}` checks nothing; it could only pass")
        case.metrics, case.prices = metrics, prices
        names.add(case, where.value(data, "name") if data.get("name") is not None else None)
        parts.append(case)
    names.assign()
    written = [part for part in parts if isinstance(part, EvalCase)]
    return written if len(written) == len(parts) else AllCases(parts)


class _Names:
    """Gives every case of a suite a unique name: the one in the spec, or made from its query."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._given: list[tuple[EvalCase | TableCases, Place]] = []  # with the place of the name
        self._unnamed: list[EvalCase | TableCases] = []

    def add(self, case: EvalCase, place: Place | None) -> None:
        """Add a case, and the place of its name if the spec gives one."""
        if place is None:
            self._unnamed.append(case)
        else:
            self._given.append((case, place))

    def add_table(self, cases: TableCases) -> None:
        """Add the cases of a table."""
        if cases.is_named():
            self._given.append((cases, cases.place.value(cases.template.data, "name")))
        else:
            self._unnamed.append(cases)

    def _refuse_repeated(self) -> None:
        # A first pass counts the names of each hash slot, up to 2. Only names in a slot with 2 can
        # be repeated, and only those are kept: all names of a large table would fill the memory.
        size = 32 * sum(len(_names_of(part)) for part, _ in self._given)
        slots = bytearray(size)
        for part, _ in self._given:
            for name in _names_of(part):
                slot = hash(name) % size
                slots[slot] = min(slots[slot] + 1, 2)
        first_at: dict[str, str] = {}
        for part, place in self._given:
            wrong = []
            for index, name in enumerate(_names_of(part)):
                if slots[hash(name) % size] > 1:
                    here = _place_of(part, place, index)
                    first = first_at.setdefault(name, here)
                    if first != here:
                        wrong.append(_given_twice(part, name, first, here))
            for text in wrong[:MOST_REPORTED]:
                self._problems.add(place, text)
            if len(wrong) > MOST_REPORTED:
                more = len(wrong) - MOST_REPORTED
                self._problems.add(place, f"and {more} more names that are given twice")

    def assign(self) -> None:
        """Name the other cases: cases with equal questions are numbered.

        A name that is given to two cases is a problem.
        """
        self._refuse_repeated()
        given = (name for part, _ in self._given for name in _names_of(part))
        taken = set(given) if self._unnamed else set()
        numbers: dict[str, int] = {}

        def free(base: str) -> str:
            name = base
            while name in taken:
                numbers[base] = numbers.get(base, 1) + 1
                name = f"{base}-{numbers[base]}"
            taken.add(name)
            return name

        for item in self._unnamed:
            if isinstance(item, EvalCase):
                item.name = free(item.name)
            else:
                item.names = PackedTexts(free(name) for name in item.names)


def _names_of(part: EvalCase | TableCases) -> Sequence[str] | PackedTexts:
    return (part.name,) if isinstance(part, EvalCase) else part.names


def _place_of(part: EvalCase | TableCases, place: Place, index: int) -> str:
    if isinstance(part, TableCases):
        return part.table.place(index)
    line, column = place.mark or (0, 0)
    return f"{line}:{column}"


def _given_twice(part: EvalCase | TableCases, name: str, first: str, here: str) -> str:
    where = f"; first at {first}" if isinstance(part, EvalCase) else f": {first} and {here}"
    return f"two cases are named `{name}`{where}"
