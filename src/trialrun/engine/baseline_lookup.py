"""Find the baseline of a case: an earlier trace in a file with a safe, unique name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from trialrun.checks.base import require_pattern
from trialrun.engine.asked import another_question
from trialrun.errors import Problem, SpecError, TraceError, UsageError
from trialrun.importers import scan
from trialrun.model.argument_rules import Bound, Rules
from trialrun.model.baseline import Baseline
from trialrun.model.calls import calls_of, leaves
from trialrun.model.case import EvalCase, Suite
from trialrun.model.trace import Trace
from trialrun.model.trace_format import from_plain
from trialrun.spec.document import read_document
from trialrun.spec.validation import Place, Problems, Unreadable, read
from trialrun.util.files import is_folder
from trialrun.util.texts import nearest

DEFAULT_FOLDER = "baselines"
RULES, REPEATS = "regression", "repeats"
"""Keys of a baseline file: the rules, and the passing repeats after the first."""

_SAFE = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}\Z")  # support-bot_2
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z")  # com1: a device on Windows


def file_key(name: str) -> str:
    """A file name for a label: the label itself if that is safe, else its safe part and a hash.

    `../../pwned`, `CON`, 300 characters, emoji, or two names that differ only in case or in Unicode
    composition must neither share a file nor leave the folder.
    """
    if _SAFE.match(name) and not _RESERVED.match(name):
        return name
    from hashlib import sha256

    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{readable}-{digest}" if readable else digest


class Baselines:
    """Finds the baselines of cases: in the given folder, else in `baselines` beside each spec.

    Each folder is listed once: most suites have no baselines, and some have thousands of cases.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._known: dict[Any, list[tuple[Path, frozenset[str]]]] = {}

    def find(self, suite: Suite, case: EvalCase, warnings: list[str]) -> Trace | None:
        """The baseline of a case, None if it has none. Raises TraceError if it is unusable."""
        file = self.file_of(suite, case)
        return None if file is None else _of_case(read_baseline(file, warnings), suite, case, file)

    def file_of(self, suite: Suite, case: EvalCase) -> Path | None:
        """The file of a case's baseline, None if it has none.

        Raises TraceError if the case names one that does not exist.
        """
        if case.baseline is not None:
            named = beside(suite, case.baseline)
            if not _exists(named) or named.is_dir():
                raise TraceError(f"the baseline {named} does not exist")
            return named
        for folder, names in self._folders(suite):
            for suffix in (".json", ".jsonl", ""):
                name = f"{file_key(case.name)}{suffix}"
                if name in names and not (folder / name).is_dir():
                    return folder / name
        return None

    def _folders(self, suite: Suite) -> list[tuple[Path, frozenset[str]]]:
        """The suite's baseline folders that are not empty: by its name, then by its agent's."""
        key = (suite.file, suite.name, suite.agent)
        if key not in self._known:
            around = beside(suite, DEFAULT_FOLDER) if self.folder is None else self.folder
            owners = dict.fromkeys((suite.name, suite.agent or suite.name))
            folders = [around / file_key(owner) for owner in owners]
            found = [(folder, _names_in(folder)) for folder in folders]
            self._known[key] = [(folder, names) for folder, names in found if names]
        return self._known[key]


def require_usable_baselines(suites: Sequence[Suite], folder: Path | None = None) -> None:
    """SpecError for each case whose baseline cannot be used; nothing is asked."""
    baselines = Baselines(folder)
    problems = []
    for suite in suites:
        for case in suite.cases:
            try:
                baselines.find(suite, case, [])
            except TraceError as error:
                problems.append(Problem(str(error), path=case.name, file=suite.file))
    if problems:
        raise SpecError(problems)


def _of_case(baseline: Trace, suite: Suite, case: EvalCase, file: Path) -> Trace:
    """The baseline, if it answers the question of the case."""
    wrong = another_question(suite, case, baseline, f"the baseline {file}")
    if wrong is not None:
        raise TraceError(f"{wrong}; for a new baseline delete the file, run, and save it again")
    return baseline


def _names_in(folder: Path) -> frozenset[str]:
    """The names in a folder, dangling links included; empty if there is no folder."""
    try:
        return frozenset(file.name for file in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
    except (OSError, ValueError) as error:
        raise TraceError(f"the baselines in {folder} cannot be read: {error}") from None


def _exists(file: Path) -> bool:
    """Whether the path exists; a dangling link counts."""
    try:
        return file.is_symlink() or file.exists()
    except (OSError, ValueError) as error:
        raise TraceError(f"the baseline {str(file)[:200]} cannot be read: {error}") from None


def beside(suite: Suite, file: str) -> Path:
    """A path in a spec is relative to the folder of the spec."""
    return Path(file) if suite.file is None else Path(suite.file).parent / file


def read_baseline(file: Path, warnings: list[str] | None = None) -> Trace:
    """The baseline in a file: one trace, or several repeats with their rules.

    TraceError if it is damaged, or has a mistake in a rule (with its line and column).
    """
    several = _repeats_in(file)
    if several is not None:
        return several
    try:
        traces, problems, notes = scan(file)
    except UsageError as error:
        raise TraceError(f"the baseline cannot be read: {error}") from None
    if problems:
        raise TraceError(f"the baseline cannot be read: {problems[0]}")
    if len(traces) != 1:
        raise TraceError(f"the baseline {file} holds {len(traces)} traces, expected one")
    if warnings is not None:
        warnings += [str(note) for note in notes]
    return traces[0]


def _repeats_in(file: Path) -> Baseline | None:
    """The baseline with its repeats and rules; None if the file has neither."""
    try:
        data = file.read_bytes()
        plain = msgspec.json.decode(data)
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return None  # `scan` says what is wrong
    if not isinstance(plain, dict):
        return None
    _require_known_keys(plain, file, data)
    if not {RULES, REPEATS} & set(plain):
        return None
    repeats = plain.pop(REPEATS, [])
    rules = _rules_in(plain.pop(RULES, {}), file, data)
    if not isinstance(repeats, list):
        raise TraceError(f"the baseline cannot be read: {file}: {REPEATS}: expected a list")
    try:
        first, *others = (from_plain(one)[0] for one in (plain, *repeats))
    except TraceError as error:
        raise TraceError(f"the baseline cannot be read: {file}: {error}") from None
    _require_known_names(rules, (first, *others), file, data)
    fields = {name: getattr(first, name) for name in Trace.__struct_fields__}
    return Baseline(**fields, repeats=tuple(others), rules=rules)


def _require_known_keys(plain: dict[str, Any], file: Path, data: bytes) -> None:
    """Refuse a misspelt key of the rules, or of the repeats: without them the file means less."""
    kinds = {RULES: dict, REPEATS: list}
    for key, value in plain.items():
        meant = nearest(key[:100], kinds, cutoff=0.75)
        if meant not in (None, key) and meant not in plain and isinstance(value, kinds[meant]):
            raise _misspelt(file, data, (key,), "key", meant)


def _require_known_names(rules: Rules, runs: Iterable[Trace], file: Path, data: bytes) -> None:
    """Refuse a rule with a misspelt name: it would never apply, and nothing would say so.

    Rules for calls that are made no more are fine. Misspelt is a name that no call has, and that is
    close to one that has no rule.
    """
    known: dict[str, dict[str, None]] = {}
    for call in (call for run in runs for call in calls_of(run)):
        names = (name for name, _ in leaves(call.arguments or {}))
        known.setdefault(call.name, {}).update(dict.fromkeys(names))
    without = [tool for tool in known if known[tool] and not rules.is_any_number(tool)]
    for place, what, left in _unknown_names(rules, known, without):
        meant = nearest(place[-1][:100], left, cutoff=0.75)
        if meant is not None:
            raise _misspelt(file, data, (RULES, "arguments", *place), what, meant)


def _unknown_names(
    rules: Rules, known: Mapping[str, Iterable[str]], tools: Iterable[str]
) -> Iterator[tuple[tuple[str, ...], str, list[str]]]:
    """Each name in the rules that no call has, and the names of calls that have no rule."""
    for tool, by_name in rules.arguments.items():
        if tool not in known:
            yield (tool,), "tool", [one for one in tools if one not in rules.arguments]
            continue
        for name in by_name:
            if name not in known[tool]:
                yield (tool, name), "argument", [one for one in known[tool] if one not in by_name]


def _misspelt(file: Path, data: bytes, path: Sequence[str], what: str, meant: str) -> TraceError:
    wrong = f"no such {what}; did you mean `{meant}`?"
    problems = Problems(str(file))
    try:
        holder = read_document(data, problems)
    except Unreadable:  # YAML refuses some JSON, such as U+007F in an answer: there is no line
        where = ".".join(path)
        return TraceError(f"the baseline cannot be read: {file}: {where}: {wrong}")
    place = Place()
    for key in path[:-1]:
        place, holder = place.value(holder, key), holder[key]
    problems.add(place.key(holder, path[-1]), wrong)
    return TraceError(f"the baseline cannot be read: {problems.found[0]}")


def _rules_in(given: Any, file: Path, data: bytes) -> Rules:
    try:
        rules = msgspec.convert(given, Rules)
        for arguments in rules.arguments.values():
            for rule in arguments.values():
                if isinstance(rule, Bound) and rule.regex is not None:
                    require_pattern(rule.regex)
        return rules
    except ValueError as error:  # msgspec.ValidationError is one, too
        raise TraceError(_with_place(given, file, data, str(error))) from None


def _with_place(given: Any, file: Path, data: bytes, reason: str) -> str:
    """The mistake in a rule, with its line and column: JSON is read as YAML, which has places."""
    problems = Problems(str(file))
    document = None
    with suppress(Unreadable):  # YAML refuses some JSON, such as U+007F in an answer
        document = read_document(data, problems)
    if isinstance(document, dict) and RULES in document:
        place = Place().value(document, RULES)
        with suppress(Unreadable):
            read(document[RULES], Rules, place, problems)
            _check_patterns(document[RULES], place, problems)
        if problems.found:
            return f"the baseline cannot be read: {problems.found[0]}"
    return f"the baseline cannot be read: {file}: {RULES}: {reason}"


def _check_patterns(rules: Any, place: Place, problems: Problems) -> None:
    """Add a problem for each pattern that does not compile."""
    arguments = rules.get("arguments", {})
    place = place.value(rules, "arguments")
    for tool, by_name in arguments.items():
        for name, rule in by_name.items():
            if isinstance(rule, dict) and "regex" in rule:
                where = place.value(arguments, tool).value(by_name, name).value(rule, "regex")
                try:
                    require_pattern(rule["regex"])
                except ValueError as error:
                    problems.add(where, str(error))


def baselines_beside(spec: str) -> Path:
    """The folder in which `run` and `score` look for the baselines of a spec file or folder."""
    place = Path(spec)
    return (place if is_folder(place) else place.parent) / DEFAULT_FOLDER
