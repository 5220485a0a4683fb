"""Find the baseline of a case: an earlier trace in a file with a safe, unique name."""

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

_SAFE = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}\Z")  # support-bot_2
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z")  # com1: a device on Windows


def file_key(name: str) -> str:
    """A file name for a label: the label itself if that is safe, else its safe part and a hash.

    `../../pwned`, `CON`, 300 characters, emoji, or two names that differ only in case or in Unicode
    composition must neither share a file nor leave the folder.
    """
    if _SAFE.match(name) and not _RESERVED.match(name):
        return name
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
        if case.baseline is not None:
            named = _beside(suite, case.baseline)
            if not _exists(named) or named.is_dir():
                raise TraceError(f"the baseline {named} does not exist")
            return _read(named, warnings)
        for folder, names in self._folders(suite):
            for suffix in (".json", ".jsonl", ""):
                name = f"{file_key(case.name)}{suffix}"
                if name in names and not (folder / name).is_dir():
                    return _read(folder / name, warnings)
        return None

    def _folders(self, suite: Suite) -> list[tuple[Path, frozenset[str]]]:
        """The suite's baseline folders that are not empty: by its name, then by its agent's."""
        key = (suite.file, suite.name, suite.agent)
        if key not in self._known:
            around = _beside(suite, DEFAULT_FOLDER) if self.folder is None else self.folder
            owners = dict.fromkeys((suite.name, suite.agent or suite.name))
            folders = [around / file_key(owner) for owner in owners]
            found = [(folder, _names_in(folder)) for folder in folders]
            self._known[key] = [(folder, names) for folder, names in found if names]
        return self._known[key]


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


def _beside(suite: Suite, file: str) -> Path:
    """A path in a spec is relative to the folder of the spec."""
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
    """The folder in which `run` and `score` look for the baselines of a spec file or folder."""
    place = Path(spec)
    return (place if is_folder(place) else place.parent) / DEFAULT_FOLDER
