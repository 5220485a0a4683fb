"""Baselines: earlier runs to hold new ones against, as files under safe, unique names."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from trialrun.errors import TraceError, UsageError
from trialrun.importers import scan
from trialrun.model.case import EvalCase, Suite
from trialrun.model.trace import Trace
from trialrun.util.files import is_folder

DEFAULT_FOLDER = "baselines"

_SAFE = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}\Z")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z")


def file_key(name: str) -> str:
    """A file name for a label: the label itself where that is safe, else a safe part and a hash.

    A name is only ever a label: `../../pwned`, `CON`, 300 characters, emoji, or two names that
    differ only in case or in how their characters are composed must not meet in one file, nor
    leave the folder.
    """
    if _SAFE.match(name) and not _RESERVED.match(name):
        return name
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{readable}-{digest}" if readable else digest


class Baselines:
    """Where the baselines of cases are: in one folder, else in `baselines` beside each spec.

    A folder is looked through once; most suites have none, and some have thousands of cases.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._known: dict[Any, list[tuple[Path, frozenset[str]]]] = {}

    def find(self, suite: Suite, case: EvalCase, warnings: list[str]) -> Trace | None:
        """The baseline of a case, or None if it has none. TraceError if it is unusable."""
        if case.baseline is not None:
            named = _beside(suite, case.baseline)
            if not _is_there(named) or named.is_dir():
                raise TraceError(f"the baseline {named} does not exist")
            return _read(named, warnings)
        for folder, names in self._folders(suite):
            for suffix in (".json", ".jsonl", ""):
                name = f"{file_key(case.name)}{suffix}"
                if name in names and not (folder / name).is_dir():
                    return _read(folder / name, warnings)
        return None

    def _folders(self, suite: Suite) -> list[tuple[Path, frozenset[str]]]:
        """The folders of a suite that hold something: under its name, then under its agent's."""
        key = (suite.file, suite.name, suite.agent)
        if key not in self._known:
            around = _beside(suite, DEFAULT_FOLDER) if self.folder is None else self.folder
            owners = dict.fromkeys((suite.name, suite.agent or suite.name))
            folders = [around / file_key(owner) for owner in owners]
            found = [(folder, _names_in(folder)) for folder in folders]
            self._known[key] = [(folder, names) for folder, names in found if names]
        return self._known[key]


def _names_in(folder: Path) -> frozenset[str]:
    """The names in a folder, links that point nowhere included; none if there is no folder."""
    try:
        return frozenset(file.name for file in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
    except (OSError, ValueError) as error:
        raise TraceError(f"the baselines in {folder} cannot be read: {error}") from None


def _is_there(file: Path) -> bool:
    """Whether there is something of that name; a link that points nowhere is something."""
    try:
        return file.is_symlink() or file.exists()
    except (OSError, ValueError) as error:
        raise TraceError(f"the baseline {str(file)[:200]} cannot be read: {error}") from None


def _beside(suite: Suite, file: str) -> Path:
    """A path in a spec is meant from the folder of the spec."""
    return Path(file) if suite.file is None else Path(suite.file).parent / file


def _read(file: Path, warnings: list[str]) -> Trace:
    try:
        traces, problems, notes = scan(file)
    except UsageError as error:
        raise TraceError(f"the baseline cannot be read: {error}") from None
    if problems:
        raise TraceError(f"the baseline cannot be read: {problems[0]}")
    if len(traces) != 1:
        raise TraceError(f"the baseline {file} holds {len(traces)} traces, expected one")
    warnings += [str(note) for note in notes]
    return traces[0]


def baselines_beside(spec: str) -> Path:
    """Where `run` and `score` look for the baselines of a spec, a file or a folder."""
    place = Path(spec)
    return (place if is_folder(place) else place.parent) / DEFAULT_FOLDER
